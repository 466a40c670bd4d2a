/* SPDX-License-Identifier: Apache-2.0
 * report_text.c - a report for a terminal: tables, then the tree of calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/value.h"
#include "sample/label.h"

static void add_key_label(const struct report *report, u32 number, struct str *label)
{
	const struct names *names = &report->profile->names;
	const struct fold_key *key = &report->fold.keys.at[number];

	str_clear(label);
	if (!report->options->lines) {
		label_function(label, names, key->item, 0);
		return;
	}
	label_line(label, names, key->item, key->site, 0);
}

/* Three digits that say something: "43.1 ms", "1.32 s", "2 min 5 s". */
static void amount_text(const struct report *report, u64 part, char out[static 32])
{
	double ms = (double)part / NS_PER_MS;

	if (report->fold.by_samples)
		value_grouped(part, out);
	else if (ms < 1000)
		snprintf(out, 32, "%.*f ms", ms < 10 ? 2 : ms < 100 ? 1 : 0, ms);
	else if (ms < 100000)
		snprintf(out, 32, "%.*f s", ms < 10000 ? 2 : 1, ms / 1000);
	else
		value_duration_text(part, out);
}

static void put_amount(struct out *out, const struct report *report, u64 part)
{
	char text[32];

	amount_text(report, part, text);
	outf(out, "%6.1f %% %11s", report_percent(report, part), text);
}

static void put_head(struct out *out, const struct report *report)
{
	const struct profile *profile = report->profile;
	const struct fold_value *all = &report->fold.node[0];
	struct str line = { 0 };
	char text[32];
	time_t start = (time_t)(profile->start_unix_ns / NS_PER_S);
	struct tm local;

	text_add_safe(&line, profile->title, strlen(profile->title), 0);
	columns_put(out, &line, report->options->width);
	str_clear(&line);
	if (start && localtime_r(&start, &local)) {
		char stamp[32];
		strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &local);
		outf(out, "%s, ", stamp);
	}
	if (profile->quality.expected) {
		progress_summarize(&profile->quality, profile->hz, &line);
		outf(out, "%s\n", line.text);
	} else {
		outf(out, "%s samples\n", value_grouped(all->total_samples, text));
	}
	str_free(&line);
	if (report->fold.by_samples)
		outf(out, "100 %% is %s samples.\n", value_grouped(all->total, text));
	else
		outf(out, "100 %% is %s of %s", value_duration_text(all->total, text),
		     fold_unit(profile)),
			outf(out, " in %s samples.\n", value_grouped(all->total_samples, text));
}

static void put_rows(struct out *out, const struct report *report)
{
	u32 shown = report->row_count < report->options->limit ? report->row_count :
								 report->options->limit;
	struct str label = { 0 };
	char text[32];

	outf(out, "\n                self                total  %s\n",
	     report->options->lines ? "line" : "function");
	for (u32 i = 0; i < shown; i++) {
		const struct fold_value *row = &report->fold.row[report->rows[i]];
		put_amount(out, report, row->self);
		put_amount(out, report, row->total);
		out_text(out, "  ");
		add_key_label(report, report->rows[i], &label);
		columns_put(out, &label, report->options->width - 42);
	}
	if (shown < report->row_count)
		outf(out, "%42s(%s more)\n", "", value_grouped(report->row_count - shown, text));
	str_free(&label);
}

typedef void add_part_fn(const struct profile *profile, u32 key, struct str *label);

static void add_thread(const struct profile *profile, u32 key, struct str *label)
{
	const struct profile_thread *thread = &profile->threads.at[key];

	label_string(label, &profile->names, thread->name, 0);
	str_addf(label, "%s(%u)", thread->name ? " " : "", thread->tid);
	if (profile->processes.count > 1)
		str_addf(label, " of process %u", profile->processes.at[thread->process].pid);
}

static void add_process(const struct profile *profile, u32 key, struct str *label)
{
	label_string(label, &profile->names, profile->processes.at[key].name, 0);
	str_addf(label, " (%u)", profile->processes.at[key].pid);
}

static void add_language(const struct profile *profile, u32 key, struct str *label)
{
	if (key)
		label_string(label, &profile->names, key, 0);
	else
		str_add_text(label, "(not code: [moving], garbage collection and the like)");
}

