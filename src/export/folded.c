/* SPDX-License-Identifier: Apache-2.0
 * folded.c - one line a stack, root first: what flamegraph.pl, inferno and grep read.
 *
 *	[process NAME (PID);][thread NAME (TID);]frame;frame;frame COUNT
 *
 * A frame is its label (sample/label.h).
 *
 * COUNT is samples, or nanoseconds with options->weights (a stack that weighs nothing is
 * then no line).  The process stands there when there are several, the thread with
 * options->threads.  A frame holds no ';' and no line end (text.h, with ';' as \x3b).
 *
 * The idea: frames become texts and stacks become stacks of texts in a second `struct
 * names`, so that what reads the same is the same, and equal lines merge without any line
 * being built.  Lines are sorted by frames, so that the same profile gives the same bytes. */
#include "base/cleanup.h"
#include "export/exporter.h"
#include "sample/label.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct line {
	u32 root;  /* string: what stands in front, with its ';' */
	u32 stack; /* of texts */
	u64 value;
};

struct folding {
	const struct profile *profile;
	struct names texts; /* a stack's `location` is a string here */
	VEC(u32) stack_of;  /* by stack of the profile: stack of texts */
	VEC(struct line) lines;
	bool bad;
};

/* An outer stack's number is below its own (it was there first), so one pass will do. */
static void fold_stacks(struct folding *f)
{
	const struct names *names = &f->profile->names;
	AUTO_FREE u32 *text_of = calloc(names->locations.count, sizeof *text_of);
	struct str text = { 0 };

	f->bad |= !text_of || !vec_grow(&f->stack_of, names->stacks.count);
	for (u32 i = 0; i < names->locations.count && !f->bad; i++) {
		str_clear(&text);
		label_location(&text, names, i, ';');
		text_of[i] = names_string(&f->texts, text.text, text.length);
		f->bad |= text.bad || f->texts.bad;
	}
	if (!f->bad)
		f->stack_of.at[f->stack_of.count++] = 0;
	for (u32 i = 1; i < names->stacks.count && !f->bad; i++) {
		const struct name_stack *stack = &names->stacks.at[i];
		f->stack_of.at[f->stack_of.count++] = names_stack(
			&f->texts, f->stack_of.at[stack->outer], text_of[stack->location]);
		f->bad |= f->texts.bad;
	}
	str_free(&text);
}

static u32 root_text(struct folding *f, u32 thread, bool with_thread)
{
	const struct profile *profile = f->profile;
	const struct profile_thread *t = &profile->threads.at[thread];
	const struct profile_process *p = &profile->processes.at[t->process];
	struct str text = { 0 };

	str_clear(&text);
	if (profile->processes.count > 1) {
		str_add_text(&text, "process ");
		label_string(&text, &profile->names, p->name, ';');
		str_addf(&text, " (%u);", p->pid);
	}
	if (with_thread) {
		str_add_text(&text, "thread ");
		label_string(&text, &profile->names, t->name, ';');
		str_addf(&text, " (%u);", t->tid);
	}
	u32 string = names_string(&f->texts, text.text, text.length);
	f->bad |= text.bad || f->texts.bad;
	str_free(&text);
	return string;
}

static void make_lines(struct folding *f, const struct export_options *options)
{
	const struct profile *profile = f->profile;
	AUTO_FREE u32 *root_of = calloc(profile->threads.count + 1, sizeof *root_of);

	f->bad |= !root_of || !vec_grow(&f->lines, profile->entries.count);
	for (u32 i = 0; i < profile->threads.count && !f->bad; i++)
		root_of[i] = root_text(f, i, options->threads);
	/* A thread of which nothing was seen is said to be so: a line needs a frame. */
	const char *nothing = frame_mark_text(MARK_UNREADABLE);
	u32 empty = names_stack(&f->texts, 0, names_text(&f->texts, nothing));
	f->bad |= f->texts.bad;
	for (u32 i = 0; i < profile->entries.count && !f->bad; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		u64 value = options->weights ? entry->weight : entry->count;
		u32 stack = entry->stack ? f->stack_of.at[entry->stack] : empty;
		if (value)
			f->lines.at[f->lines.count++] = (struct line){ root_of[entry->thread],
								       stack, value };
	}
}

