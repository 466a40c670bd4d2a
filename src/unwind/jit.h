/* SPDX-License-Identifier: Apache-2.0
 * jit.h - code that a program has made at run time, as it tells debuggers of it (GDB manual, "JIT Compilation Interface").
 *
 *	__jit_debug_descriptor -> entry -> entry -> ...	each with an object file, which has its unwind tables and its names
 *
 * LLVM's just-in-time compilers do (Numba), and whoever wants to be debugged.  A program that tells nothing costs one search of its
 * symbols. */
#pragma once
#include "unwind/space.h"

/* Looks whether there is more than at the last time, and, if so, fills the space with it. True: there was. It takes long the first time:
 * the descriptor is mostly a local symbol. */
bool unwind_jit_update(struct unwind_space *space);
/* May there be more that is not known yet? */
bool unwind_jit_may_tell(const struct unwind_space *space);
/* Code of an object that is mapped in a range without a file becomes a range of its own. For unwind_space_fill(). */
bool unwind_jit_carve(struct unwind_space *space);