static void put_parts(struct out *out, const struct report *report, const char *title,
		      const struct report_part *parts, u32 count, add_part_fn *add)
{
	u32 used = report_used(parts, count);
	u32 shown = used < report->options->limit ? used : report->options->limit;
	struct str label = { 0 };
	char text[32];

	if (used < 2)
		return;
	outf(out, "\n                self  %s\n", title);
	for (u32 i = 0; i < shown; i++) {
		put_amount(out, report, parts[i].weight);
		str_clear(&label);
		str_add_text(&label, "  ");
		add(report->profile, parts[i].key, &label);
		columns_put(out, &label, report->options->width - 20);
	}
	if (shown < used)
		outf(out, "%22s(%s more)\n", "", value_grouped(used - shown, text));
	str_free(&label);
}

/* ---- tree --------------------------------------------------------------------------------- */

struct tree {
	const struct report *report;
	u32 *child, *sibling; /* by stack; 0: none. Children heaviest first */
	struct str label;
};

static int heavier_node(const void *a, const void *b, void *arg)
{
	const struct fold *fold = arg;
	u64 x = fold->node[*(const u32 *)a].total, y = fold->node[*(const u32 *)b].total;

	if (x != y)
		return x > y ? -1 : 1;
	return *(const u32 *)a < *(const u32 *)b ? -1 : 1;
}

/* Linked from the lightest on, so that each list begins with the heaviest. */
static bool link_nodes(struct tree *tree)
{
	const struct fold *fold = &tree->report->fold;
	u32 count = fold->tree.stacks.count;
	AUTO_FREE u32 *sorted = calloc(count + 1, sizeof *sorted);

	tree->child = calloc(count + 1, sizeof *tree->child);
	tree->sibling = calloc(count + 1, sizeof *tree->sibling);
	if (!sorted || !tree->child || !tree->sibling)
		return false;
	for (u32 i = 1; i < count; i++)
		sorted[i - 1] = i;
	qsort_r(sorted, count - 1, sizeof *sorted, heavier_node, (void *)fold);
	for (u32 i = count - 1; i-- > 0;) {
		u32 outer = fold->tree.stacks.at[sorted[i]].outer;
		tree->sibling[sorted[i]] = tree->child[outer];
		tree->child[outer] = sorted[i];
	}
	return true;
}

static void link_free(struct tree *tree)
{
	str_free(&tree->label);
	free(tree->child);
	free(tree->sibling);
}

/* A sibling that is drawn when what hangs on the one before it is. */
struct waiting_branch {
	u32 node, indent;
};

static bool is_drawn(const struct tree *tree, u32 node)
{
	return node && report_percent(tree->report, tree->report->fold.node[node].total) >=
			       tree->report->options->tree_percent;
}

static void put_node(struct out *out, struct tree *tree, u32 node, u32 indent)
{
	const struct report *report = tree->report;
	u32 most = report->options->width / 2;
	const struct fold_value *value = &report->fold.node[node];

	indent = indent < most ? indent : most;
	outf(out, "%6.1f %% %5.1f %%  %*s", report_percent(report, value->total),
	     report_percent(report, value->self), (int)indent, "");
	add_key_label(report, report->fold.tree.stacks.at[node].location, &tree->label);
	columns_put(out, &tree->label, report->options->width - 18 - indent);
}

/* Depth first; a branch is set in only where there are several. */
static bool put_tree(struct out *out, const struct report *report)
{
	struct tree tree = { .report = report };
	VEC(struct waiting_branch) open = { 0 };

	outf(out, "\n   total    self  tree of what is at least %g %%\n",
	     report->options->tree_percent);
	if (!link_nodes(&tree)) {
		link_free(&tree);
		return false;
	}
	u32 node = tree.child[0], indent = 0;
	for (;;) {
		while (!is_drawn(&tree, node) && open.count) {
			open.count--;
			node = open.at[open.count].node;
			indent = open.at[open.count].indent;
		}
		if (!is_drawn(&tree, node))
			break;
		put_node(out, &tree, node, indent);
		u32 next = tree.sibling[node], inner = tree.child[node];
		if (is_drawn(&tree, next) &&
		    !vec_push(&open, (struct waiting_branch){ next, indent }))
			break;
		if (is_drawn(&tree, inner))
			indent += is_drawn(&tree, tree.sibling[inner]);
		node = inner;
	}
	vec_free(&open);
	link_free(&tree);
	return true;
}

bool report_text(const struct report *report, struct out *out)
{
	const struct profile *profile = report->profile;

	put_head(out, report);
	put_rows(out, report);
	put_parts(out, report, "thread", report->threads, profile->threads.count, add_thread);
	put_parts(out, report, "process", report->processes, profile->processes.count, add_process);
	put_parts(out, report, "language of the leaf", report->languages, report->language_count,
		  add_language);
	return put_tree(out, report);
}
