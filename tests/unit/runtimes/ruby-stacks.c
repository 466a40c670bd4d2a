/* SPDX-License-Identifier: Apache-2.0
 * ruby-stacks.c - every frame of every thread, against what Ruby itself says.
 *
 * ruby-parked.rb stands still and prints Thread#backtrace_locations of its threads:
 * path, line, label, base label, and the class that a qualified label must have.
 * Documented differences, all in expect_label() and drop_hidden():
 * - From 3.3 on our labels are qualified as rb_profile_frame_full_label() does it, with the
 *   names of nameless classes too.  Ruby's own are plain up to 3.3, and from 3.4 on qualified
 *   for classes with a permanent name.
 * - A C function has no path and no line; Ruby gives it those of its caller.
 * - From 3.4 on Ruby shows one frame for a rescue or ensure clause and the method around
 *   it, and none for methods of its own that are written in Ruby (<internal:...>). */
#include "ruby-live.h"
#include "runtimes/ruby/discover.h"

#include "base/vec.h"
#include "unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct runtime ruby_runtime;

struct line {
	char *path, *label, *base, *qualifier;
	u32 number;
	bool c;
};

struct stack {
	char *name;
	VEC(struct line) lines;
};
typedef VEC(struct stack) stacks;

/* ---- what Ruby says ------------------------------------------------------------------------ */

static char *unhex(const char *hex)
{
	size_t length = strcmp(hex, "-") ? strlen(hex) / 2 : 0;
	char *text = calloc(length + 1, 1);

	assert_non_null(text);
	for (size_t i = 0; i < length; i++) {
		unsigned byte;
		assert_int_equal(sscanf(hex + i * 2, "%2x", &byte), 1);
		text[i] = (char)byte;
	}
	return text;
}

