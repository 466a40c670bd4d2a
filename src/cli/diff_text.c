/* SPDX-License-Identifier: Apache-2.0
 * diff_text.c - a comparison for people: what was compared, what the noise is, what changed.
 *
 * A change inside the noise is not a row: it is counted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/diff_print.h"
#include "cli/value.h"
#include "profile/fold.h"
#include "sample/label.h"

/* ---- rows --------------------------------------------------------------------------------- */

struct ordering {
	const struct diff_print *print;
	bool total;
};

static double weight_of(const struct ordering *by, u32 row)
{
	const struct diff_value *value = diff_print_value(by->print, row, by->total);

	return by->print->sort == DIFF_BY_BEFORE ? value->before :
	       by->print->sort == DIFF_BY_AFTER  ? value->after :
						   fabs(value->after - value->before);
}

static int heavier(const void *a, const void *b, void *arg)
{
	double x = weight_of(arg, *(const u32 *)a), y = weight_of(arg, *(const u32 *)b);

	if (x != y)
		return x > y ? -1 : 1;
	return *(const u32 *)a < *(const u32 *)b ? -1 : 1;
}

u32 *diff_print_rows(const struct diff_print *print, bool total, u32 *count)
{
	u32 most = print->diff->names.locations.count;
	struct ordering by = { print, total };
	u32 *rows = calloc(most + 1, sizeof *rows);

	*count = 0;
	for (u32 i = 0; rows && i < most; i++) {
		const struct diff_value *value = diff_print_value(print, i, total);
		if (print->all ? value->before > 0 || value->after > 0 :
				 value->verdict != DIFF_NONE)
			rows[(*count)++] = i;
	}
	if (rows)
		qsort_r(rows, *count, sizeof *rows, heavier, &by);
	return rows;
}

void diff_print_label(const struct diff_print *print, u32 row, struct str *label)
{
	const struct names *names = &print->diff->names;

	str_clear(label);
	if (!print->diff->options.lines) {
		label_function(label, names, names->locations.at[row].function, 0);
		return;
	}
	label_line(label, names, row, diff_site(print->diff, row), 0);
}

/* ---- head --------------------------------------------------------------------------------- */

static void add_whole(struct str *text, const struct diff_print *print, const char *name,
		      const struct diff_file *file, const struct diff_side *side)
{
	const char *title = file->profile->title;
	char samples[32], amount[32], span[32];

	str_addf(text, "%-7s ", name);
	text_add_safe(text, file->path, strlen(file->path), 0);
	str_add_text(text, ": ");
	text_add_safe(text, title, strlen(title), 0);
	str_addf(text, "%s%s samples", *title ? ", " : "", value_grouped(side->samples, samples));
	if (!print->diff->by_samples) {
		str_addf(text, ", %s of %s", value_duration_text((u64)side->whole, amount),
			 fold_unit(file->profile));
		if (file->span_ns)
			str_addf(text, " in %s (%.3g s a second)",
				 value_duration_text(file->span_ns, span),
				 side->whole / (double)file->span_ns);
	}
	str_add_text(text, "\n");
}

static void add_worth(struct str *text, const struct diff_side *side)
{
	char samples[32], worth[32];

	value_grouped(side->samples, samples);
	value_grouped((u64)side->effective, worth);
	if (side->has_times)
		str_addf(text, "%s are worth %s", samples, worth);
	else
		str_addf(text, "%s without times are taken for %s", samples, worth);
}

static void add_noise(struct str *text, const struct diff_print *print)
{
	const struct diff *diff = print->diff;
	const char *what = diff->options.lines ? "line" : "function";
	char rows[32];

	str_addf(
		text,
		"Noise:  a %s at 1 %% must change by %.1f points to be told from chance, at 10 %% by "
		"%.1f, at 50 %% by %.1f.\n",
		what, 100 * diff_floor(diff, 0.01), 100 * diff_floor(diff, 0.10),
		100 * diff_floor(diff, 0.50));
	str_add_text(text, "        Of the samples, which are neither independent nor equal, ");
	add_worth(text, &diff->before);
	str_add_text(text, ", ");
	add_worth(text, &diff->after);
	str_addf(
		text,
		".\n        %s %ss are compared at once: of 100 pairs of recordings of one program, at "
		"most 2 should show any change.\n",
		value_grouped(diff->compared, rows), what);
}

