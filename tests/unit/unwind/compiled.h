/* SPDX-License-Identifier: Apache-2.0
 * compiled.h - the unwind table of a file, for tests of it, and rules of the test's own functions. */
#pragma once
#include "check.h"

#include "elf/image.h"
#include "unwind/rows.h"
#include "unwind/search.h"

#include <dlfcn.h>
#include <fcntl.h>

/* To be freed. */
static inline struct unwind_table compile_file(const char *path, struct unwind_report *report)
{
	struct unwind_table table;
	struct err err = { 0 };
	struct image *image = image_open(open(path, O_RDONLY | O_CLOEXEC), path, &err);

	assert_non_null(image);
	assert_true(unwind_compile(image, &table, report, &err));
	image_close(image);
	return table;
}

/* The rule so many bytes behind a function or label of what the table is of. */
static inline struct unwind_rule rule_at(const struct unwind_table *table, const u8 *address,
					 s64 distance)
{
	struct unwind_rule rule;
	Dl_info where;

	assert_int_not_equal(dladdr(address, &where), 0);
	assert_true(unwind_find_rule(table, (u64)address - (u64)where.dli_fbase + (u64)distance,
				     &rule));
	return rule;
}
