/* SPDX-License-Identifier: Apache-2.0
 * report.c - the sums of report.h. */
#include "cli/report.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/say.h"

static int heavier_part(const void *a, const void *b)
{
	const struct report_part *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->key < y->key ? -1 : 1;
}

static int by_weight(const void *a, const void *b, void *arg)
{
	const struct report *report = arg;
	const struct fold_value *x = &report->fold.row[*(const u32 *)a];
	const struct fold_value *y = &report->fold.row[*(const u32 *)b];
	bool total = report->options->sort == REPORT_TOTAL;
	u64 left = total ? x->total : x->self, right = total ? y->total : y->self;

	if (left == right) {
		left = total ? x->self : x->total;
		right = total ? y->self : y->total;
	}
	if (left != right)
		return left > right ? -1 : 1;
	return *(const u32 *)a < *(const u32 *)b ? -1 : 1;
}

static u64 value_of(const struct report *report, const struct profile_entry *entry)
{
	return report->fold.by_samples ? entry->count : entry->weight;
}

static void add_to(struct report_part *part, u64 weight, u64 samples)
{
	part->weight += weight;
	part->samples += samples;
}

/* A language has what its leaves have. */
static void sum_parts(struct report *report)
{
	const struct profile *profile = report->profile;
	const struct names *names = &profile->names;

	for (u32 i = 0; i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		u32 function =
			names->locations.at[names->stacks.at[entry->stack].location].function;
		u64 weight = value_of(report, entry);
		add_to(&report->threads[entry->thread], weight, entry->count);
		add_to(&report->processes[profile->threads.at[entry->thread].process], weight,
		       entry->count);
		add_to(&report->languages[names->functions.at[function].language], weight,
		       entry->count);
	}
}

static struct report_part *make_parts(u32 count)
{
	struct report_part *parts = calloc(count + 1, sizeof *parts);

	for (u32 i = 0; parts && i < count; i++)
		parts[i].key = i;
	return parts;
}

bool report_make(struct report *report, const struct profile *profile,
		 const struct report_options *options)
{
	enum fold_by by = options->lines ? FOLD_LINES : FOLD_FUNCTIONS;

	*report = (struct report){ .profile = profile, .options = options };
	if (!fold_make(&report->fold, profile, by, false))
		return false;
	report->language_count = profile->names.strings.count;
	report->threads = make_parts(profile->threads.count);
	report->processes = make_parts(profile->processes.count);
	report->languages = make_parts(report->language_count);
	report->rows = calloc(report->fold.keys.count + 1, sizeof *report->rows);
	if (!report->threads || !report->processes || !report->languages || !report->rows)
		return false;
	sum_parts(report);
	qsort(report->threads, profile->threads.count, sizeof(struct report_part), heavier_part);
	qsort(report->processes, profile->processes.count, sizeof(struct report_part),
	      heavier_part);
	qsort(report->languages, report->language_count, sizeof(struct report_part), heavier_part);
	for (u32 i = 0; i < report->fold.keys.count; i++)
		if (report->fold.row[i].total_samples)
			report->rows[report->row_count++] = i;
	qsort_r(report->rows, report->row_count, sizeof *report->rows, by_weight, report);
	return true;
}

void report_free(struct report *report)
{
	fold_free(&report->fold);
	free(report->rows);
	free(report->threads);
	free(report->processes);
	free(report->languages);
}

double report_percent(const struct report *report, u64 part)
{
	u64 whole = report->fold.node[0].total;

	return whole ? 100.0 * (double)part / (double)whole : 0;
}

u32 report_used(const struct report_part *parts, u32 count)
{
	u32 used = 0;

	while (used < count && parts[used].samples)
		used++;
	return used;
}

int report_print(const char *name, const struct profile *profile,
		 const struct report_options *options, bool json)
{
	struct report report;
	struct err err = { 0 };
	struct out out;

	bool good = report_make(&report, profile, options) || err_no_memory(&err);
	if (!good || !out_open_file(&out, "-", &err)) {
		report_free(&report);
		return say_failure(name, &err);
	}
	if (json)
		report_json(&report, &out);
	else if (!report_text(&report, &out))
		out.errnum = ENOMEM;
	report_free(&report);
	return say_close(&out, name);
}
