/* SPDX-License-Identifier: Apache-2.0
 * callgrind.c - for KCachegrind and callgrind_annotate; the format is in valgrind's manual, "Callgrind
 * Format Specification".
 *
 *	fl=(1) /app/foo.rb        a function, by file and name; "(1)" alone when it comes again
 *	fn=(1) Foo#bar
 *	3 10000000 1              line, cost of itself: nanoseconds, samples
 *	cfi=(2) /app/a.rb         what line 3 calls, with all that is below it; how often is not
 *	cfn=(2) baz               known from samples, so it says in how many it was seen
 *	calls=7 12
 *	3 70000000 7
 *
 * The sum of the calls into a function is what it costs with all below it, and callgrind_annotate
 * takes it for that.  So a call costs nothing when the function was there already, further out:
 * else recursion would count twice.  What has no caller is called by a function of ours, one for
 * each thread with options->threads. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "export/exporter.h"
#include "export/facts.h"
#include "base/text.h"
#include "profile/preorder.h"
#include "sample/label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct cost {
	u64 weight, samples;
};

struct call {
	u32 caller, line, callee; /* functions; roots stand behind those of the profile */
	struct cost cost;
	u64 seen;
};

struct writing {
	const struct profile *profile;
	struct out *out;
	struct names texts; /* its functions: what is called alike has a number of its own */
	u32 *name_of;       /* by function: a string of `texts` */
	u32 *path_of;
	VEC(bool) told;       /* by string of `texts`, as a name */
	VEC(bool) told_paths; /* ... as a path */
	u32 functions, roots;
	struct cost *self;  /* by location */
	struct cost *total; /* by stack */
	VEC(struct call) calls;
	bool has_weights;
	bool bad;
};

static void add_cost(struct cost *to, const struct cost *from)
{
	to->weight += from->weight;
	to->samples += from->samples;
}

/* ---- names ---- */

/* Readers know a function by its file and name: a second one of both has its first line behind
 * its name, and if need be its number. */
static bool is_new_pair(struct names *texts, u32 name, u32 path)
{
	u32 count = texts->functions.count;
	struct name_function pair = { .name = name, .path = path };

	return names_function(texts, &pair) >= count;
}

static void name_function(struct writing *w, u32 number, struct str *text)
{
	const struct names *names = &w->profile->names;
	const struct name_function *function = &names->functions.at[number];
	u32 path = function->path ? function->path : function->image;

	str_clear(text);
	if (path)
		label_string(text, names, path, 0);
	else
		str_add_text(text, "???"); /* callgrind's own word */
	w->path_of[number] = names_string(&w->texts, text->text, text->length);
	str_clear(text);
	if (function->name)
		label_string(text, names, function->name, 0);
	else
		str_add_text(text, "(unnamed)");
	for (u32 tries = 0; tries < 3 && !text->bad; tries++) {
		w->name_of[number] = names_string(&w->texts, text->text, text->length);
		if (is_new_pair(&w->texts, w->name_of[number], w->path_of[number]) || w->texts.bad)
			break;
		str_addf(text, ":%u", tries ? number : function->first_line);
	}
	w->bad |= text->bad;
}

static void name_roots(struct writing *w, struct str *text)
{
	for (u32 i = 0; i < w->roots; i++) {
		str_clear(text);
		if (i)
			facts_add_thread(text, w->profile, i - 1);
		else
			str_add_text(text, "(all threads)");
		w->name_of[w->functions + i] = names_string(&w->texts, text->text, text->length);
		w->path_of[w->functions + i] = names_text(&w->texts, "???");
		w->bad |= text->bad;
	}
}

static void name_all(struct writing *w)
{
	struct str text = { 0 };

	for (u32 i = 0; i < w->functions && !w->bad; i++)
		name_function(w, i, &text);
	name_roots(w, &text);
	w->bad |= w->texts.bad || !vec_grow(&w->told, w->texts.strings.count) ||
		  !vec_grow(&w->told_paths, w->texts.strings.count);
	if (!w->bad) {
		memset(w->told.at, 0, w->texts.strings.count);
		memset(w->told_paths.at, 0, w->texts.strings.count);
	}
	str_free(&text);
}

/* "(12) Foo#bar", "(12)" from then on. */
static void put_name(struct writing *w, const char *what, u32 string, bool *told)
{
	const struct name_string *text = &w->texts.strings.at[string];

	outf(w->out, "%s=(%u)", what, string);
	if (!told[string]) {
		out_bytes(w->out, " ", 1);
		out_bytes(w->out, text->text, text->length);
	}
	told[string] = true;
	out_bytes(w->out, "\n", 1);
}

/* ---- costs ---- */

static void put_cost(struct writing *w, u32 line, const struct cost *cost)
{
	if (w->has_weights)
		outf(w->out, "%u %" PRIu64 " %" PRIu64 "\n", line, cost->weight, cost->samples);
	else
		outf(w->out, "%u %" PRIu64 "\n", line, cost->samples);
}

