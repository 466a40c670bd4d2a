/* SPDX-License-Identifier: Apache-2.0
 * image_parts.h - what the files of elf/ share about an open image.
 *
 * Private to this folder.  The tables of headers are read when the image is
 * opened; the symbol tables, which may be large, at the first question. */
#pragma once
#include "elf/image.h"

#include <elf.h>

enum {
	/* Most bytes of one table: a debug build of a browser has a symbol table of about 130 MB. */
	SYMBOL_BYTES_MAX = 256 << 20,
	/* Most bytes of section or program headers: 200,000 mappings of a core file are 11 MB. */
	HEADER_BYTES_MAX = 16 << 20,
	NOTE_BYTES_MAX = 1 << 20,
};

/* A symbol table and its strings, or what became of them. */
struct symbol_table {
	enum { SYMBOLS_UNREAD, SYMBOLS_READ, SYMBOLS_NONE } state;
	u32 count; /* the null symbol at index 0 included */
	Elf64_Sym *symbols;
	char *strings; /* strings_size bytes and a NUL */
	u64 strings_size;
	u16 *versions; /* of .dynsym, `count` of them; NULL: it has none */
};

enum { TABLE_DYNAMIC, TABLE_FULL, TABLE_COUNT }; /* .dynsym, .symtab */

struct image {
	int fd;
	char *name;
	u64 size;  /* of the file when it was opened */
	u64 inode; /* and device: as mappings say them; 0: not told */
	u32 device;
	u16 machine, type;
	u64 entry;
	u32 segment_count, section_count;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	char *section_names; /* section_names_size bytes and a NUL; NULL without sections */
	u64 section_names_size;
	struct symbol_table *tables; /* TABLE_COUNT of them; filled behind a const image */
};

/* `length` bytes of the file; false when they are not all there. */
bool image_pread(const struct image *image, u64 offset, void *out, u64 length);
/* As image_pread(), into new memory that ends in a NUL; NULL and err. `what` is for the message. */
void *image_load(const struct image *image, u64 offset, u64 length, u64 limit, const char *what,
		 struct err *err);

void symbol_tables_free(struct symbol_table *tables);
