/* SPDX-License-Identifier: Apache-2.0
 * report.h - a profile added up, and printed as text or as JSON.
 *
 * One denominator: what the samples weigh, or how many they are where they weigh nothing. Recursion
 * counts once, so that nothing is above it. */
#pragma once
#include "base/out.h"
#include "profile/fold.h"

enum report_sort { REPORT_SELF, REPORT_TOTAL };

struct report_options {
	u32 sort;            /* enum report_sort */
	bool lines;          /* a row a line, not a function */
	u32 limit;           /* rows of a table */
	double tree_percent; /* smaller branches are counted, not drawn */
	u32 width;           /* columns of the terminal, at least 60 */
};

/* What a thread, a process or a language weighs. */
struct report_part {
	u32 key;
	u64 weight, samples;
};

struct report {
	const struct profile *profile;
	const struct report_options *options;
	struct fold fold;
	u32 *rows; /* keys with samples, heaviest first */
	u32 row_count;
	/* heaviest first; those without samples at the end */
	struct report_part *threads, *processes, *languages;
	u32 language_count;
};

/* False when out of memory. Free it in both cases. */
bool report_make(struct report *report, const struct profile *profile,
		 const struct report_options *options);
void report_free(struct report *report);
double report_percent(const struct report *report, u64 part);
/* How many of them have samples. */
u32 report_used(const struct report_part *parts, u32 count);

/* To standard output, as text or JSON; gives the exit code of the command `name`. What went wrong is said. */
int report_print(const char *name, const struct profile *profile,
		 const struct report_options *options, bool json);
/* False when out of memory. */
bool report_text(const struct report *report, struct out *out);
void report_json(const struct report *report, struct out *out);
