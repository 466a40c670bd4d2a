/* SPDX-License-Identifier: Apache-2.0
 * no_memory.h - an export under every failing allocation. */
#pragma once
#include "check.h"
#include "export/built.h"
#include "export/exporter.h"
#include "sample/failing_memory.h"

/* Each allocation of an export fails once, and that is said; the one that succeeds has more than
 * `least` bytes. */
static inline void built_export_without_memory(const char *format, struct export_options options,
					       size_t least)
{
	struct profile p;
	int errnum = 1;
	long n = 0;

	assert_true(profile_init(&p));
	for (u32 i = 0; i < 200; i++) {
		char line[64];
		snprintf(line, sizeof line, "thread t (%u);f%u (a.rb:%u);g%u 1", i % 9 + 1, i, i,
			 i);
		built_line(&p, line);
	}
	while (errnum) {
		struct out out;
		out_open_memory(&out);
		failing_memory_after(n++);
		exporter_named(format)->write(&p, &options, &out);
		failing_memory_after(-1);
		errnum = out.errnum;
		if (!errnum)
			assert_true(out.used > least);
		assert_int_equal(out_close(&out, NULL), !errnum);
	}
	assert_true(n > 20);
	profile_free(&p);
}