static void parse(char *printed, stacks *out)
{
	char *rest = NULL;

	for (char *line = strtok_r(printed, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *word[6] = { 0 }, *more = NULL;
		for (u32 i = 0; i < COUNT_OF(word); i++)
			word[i] = strtok_r(i ? NULL : line, " ", &more);
		if (!strcmp(word[0], "T") && word[1]) {
			assert_true(vec_push(out, (struct stack){ .name = unhex(word[1]) }));
		} else if (!strcmp(word[0], "F") && word[5]) {
			struct stack *stack = &out->at[out->count - 1];
			assert_true(vec_push(&stack->lines,
					     (struct line){ .path = unhex(word[1]),
							    .number = (u32)atoi(word[2]),
							    .label = unhex(word[3]),
							    .base = unhex(word[4]),
							    .qualifier = unhex(word[5]) }));
		}
	}
}

static void free_stacks(stacks *list)
{
	for (u32 i = 0; i < list->count; i++) {
		for (u32 k = 0; k < list->at[i].lines.count; k++) {
			struct line *line = &list->at[i].lines.at[k];
			free(line->path);
			free(line->label);
			free(line->base);
			free(line->qualifier);
		}
		vec_free(&list->at[i].lines);
		free(list->at[i].name);
	}
	vec_free(list);
}

/* ---- what we see --------------------------------------------------------------------------- */

static void read_stack(const struct ruby_live *live, u64 thread, struct stack *out)
{
	const struct mem *mem = &live->target.mem.mem;
	struct frame_name name = { 0 };
	struct frame frame = { .id = thread, .pos = FRAME_POS_THREAD };
	struct walk walk;

	assert_true(ruby_runtime.name_frame(mem, &live->state, &frame, &name));
	out->name = strdup(name.label.text ? name.label.text : "");
	enum step step = ruby_runtime.begin(mem, &live->state, thread, &walk);
	assert_int_equal(step, STEP_MORE);
	while ((step = ruby_live_step(live, &walk, &frame)) == STEP_MORE) {
		str_clear(&name.label);
		str_clear(&name.path);
		name.line = 0;
		if (!ruby_runtime.name_frame(mem, &live->state, &frame, &name))
			fail_msg("no name for %llx in %s", (unsigned long long)frame.id, out->name);
		assert_true(vec_push(
			&out->lines,
			(struct line){ .path = strdup(name.path.length ? name.path.text : ""),
				       .label = strdup(name.label.text),
				       .number = name.line,
				       .c = frame.flags & FRAME_C }));
	}
	assert_int_equal(step, STEP_DONE);
	str_free(&name.label);
	str_free(&name.path);
}

static void read_stacks(const struct ruby_live *live, stacks *out)
{
	struct vm_thread thread;
	u64 where = 0;
	enum step step;

	while ((step = ruby_runtime.next_thread(&live->target.mem.mem, &live->state, &where,
						&thread)) == STEP_MORE) {
		struct stack stack = { 0 };
		read_stack(live, thread.thread, &stack);
		assert_true(vec_push(out, stack));
		assert_int_not_equal(thread.tid, 0);
	}
	assert_int_equal(step, STEP_DONE);
}

static struct stack *find_stack(stacks *list, const char *name)
{
	for (u32 i = 0; i < list->count; i++)
		if (!strcmp(list->at[i].name, name))
			return &list->at[i];
	return NULL;
}

/* ---- the comparison ------------------------------------------------------------------------ */

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static void remove_line(struct stack *stack, u32 index)
{
	struct line *line = &stack->lines.at[index];

	free(line->path);
	free(line->label);
	memmove(line, line + 1, (stack->lines.count - index - 1) * sizeof *line);
	stack->lines.count--;
}

/* Leaves out of our stack what 3.4 leaves out of its own. */
static void drop_hidden(struct stack *ours)
{
	static const char *const clauses[] = { "rescue in ", "ensure in " };

	for (u32 i = 0; i < ours->lines.count; i++) {
		struct line *line = &ours->lines.at[i];
		if (starts_with(line->path, "<internal:")) {
			line->c = true;
			continue;
		}
		for (u32 k = 0; k < COUNT_OF(clauses); k++)
			if (starts_with(line->label, clauses[k])) {
				size_t length = strlen(clauses[k]);
				memmove(line->label, line->label + length,
					strlen(line->label + length) + 1);
				remove_line(ours, i + 1);
			}
	}
}

/* The label that ours must be: what stands before the base, a class, the base. */
static bool label_holds(const struct ruby_state *state, const struct line *theirs, const char *ours)
{
	size_t base = strlen(theirs->base), before = strlen(theirs->label) - base;
	char qualifiers[512], expected[1200], *more = NULL;

	if (!(state->facts & RUBY_HAS_CLASS_PATHS) || !*theirs->qualifier)
		return !strcmp(ours, theirs->label);
	snprintf(qualifiers, sizeof qualifiers, "%s", theirs->qualifier);
	for (char *q = strtok_r(qualifiers, "|", &more); q; q = strtok_r(NULL, "|", &more)) {
		size_t length = strlen(q), prefix = before;
		/* 3.4 has the class already. */
		if (prefix >= length && !strncmp(theirs->label + prefix - length, q, length))
			prefix -= length;
		snprintf(expected, sizeof expected, "%.*s%s%s", (int)prefix, theirs->label, q,
			 theirs->base);
		if (!strcmp(ours, expected))
			return true;
	}
	return false;
}

static bool line_holds(const struct ruby_state *state, const struct line *theirs,
		       const struct line *ours)
{
	if (!label_holds(state, theirs, ours->label))
		return false;
	return ours->c || (!strcmp(ours->path, theirs->path) && ours->number == theirs->number);
}

static u32 compare(const struct ruby_state *state, const struct stack *theirs,
		   const struct stack *ours)
{
	u32 wrong = theirs->lines.count != ours->lines.count, most = theirs->lines.count;

	for (u32 i = 0; i < theirs->lines.count && i < ours->lines.count; i++)
		wrong += !line_holds(state, &theirs->lines.at[i], &ours->lines.at[i]);
	if (!wrong)
		return 0;
	if (ours->lines.count > most)
		most = ours->lines.count;
	fprintf(stderr, "thread %s\n", theirs->name);
	for (u32 i = 0; i < most; i++) {
		const struct line none = { .path = "", .label = "", .base = "", .qualifier = "" };
		const struct line *a = i < theirs->lines.count ? &theirs->lines.at[i] : &none;
		const struct line *b = i < ours->lines.count ? &ours->lines.at[i] : &none;
		fprintf(stderr, "  %s ruby %s:%u:%s (%s)  sonde %s:%u:%s\n",
			line_holds(state, a, b) ? "    " : "BAD ", a->path, a->number, a->label,
			a->qualifier, b->path, b->number, b->label);
	}
	return wrong;
}

static void check_kind(const struct ruby_kind *kind, u32 ways)
{
	stacks theirs = { 0 }, ours = { 0 };
	struct ruby_live live;
	struct err err = { 0 };
	u32 wrong = 0, frames = 0;

	ruby_live_start(&live, kind, "ruby-parked.rb", NULL, NULL);
	if (!ruby_live_attach(&live, ways, &err))
		fail_msg("Ruby %s: %s", kind->name, err.text);
	parse(live.printed.text, &theirs);
	read_stacks(&live, &ours);
	/* The one that prints is not among those that are printed. */
	assert_int_equal(ours.count, theirs.count + 1);
	for (u32 i = 0; i < theirs.count; i++) {
		struct stack *mine = find_stack(&ours, theirs.at[i].name);
		assert_non_null(mine);
		if (live.state.major * 100 + live.state.minor >= 304)
			drop_hidden(mine);
		wrong += compare(&live.state, &theirs.at[i], mine);
		frames += theirs.at[i].lines.count;
	}
	fprintf(stderr, "Ruby %s: %u threads, %u frames, %u wrong\n", kind->name, theirs.count,
		frames, wrong);
	assert_int_equal(wrong, 0);
	assert_true(frames > 400);
	free_stacks(&theirs);
	free_stacks(&ours);
	ruby_live_stop(&live);
}

static void stacks_equal_rubys_own(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		check_kind(kind, RUBY_BY_ALL);
	}
}