static int compare_strings(const struct names *texts, u32 a, u32 b)
{
	const struct name_string *x = &texts->strings.at[a], *y = &texts->strings.at[b];
	int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* By the first frame from the root in which they differ; a stack before those that stand on it. */
static int compare_stacks(const struct names *texts, u32 a, u32 b)
{
	const struct name_stack *stacks = texts->stacks.at;
	int deeper = (stacks[a].depth > stacks[b].depth) - (stacks[a].depth < stacks[b].depth);

	while (stacks[a].depth > stacks[b].depth)
		a = stacks[a].outer;
	while (stacks[b].depth > stacks[a].depth)
		b = stacks[b].outer;
	if (a == b)
		return deeper;
	while (stacks[a].outer != stacks[b].outer) {
		a = stacks[a].outer;
		b = stacks[b].outer;
	}
	return compare_strings(texts, stacks[a].location, stacks[b].location);
}

static int compare_lines(const void *a, const void *b, void *texts)
{
	const struct line *x = a, *y = b;
	int order = x->root == y->root ? 0 : compare_strings(texts, x->root, y->root);

	return order ? order : compare_stacks(texts, x->stack, y->stack);
}

static void merge_lines(struct folding *f)
{
	u32 kept = 0;

	if (f->bad || !f->lines.count)
		return;
	qsort_r(f->lines.at, f->lines.count, sizeof *f->lines.at, compare_lines, &f->texts);
	for (u32 i = 1; i < f->lines.count; i++) {
		struct line *last = &f->lines.at[kept], *line = &f->lines.at[i];
		if (last->root == line->root && last->stack == line->stack)
			last->value += line->value;
		else
			f->lines.at[++kept] = *line;
	}
	f->lines.count = kept + 1;
}

static void write_string(struct out *out, const struct names *texts, u32 string)
{
	out_bytes(out, texts->strings.at[string].text, texts->strings.at[string].length);
}

static void write_lines(struct folding *f, struct out *out)
{
	const struct names *texts = &f->texts;
	VEC(u32) frames = { 0 };

	for (u32 i = 0; i < f->lines.count && !f->bad; i++) {
		const struct line *line = &f->lines.at[i];
		f->bad |= !vec_grow(&frames, texts->stacks.at[line->stack].depth);
		vec_clear(&frames);
		for (u32 s = line->stack; s && !f->bad; s = texts->stacks.at[s].outer)
			frames.at[frames.count++] = texts->stacks.at[s].location;
		write_string(out, texts, line->root);
		for (u32 n = frames.count; n-- > 0;) {
			write_string(out, texts, frames.at[n]);
			if (n)
				out_bytes(out, ";", 1);
		}
		outf(out, " %llu\n", (unsigned long long)line->value);
	}
	vec_free(&frames);
}

static void folded_write(const struct profile *profile, const struct export_options *options,
			 struct out *out)
{
	struct folding f = { .profile = profile };

	f.bad = !profile->names.stacks.count || !names_init(&f.texts);
	if (!f.bad)
		fold_stacks(&f);
	if (!f.bad)
		make_lines(&f, options);
	merge_lines(&f);
	write_lines(&f, out);
	if (f.bad && !out->errnum)
		out->errnum = ENOMEM;
	names_free(&f.texts);
	vec_free(&f.stack_of);
	vec_free(&f.lines);
}

const struct exporter folded_exporter = {
	.name = "folded",
	.extension = ".folded",
	.summary = "one line a stack, for flamegraph.pl, inferno, speedscope and grep",
	.write = folded_write,
};
