/* SPDX-License-Identifier: Apache-2.0
 * compiled.h - the unwind table of a file, for tests of it. */
#pragma once
#include "check.h"

#include "elf/image.h"
#include "unwind/rows.h"

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