/* Each witness alone: symbols where there are some, code, and the scan that needs neither. */
static void each_way_leads_to_the_vm(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		check_kind(kind, RUBY_BY_CODE);
		check_kind(kind, RUBY_BY_SCAN);
	}
}

static bool has_name(const struct ruby_live *live, const struct frame *frame)
{
	struct frame_name name = { 0 };
	bool has = ruby_runtime.name_frame(&live->target.mem.mem, &live->state, frame, &name);

	str_free(&name.label);
	str_free(&name.path);
	return has;
}

/* A frame's name is not that of what has come to lie at its addresses. How many frames were asked about. */
static u32 check_replaced(const struct ruby_live *live, u64 thread)
{
	const struct mem *mem = &live->target.mem.mem;
	struct walk walk = { 0 };
	struct frame frame, other;
	u32 asked = 0;

	if (ruby_runtime.begin(mem, &live->state, thread, &walk) != STEP_MORE)
		return 0;
	while (ruby_live_step(live, &walk, &frame) == STEP_MORE) {
		assert_true(has_name(live, &frame));
		if (frame.flags & FRAME_C) {
			other = frame;
			other.owner = 0; /* it is what it is, whoever it was called as */
			assert_true(has_name(live, &other));
			other.owner = frame.id; /* no entry is there */
			assert_false(has_name(live, &other));
			continue;
		}
		other = frame;
		other.pos += 1u << 24; /* of another function */
		assert_int_equal(has_name(live, &other), !!(frame.flags & FRAME_LEAF));
		other = frame;
		other.owner = frame.id; /* no entry is there now */
		assert_true(!frame.owner || !has_name(live, &other));
		asked++;
	}
	return asked;
}

static void what_was_replaced_has_no_name(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct vm_thread thread;
		struct err err = { 0 };
		u32 asked = 0;

		ruby_live_start(&live, kind, "ruby-parked.rb", NULL, NULL);
		assert_true(ruby_live_attach(&live, RUBY_BY_ALL, &err));
		for (u64 where = 0; ruby_runtime.next_thread(&live.target.mem.mem, &live.state,
							     &where, &thread) == STEP_MORE;)
			asked += check_replaced(&live, thread.thread);
		assert_true(asked > 100);
		ruby_live_stop(&live);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_equal_rubys_own),
		cmocka_unit_test(what_was_replaced_has_no_name),
		cmocka_unit_test(each_way_leads_to_the_vm),
	};

	if (!ruby_kinds_here())
		return RUBY_LIVE_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