static u32 function_at(const struct writing *w, u32 stack)
{
	const struct names *names = &w->profile->names;

	return names->locations.at[names->stacks.at[stack].location].function;
}

static void sum_up(struct writing *w)
{
	const struct profile *profile = w->profile;
	const struct name_stack *stacks = profile->names.stacks.at;
	const u32 none = profile->names.locations.count;

	for (u32 i = 0; i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		const struct cost cost = { entry->weight, entry->count };
		add_cost(&w->total[entry->stack], &cost);
		/* Behind all locations: a stack of which nothing was seen. */
		add_cost(&w->self[entry->stack ? stacks[entry->stack].location : none], &cost);
	}
	for (u32 i = profile->names.stacks.count; i-- > 1;)
		add_cost(&w->total[stacks[i].outer], &w->total[i]);
}

/* `active`: how often a function is on the path to this node, which is in `path`. */
static void call_nodes(struct writing *w, const struct preorder *order, u32 *active, u32 *path)
{
	const struct names *names = &w->profile->names;
	u32 depth = 0;

	for (u32 n = 0; n < order->count && !w->bad; n++) {
		u32 stack = order->stack_of[n], callee = function_at(w, stack);
		const struct name_stack *at = &names->stacks.at[stack];
		while (depth >= at->depth)
			active[path[depth--]]--;
		path[depth = at->depth] = callee;
		bool is_inner = active[callee]++;
		if (!at->outer || !w->total[stack].samples)
			continue;
		struct call call = { .caller = function_at(w, at->outer),
				     .callee = callee,
				     .seen = w->total[stack].samples };
		call.line = names->locations.at[names->stacks.at[at->outer].location].line;
		if (!is_inner)
			call.cost = w->total[stack];
		w->bad |= !vec_push(&w->calls, call);
	}
}

static void make_calls(struct writing *w)
{
	const struct names *names = &w->profile->names;
	struct preorder order;
	u32 deepest = 0;

	for (u32 i = 0; i < names->stacks.count; i++)
		if (names->stacks.at[i].depth > deepest)
			deepest = names->stacks.at[i].depth;
	AUTO_FREE u32 *active = calloc((size_t)w->functions + 1, sizeof *active);
	AUTO_FREE u32 *path = calloc((size_t)deepest + 1, sizeof *path);
	if (!active || !path || !preorder_make(&order, names)) {
		w->bad = true;
		return;
	}
	call_nodes(w, &order, active, path);
	preorder_free(&order);
}

/* The outermost functions, called by their thread or by all of them. */
static void call_roots(struct writing *w)
{
	const struct profile *profile = w->profile;
	const struct name_stack *stacks = profile->names.stacks.at;

	for (u32 i = 0; i < profile->entries.count && !w->bad; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		u32 root = entry->stack;
		while (root && stacks[root].outer)
			root = stacks[root].outer;
		if (!root) /* it is a cost of the caller itself */
			continue;
		struct call call = { .caller = w->functions,
				     .callee = function_at(w, root),
				     .cost = { entry->weight, entry->count },
				     .seen = entry->count };
		if (w->roots > 1) {
			u32 thread = w->functions + 1 + entry->thread;
			struct call outer = call;
			outer.callee = thread;
			call.caller = thread;
			w->bad |= !vec_push(&w->calls, outer);
		}
		w->bad |= !vec_push(&w->calls, call);
	}
}

static int compare_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void merge_calls(struct writing *w)
{
	struct call *calls = w->calls.at;
	u32 kept = 0;

	if (w->bad || !w->calls.count)
		return;
	qsort(calls, w->calls.count, sizeof *calls, compare_calls);
	for (u32 i = 1; i < w->calls.count; i++) {
		if (compare_calls(&calls[kept], &calls[i])) {
			calls[++kept] = calls[i];
		} else {
			add_cost(&calls[kept].cost, &calls[i].cost);
			calls[kept].seen += calls[i].seen;
		}
	}
	w->calls.count = kept + 1;
}

/* ---- the file ---- */

static void put_header(struct writing *w)
{
	const struct profile *profile = w->profile;
	struct str text = { 0 };

	outf(w->out, "# callgrind format\nversion: 1\ncreator: sonde %s\n", SONDE_VERSION);
	if (profile->processes.count == 1)
		outf(w->out, "pid: %u\n", profile->processes.at[0].pid);
	str_add_text(&text, "");
	text_add_safe(&text, profile->title ? profile->title : "",
		      strlen(profile->title ? profile->title : ""), 0);
	outf(w->out, "cmd: %s\npart: 1\n", text.length ? text.text : "unknown");
	str_clear(&text);
	facts_add_quality(&text, profile);
	outf(w->out, "desc: Quality: %s\n", text.text);
	outf(w->out, "desc: Trigger: sampled every %" PRIu64 " us for %" PRIu64 " ms\n",
	     facts_period_ns(profile) / 1000, profile->duration_ns / NS_PER_MS);
	w->bad |= text.bad;
	str_free(&text);
	out_text(w->out, "positions: line\n");
	if (w->has_weights)
		outf(w->out, "event: ns : Nanoseconds of %s time\n", facts_weight_type(profile));
	outf(w->out, "event: samples : Samples\nevents: %ssamples\n", w->has_weights ? "ns " : "");
}