static void add_summary(struct str *text, const struct diff_print *print)
{
	const struct diff *diff = print->diff;
	const char *what = diff->options.lines ? "line" : "function";
	char changed[32], rest[32], phases[32];

	str_addf(text, "%s %s%s changed, %s within the noise%s.\n",
		 value_grouped(diff->changed, changed), what, diff->changed == 1 ? "" : "s",
		 value_grouped(diff->compared - diff->changed, rest),
		 print->all ? "" : " (--all lists them)");
	if (diff->in_phases)
		str_addf(
			text,
			"%s of those%s differ by more than sampling does, but by no more than the phases of the "
			"program may: if both\nrecordings are whole runs of the same work, --same-work "
			"compares them.\n",
			value_grouped(diff->in_phases, phases), print->all ? " (marked ?)" : "");
}

void diff_print_head(const struct diff_print *print, struct str *text)
{
	const struct diff *diff = print->diff;

	add_whole(text, print, "before", &print->before, &diff->before);
	add_whole(text, print, "after", &print->after, &diff->after);
	str_addf(text, "Shares: of each recording's own %s; a longer run is no change.%s\n",
		 diff->by_samples ? "samples" : fold_unit(print->after.profile),
		 diff->options.same_work ?
			 " --same-work: the phases of both are taken to be the same." :
			 "");
	add_noise(text, print);
	str_add_text(text, "\n");
	add_summary(text, print);
}

/* ---- tables ------------------------------------------------------------------------------- */

enum {
	POINTS_COLUMNS = 43, /* of a row, in front of its label */
	SPANS_COLUMNS = 19,  /* more, for milliseconds a second */
	LABEL_LEAST = 30,    /* where a label has less, it is worth more than the milliseconds */
};

/* Are they known, and is there room for them? */
static bool has_spans(const struct diff_print *print)
{
	return !print->diff->by_samples && print->before.span_ns && print->after.span_ns &&
	       print->width >= POINTS_COLUMNS + SPANS_COLUMNS + LABEL_LEAST;
}

static double ms_a_second(const struct diff_side *side, const struct diff_file *file, double share)
{
	return 1000 * share * side->whole / (double)file->span_ns;
}

static void put_row(struct out *out, const struct diff_print *print, const struct diff_value *value)
{
	const struct diff *diff = print->diff;

	outf(out, "%6.2f %% %6.2f %%  %+7.2f +- %5.2f  %-4s", 100 * value->before,
	     100 * value->after, 100 * (value->after - value->before), 100 * value->error,
	     value->phases ? "?" : diff_verdict_text(value->verdict));
	if (has_spans(print))
		outf(out, " %7.1f -> %7.1f",
		     ms_a_second(&diff->before, &print->before, value->before),
		     ms_a_second(&diff->after, &print->after, value->after));
	out_text(out, "  ");
}

static bool put_table(struct out *out, const struct diff_print *print, bool total)
{
	struct str label = { 0 };
	char text[32];
	u32 count, fixed = POINTS_COLUMNS + (has_spans(print) ? SPANS_COLUMNS : 0);
	u32 *rows = diff_print_rows(print, total, &count);

	if (!rows)
		return false;
	if (count)
		outf(out, "\n%s\n  before    after   points            %s  %s\n",
		     total ? "total: with all that it calls" : "self: its own code",
		     has_spans(print) ? "           ms a second  " : "     ",
		     print->diff->options.lines ? "line" : "function");
	for (u32 i = 0; i < count && i < print->limit; i++) {
		put_row(out, print, diff_print_value(print, rows[i], total));
		diff_print_label(print, rows[i], &label);
		columns_put(out, &label, print->width - fixed);
	}
	if (count > print->limit)
		outf(out, "%*s(%s more)\n", (int)fixed, "",
		     value_grouped(count - print->limit, text));
	str_free(&label);
	free(rows);
	return true;
}

bool diff_print_text(const struct diff_print *print, struct out *out)
{
	struct str head = { 0 };

	diff_print_head(print, &head);
	bool good = !head.bad;
	if (good) {
		out_bytes(out, head.text, head.length);
		good = put_table(out, print, false) && put_table(out, print, true);
	}
	str_free(&head);
	return good;
}
