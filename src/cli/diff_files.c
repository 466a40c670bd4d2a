/* SPDX-License-Identifier: Apache-2.0
 * diff_files.c - a comparison for programs: folded stacks with two numbers, JSON, and the page. */
#include <math.h>
#include <stdlib.h>

#include "cli/diff_print.h"
#include "cli/json_names.h"
#include "export/html.h"
#include "profile/preorder.h"
#include "sample/label.h"

/* ---- folded ------------------------------------------------------------------------------- */

struct folding {
	const struct diff_print *print;
	struct str line;
	u32 *length; /* of the line up to a depth */
	double unit; /* of the numbers, in the whole of "after" */
};

/* What ends here, as difffolded.pl -n has it: "before" is scaled to the whole of "after". Where the
 * function's own time did not change, neither does the stack: a graph of it stays grey. */
static void put_stack(struct out *out, struct folding *f, u32 node)
{
	const struct diff *diff = f->print->diff;
	const struct diff_value *self = &diff->node[node].self;
	u32 row = diff->names.stacks.at[node].location;
	u64 after = (u64)llround(self->after * f->unit),
	    before = (u64)llround(self->before * f->unit);

	if (!f->print->all && diff->row[row].self.verdict == DIFF_NONE)
		before = after;
	if (before || after)
		outf(out, "%s %llu %llu\n", f->line.text, (unsigned long long)before,
		     (unsigned long long)after);
}

static void put_stacks(struct out *out, struct folding *f, const struct preorder *order)
{
	const struct names *names = &f->print->diff->names;

	str_add_text(&f->line, frame_mark_text(MARK_UNREADABLE)); /* what has no stack */
	put_stack(out, f, 0);
	for (u32 n = 0; n < order->count; n++) {
		const struct name_stack *stack = &names->stacks.at[order->stack_of[n]];
		f->line.length = f->length[stack->depth - 1];
		if (stack->depth > 1)
			str_add_text(&f->line, ";");
		if (f->print->diff->options.lines)
			label_location(&f->line, names, stack->location, ';');
		else
			label_function(&f->line, names,
				       names->locations.at[stack->location].function, ';');
		f->length[stack->depth] = f->line.length;
		put_stack(out, f, order->stack_of[n]);
	}
}

bool diff_print_folded(const struct diff_print *print, struct out *out)
{
	const struct diff *diff = print->diff;
	struct folding f = { .print = print,
			     .unit = diff->by_samples ? diff->after.whole :
							diff->after.whole / 1000 };
	struct preorder order;
	u32 deepest = 0;

	for (u32 i = 0; i < diff->names.stacks.count; i++)
		if (diff->names.stacks.at[i].depth > deepest)
			deepest = diff->names.stacks.at[i].depth;
	f.length = calloc((size_t)deepest + 2, sizeof *f.length);
	bool good = f.length && preorder_make(&order, &diff->names);
	if (good) {
		str_clear(&f.line);
		put_stacks(out, &f, &order);
		good = !f.line.bad;
		preorder_free(&order);
	}
	str_free(&f.line);
	free(f.length);
	return good;
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_side(struct json *json, const char *key, const struct diff_file *file,
		      const struct diff_side *side)
{
	json_object(json, key);
	json_text(json, "file", file->path);
	json_text(json, "title", file->profile->title);
	json_number(json, "total", (u64)side->whole);
	json_number(json, "samples", side->samples);
	json_number(json, "independent_samples", (u64)side->effective);
	json_bool(json, "noise_measured", side->has_times);
	json_number(json, "duration_ns", file->span_ns);
	json_end(json);
}

static void json_value(struct json *json, const char *key, const struct diff_value *value)
{
	json_object(json, key);
	json_real(json, "before", 100 * value->before);
	json_real(json, "after", 100 * value->after);
	json_real(json, "change", 100 * (value->after - value->before));
	json_real(json, "noise", 100 * value->error);
	json_real(json, "chance", value->chance);
	json_text(json, "verdict", value->verdict ? diff_verdict_text(value->verdict) : "none");
	json_bool(json, "in_phases", value->phases);
	json_end(json);
}

static void json_row(struct json *json, const struct diff *diff, u32 row)
{
	const struct names *names = &diff->names;
	const struct name_location *location = &names->locations.at[row];
	u32 first = names->functions.at[location->function].first_line;

	json_object(json, NULL);
	if (diff->options.lines)
		json_place(json, names, location->function, location->line, diff_site(diff, row));
	else
		json_place(json, names, location->function, first, 0);
	json_number(json, "before_samples", diff->row[row].before_samples);
	json_number(json, "after_samples", diff->row[row].after_samples);
	json_value(json, "self", &diff->row[row].self);
	json_value(json, "total", &diff->row[row].total);
	json_end(json);
}

bool diff_print_json(const struct diff_print *print, struct out *out)
{
	const struct diff *diff = print->diff;
	struct json json = json_make(out);
	u32 shown = 0;

	json_object(&json, NULL);
	json_text(&json, "unit", diff->by_samples ? "samples" : "nanoseconds");
	json_side(&json, "before", &print->before, &diff->before);
	json_side(&json, "after", &print->after, &diff->after);
	json_bool(&json, "same_work", diff->options.same_work);
	json_real(&json, "noise_at_1_percent", 100 * diff_floor(diff, 0.01));
	json_real(&json, "noise_at_10_percent", 100 * diff_floor(diff, 0.10));
	json_real(&json, "noise_at_50_percent", 100 * diff_floor(diff, 0.50));
	json_number(&json, "compared", diff->compared);
	json_number(&json, "changed", diff->changed);
	json_number(&json, "in_phases", diff->in_phases);
	json_array(&json, diff->options.lines ? "lines" : "functions");
	for (u32 i = 0; i < diff->names.locations.count; i++) {
		const struct diff_row *row = &diff->row[i];
		bool is_there = row->before_samples || row->after_samples;
		if (is_there && (print->all || row->self.verdict || row->total.verdict) &&
		    shown++ < print->limit)
			json_row(&json, diff, i);
	}
	json_end(&json);
	json_end(&json);
	return true;
}

/* ---- a page ------------------------------------------------------------------------------- */

bool diff_print_html(const struct diff_print *print, struct out *out)
{
	html_write_diff(print->diff, &print->before, &print->after, out);
	return !out->errnum;
}