static u32 first_line_of(const struct writing *w, u32 function)
{
	return function < w->functions ? w->profile->names.functions.at[function].first_line : 0;
}

static void put_calls(struct writing *w, u32 *at, u32 function)
{
	for (; *at < w->calls.count && w->calls.at[*at].caller == function; ++*at) {
		const struct call *call = &w->calls.at[*at];
		put_name(w, "cfi", w->path_of[call->callee], w->told_paths.at);
		put_name(w, "cfn", w->name_of[call->callee], w->told.at);
		outf(w->out, "calls=%" PRIu64 " %u\n", call->seen, first_line_of(w, call->callee));
		put_cost(w, call->line, &call->cost);
	}
}

/* Locations by function: `next` is a chain from `head`, in the order of their numbers. */
static void put_functions(struct writing *w, u32 *head, u32 *next)
{
	const struct names *names = &w->profile->names;
	u32 call = 0;

	for (u32 i = names->locations.count; i-- > 0;) {
		next[i] = head[names->locations.at[i].function];
		head[names->locations.at[i].function] = i + 1;
	}
	for (u32 f = 0; f < w->functions + w->roots; f++) {
		bool has_calls = call < w->calls.count && w->calls.at[call].caller == f;
		bool has_self = f == w->functions && w->self[names->locations.count].samples;
		for (u32 l = f < w->functions ? head[f] : 0; l; l = next[l - 1])
			has_self |= w->self[l - 1].samples > 0;
		if (!has_calls && !has_self)
			continue;
		out_bytes(w->out, "\n", 1);
		put_name(w, "fl", w->path_of[f], w->told_paths.at);
		put_name(w, "fn", w->name_of[f], w->told.at);
		for (u32 l = f < w->functions ? head[f] : 0; l; l = next[l - 1])
			if (w->self[l - 1].samples)
				put_cost(w, names->locations.at[l - 1].line, &w->self[l - 1]);
		if (f == w->functions && has_self) /* a stack of which nothing was seen */
			put_cost(w, 0, &w->self[names->locations.count]);
		put_calls(w, &call, f);
	}
}

static void write_all(struct writing *w)
{
	AUTO_FREE u32 *head = calloc((size_t)w->functions + 1, sizeof *head);
	AUTO_FREE u32 *next = calloc((size_t)w->profile->names.locations.count + 1, sizeof *next);

	if (!head || !next) {
		w->bad = true;
		return;
	}
	name_all(w);
	sum_up(w);
	make_calls(w);
	call_roots(w);
	merge_calls(w);
	if (w->bad)
		return;
	put_header(w);
	put_functions(w, head, next);
	out_text(w->out, "\ntotals: ");
	if (w->has_weights)
		outf(w->out, "%" PRIu64 " ", w->total[0].weight);
	outf(w->out, "%" PRIu64 "\n", w->total[0].samples);
}

static void callgrind_write(const struct profile *profile, const struct export_options *options,
			    struct out *out)
{
	const struct names *names = &profile->names;
	struct writing w = { .profile = profile,
			     .out = out,
			     .functions = names->functions.count,
			     .roots = 1 + (options->threads ? profile->threads.count : 0) };
	size_t count = (size_t)w.functions + w.roots;

	w.has_weights = profile_total_weight(profile) > 0;
	w.name_of = calloc(count, sizeof *w.name_of);
	w.path_of = calloc(count, sizeof *w.path_of);
	w.self = calloc((size_t)names->locations.count + 1, sizeof *w.self);
	w.total = calloc((size_t)names->stacks.count + 1, sizeof *w.total);
	w.bad = !names->stacks.count || !names_init(&w.texts) || !w.name_of || !w.path_of ||
		!w.self || !w.total;
	if (!w.bad)
		write_all(&w);
	if (w.bad && !out->errnum)
		out->errnum = ENOMEM;
	names_free(&w.texts);
	free(w.name_of);
	free(w.path_of);
	free(w.self);
	free(w.total);
	vec_free(&w.told);
	vec_free(&w.told_paths);
	vec_free(&w.calls);
}

const struct exporter callgrind_exporter = {
	.name = "callgrind",
	.extension = ".callgrind.out",
	.summary = "costs of functions and lines, for KCachegrind and callgrind_annotate",
	.write = callgrind_write,
};
