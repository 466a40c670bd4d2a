/* SPDX-License-Identifier: Apache-2.0
 * rows.h - an image's unwinding tables, compiled to the words of rule.h.
 *
 * .eh_frame first; the table of a Go program, then .debug_frame for what is not in it.  What cannot be told in 16 bytes becomes UNWIND_NONE, and is
 * counted: 7 of the 1.4 million rows of libLLVM, node, libcrypto, libruby, python3.11, libc and ld.so (Debian 12). */
#pragma once
#include "base/err.h"
#include "base/types.h"

struct image;
struct unwind_rule;

struct unwind_table {
	u32 *words; /* as rule.h says; NULL: the image has none */
	u32 count;
};

struct unwind_report {
	u32 functions, damaged; /* entries of the sections */
};

/* Into an empty table, which the caller frees. An image without tables leaves it empty. */
bool unwind_compile(const struct image *image, struct unwind_table *table,
		    struct unwind_report *report, struct err *err);
void unwind_table_free(struct unwind_table *table);
/* Is it one, as long as it says? For what comes from a file. */
bool unwind_table_is_good(const u32 *words, u64 count);
/* The rule of a pc as linked; false: outside of all that the table covers. */
bool unwind_find_rule(const struct unwind_table *table, u64 pc, struct unwind_rule *out);
