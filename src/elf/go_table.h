/* SPDX-License-Identifier: Apache-2.0
 * go_table.h - what Go's linker leaves for Go's own tracebacks, in stripped programs, too: each function's name, bounds, and
 * how far the stack pointer is from its return address at each instruction.
 *
 *	.gopclntab   head | names | files | values by pc | functions by pc        (runtime/symtab.go; Go 1.2 and later)
 *
 * Four layouts are known, told apart by the first word (internal/abi/symtab.go).  Foreign input: every offset is checked, and
 * what makes no sense is passed by. */
#pragma once
#include "elf/image.h"

struct go_table; /* opaque */

struct go_function {
	const char *name; /* lives as long as the table */
	u64 begin, end;   /* as linked; what lies between two functions belongs to the first */
	bool writes_sp; /* sets the stack pointer to what no table tells (from Go 1.17 on; false before) */
};

/* Of the instructions from begin to end: the return address is at sp + depth. */
struct go_row {
	u64 begin, end;
	s32 depth; /* bytes */
};
typedef bool go_row_fn(void *arg, const struct go_row *row); /* false: enough */

/* NULL: the image is not of Go, err is not set; or its table cannot be read, and it is. */
struct go_table *go_table_open(const struct image *image, struct err *err);
void go_table_close(struct go_table *table);
u32 go_table_count(const struct go_table *table);
/* False: past the end, or the entry makes no sense. */
bool go_table_function(const struct go_table *table, u32 index, struct go_function *out);
/* In ascending order. */
void go_table_each_row(const struct go_table *table, u32 index, go_row_fn *fn, void *arg);
/* Images with equal ones have equal tables. False: the image is not of Go, or cannot be read. */
bool go_table_digest(const struct image *image, u64 out[2]);
