/* SPDX-License-Identifier: Apache-2.0
 * loaded.h - an object file that a program has loaded itself, as an image of what it is in memory.
 *
 * A compiler that works at run time (LLVM's MCJIT and ORC) makes relocatable objects, loads them, and keeps a copy of each for debuggers in which
 * the sections have their addresses.  Symbols are relative to these, and the copy is not relocated: what is in a section is read
 * where it was loaded. */
#pragma once
#include "elf/image.h"

struct mem;

/* Of the copy at `object`, `size` bytes, in the memory `mem`; all of it is foreign input. The image is as one that was linked at where
 * it is: the bias is 0. It has the code, in segments, .eh_frame, and functions for symbols. NULL: it is none, or cannot be read. */
struct image *loaded_open(const struct mem *mem, u64 object, u64 size, const char *name,
			  struct err *err);
/* Of all that the copy says; 0: it cannot be read. */
u64 loaded_hash(const struct mem *mem, u64 object, u64 size);
