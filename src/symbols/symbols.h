/* SPDX-License-Identifier: Apache-2.0
 * symbols.h - which function an address is in.
 *
 * An index over the names that an image or the kernel has for its code, by address.  Where several names are of one address,
 * the plainest stands (write, of write, __write and __libc_write). */
#pragma once
#include "base/err.h"
#include "base/types.h"

struct image;
struct symbols; /* opaque */

/* What is longer was made to be long: the rest of such a name is not looked at. */
enum { SYMBOL_NAME_MAX = 4096 };

struct symbol {
	const char *name; /* as the file has it: mangled; lives as long as the symbols */
	u64 start, end;   /* as linked */
	u32 length;       /* of the name, at most SYMBOL_NAME_MAX: it may go on in the file */
	bool is_open;     /* its size is not told: it ends where the next one begins, or there */
};

/* Of .symtab and .dynsym, of the stubs by which others are called (malloc@plt), and of a stripped Go program's own table. The image is borrowed for as long. NULL: out of memory. */
struct symbols *symbols_of_image(const struct image *image);
/* Of /proc/kallsyms. NULL, with the reason, where it cannot be read, or shows no addresses to us. */
struct symbols *symbols_of_kernel(struct err *err);
void symbols_free(struct symbols *symbols);
/* The innermost that the address is in, else the one that begins right behind it: there a function "returns" to that nobody called
 * (__start_context of makecontext()). */
bool symbols_find(const struct symbols *symbols, u64 address, struct symbol *out);
/* The last that begins at the address or in front of it, wherever it ends: in a stripped image the static functions
 * behind it have no names. */
bool symbols_before(const struct symbols *symbols, u64 address, struct symbol *out);

/* As its author wrote it, without parameters (C++, Rust); NULL: it is no such name, or one without measure, and is to be taken as it
 * is. To be freed. */
char *symbol_demangle(const char *name);
