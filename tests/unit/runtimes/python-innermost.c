/* SPDX-License-Identifier: Apache-2.0
 * python-innermost.c - what a thread of 3.11 or 3.12 runs while its innermost frame is being linked.
 *
 * A thread at THREAD, whose C stack holds one cframe that is filled, and one for which C has just been entered. Its stack
 * of frames holds one function or two, and there are generators. */
#include "check.h"

#include <string.h>

#include "runtimes/python/step.h"
#include "runtimes/python/versions.h"

enum {
	BASE = 0x10000,
	BYTES = 0x10000,
	THREAD = BASE + 0x1000,
	ROOT = THREAD + 0x140, /* the thread's own cframe */
	INTERP = BASE + 0x2000,
	OUTER = BASE + 0x3100, /* a cframe */
	INNER = BASE + 0x3000,
	SHIM = BASE + 0x3200, /* of OUTER's entry */
	FUNCTION = BASE + 0x4000,
	CODE = BASE + 0x5000,
	TEXT = BASE + 0x6000,
	LEFT_SHIM = BASE + 0x3300, /* of an earlier entry */
	TYPE = BASE + 0x7000,      /* of code objects */
	FRAME_WORDS = 16,
	SECOND = FUNCTION + 8 * FRAME_WORDS, /* a function, pushed behind the other */
	LEAF = BASE + 0x8000,                /* generators */
	MIDDLE = BASE + 0x9000,
	GARBAGE = BASE + 0xb000,
};

static u32 version;

struct stage {
	struct mem mem;
	struct python_state python;
	u32 how; /* it is walked: WALK_STANDS, WALK_PLACES */
	u8 bytes[BYTES];
};

static bool stage_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct stage *stage = (const struct stage *)mem;

	(void)hold;
	if (addr < BASE || addr + len > BASE + BYTES)
		return false;
	memcpy(dst, stage->bytes + (addr - BASE), len);
	return true;
}

static void put(struct stage *stage, u64 addr, u64 word)
{
	memcpy(stage->bytes + (addr - BASE), &word, sizeof word);
}

static void put_cframe(struct stage *stage, u64 at, u64 frame, u64 previous)
{
	put(stage, at + stage->python.at.cframe_frame, frame);
	put(stage, at + stage->python.at.cframe_previous, previous);
}

/* One function runs, in C's first entry. */
static void set_up(struct stage *stage)
{
	const struct python_layout *at = &stage->python.at;

	memset(stage, 0, sizeof *stage);
	stage->mem.read = stage_read;
	stage->how = WALK_STANDS;
	stage->python.version = version;
	assert_true(python_versions_find(&stage->python));
	put(stage, THREAD + at->thread_interp, INTERP);
	put(stage, THREAD + at->thread_frame, OUTER);
	put_cframe(stage, OUTER, FUNCTION, ROOT);
	put(stage, THREAD + at->thread_top - 8, FUNCTION - 24); /* a chunk */
	put(stage, THREAD + at->thread_top, FUNCTION + 8 * FRAME_WORDS);
	put(stage, FUNCTION + at->frame_code, CODE);
	put(stage, FUNCTION + at->frame_pc, CODE + at->code_bytecode);
	if (stage->python.facts & PYTHON_HAS_SHIMS) {
		put(stage, FUNCTION + at->frame_previous, SHIM);
		stage->bytes[SHIM - BASE + at->frame_owner] = PYTHON_OWNED_BY_C;
		stage->bytes[LEFT_SHIM - BASE + at->frame_owner] = PYTHON_OWNED_BY_C;
	}
	put(stage, CODE + 8, TYPE);
	put(stage, TYPE + at->bytes_length + 24,
	    2); /* tp_itemsize; the type's name cannot be read */
	put(stage, CODE + at->code_filename, TEXT);
	put(stage, CODE + at->code_qualname, TEXT);
	put(stage, CODE + at->code_lines, TEXT);
}

struct outcome {
	enum step end;
	u32 flags, functions;
	u64 at[4]; /* the innermost first */
};

static struct outcome walk_all(struct stage *stage)
{
	struct outcome out = { 0 };
	struct walk walk;

	out.end = python_begin(&stage->mem, &stage->python, THREAD, &walk);
	walk.flags |= stage->how;
	for (u32 i = 0; step_goes_on(out.end) && i < 16; i++) {
		struct frame frame = { 0 };
		out.end = python_step(&stage->mem, &stage->python, &walk, &frame);
		if (out.end == STEP_FAULT && python_mend(&stage->mem, &stage->python, &walk))
			out.end = STEP_HIDDEN;
		if (out.end != STEP_MORE)
			continue;
		assert_int_not_equal(out.functions, COUNT_OF(out.at));
		out.at[out.functions++] = frame.at;
	}
	out.flags = walk.flags & (WALK_TOP_UNSET | WALK_MAY_BE_EMPTY);
	return out;
}

static void assert_outcome(struct stage *stage, enum step end, u32 functions, u32 flags)
{
	struct outcome out = walk_all(stage);

	assert_int_equal(out.end, end);
	assert_int_equal(out.functions, functions);
	assert_int_equal(out.flags, flags);
	if (functions)
		assert_int_equal(out.at[functions - 1], FUNCTION);
}

static void what_is_filled_is_walked(void **state)
{
	struct stage stage;

	(void)state;
	set_up(&stage);
	assert_outcome(&stage, STEP_DONE, 1, 0);
}

static void the_root_has_nothing(void **state)
{
	struct stage stage;

	(void)state;
	set_up(&stage);
	put(&stage, THREAD + stage.python.at.thread_frame, ROOT);
	assert_outcome(&stage, STEP_EMPTY, 0, 0);
}

/* Nothing lies there yet: the thread stands outside of it. */
static void nothing_is_left(void **state)
{
	struct stage stage;

	(void)state;
	set_up(&stage);
	put(&stage, THREAD + stage.python.at.thread_frame, INNER);
	put_cframe(&stage, INNER, 0, OUTER);
	assert_outcome(&stage, STEP_DONE, 1, WALK_TOP_UNSET);
	put_cframe(&stage, INNER, 0, 0); /* not its caller either: nobody knows */
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET);
}

/* Something lies there that never was a cframe, and leads to what holds nothing; or it says that this is the first
 * entry of all, which what an earlier one left says, too. */
static void what_is_left_is_no_cframe(void **state)
{
	struct stage stage;

	(void)state;
	set_up(&stage);
	put(&stage, THREAD + stage.python.at.thread_frame, INNER);
	put_cframe(&stage, INNER, 0, MIDDLE);
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET);
	put_cframe(&stage, INNER, 0, ROOT);
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET | WALK_MAY_BE_EMPTY);
}

/* Before its first function a greenlet has a cframe, and no stack of frames. */
static void a_greenlet_begins(void **state)
{
	struct stage stage;

	(void)state;
	set_up(&stage);
	put(&stage, THREAD + stage.python.at.thread_frame, INNER);
	put_cframe(&stage, INNER, 0, ROOT);
	put(&stage, THREAD + stage.python.at.thread_top - 8, 0);
	put(&stage, THREAD + stage.python.at.thread_top, 0);
	put(&stage, THREAD + stage.python.at.thread_handling, THREAD + 0x100);
	assert_outcome(&stage, STEP_DONE, 0, 0);
	/* a generator runs, and calls what enters somebody */
	put(&stage, THREAD + stage.python.at.thread_handling, MIDDLE);
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET | WALK_MAY_BE_EMPTY);
}

/* A shim that an earlier call left, behind which nothing comes. */
static void a_shim_is_left(void **state)
{
	struct stage stage;

	(void)state;
	set_up(&stage);
	put(&stage, THREAD + stage.python.at.thread_frame, INNER);
	put_cframe(&stage, INNER, LEFT_SHIM, OUTER);
	assert_outcome(&stage, STEP_DONE, 1, WALK_TOP_UNSET);
	put_cframe(&stage, INNER, LEFT_SHIM, ROOT);
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET | WALK_MAY_BE_EMPTY);
}

/* ---- generators --------------------------------------------------------------------- */

static u64 frame_of(const struct stage *stage, u64 generator)
{
	return generator + stage->python.at.gen_frame;
}

static u64 handling_of(const struct stage *stage, u64 generator)
{
	return generator + stage->python.at.gen_handling;
}

static void put_frame(struct stage *stage, u64 frame, u64 previous, u8 owner)
{
	const struct python_layout *at = &stage->python.at;

	put(stage, frame + at->frame_code, CODE);
	put(stage, frame + at->frame_pc, CODE + at->code_bytecode);
	put(stage, frame + at->frame_previous, previous);
	stage->bytes[frame - BASE + at->frame_owner] = owner;
}

enum { RUNS = -1 };

/* It runs, or waits for the generator at the top of its stack. */
static void put_top(struct stage *stage, u64 frame, u64 generator)
{
	const struct python_layout *at = &stage->python.at;
	s32 top = generator ? 3 : RUNS;

	memcpy(stage->bytes + (frame - BASE + at->frame_top), &top, sizeof top);
	put(stage, frame + at->frame_locals + 8ull * 2, generator);
}

/* Generators run, the innermost first; the thread's own place comes last. */
static void put_handling(struct stage *stage, u64 first, u64 second)
{
	const struct python_layout *at = &stage->python.at;
	u64 own = THREAD + 0x100;

	put(stage, THREAD + at->thread_handling, first ? handling_of(stage, first) : own);
	if (first)
		put(stage, handling_of(stage, first) + at->handled_previous,
		    second ? handling_of(stage, second) : own);
	if (second)
		put(stage, handling_of(stage, second) + at->handled_previous, own);
}

/* A function, and a generator that is published without a link. */
static void set_up_generator(struct stage *stage)
{
	const struct python_layout *at = &stage->python.at;

	set_up(stage);
	const u32 stack = FRAME_WORDS - at->frame_locals / 8;
	memcpy(stage->bytes + (CODE - BASE + at->code_stack), &stack, sizeof stack);
	put(stage, THREAD + at->thread_top, FUNCTION + 8 * FRAME_WORDS);
	put_frame(stage, frame_of(stage, LEAF), 0, PYTHON_OWNED_BY_GENERATOR);
	put_cframe(stage, OUTER, frame_of(stage, LEAF), ROOT);
	put_top(stage, FUNCTION, 0);
	put_handling(stage, LEAF, 0);
}

static void a_function_calls_it(void **state)
{
	struct stage stage;

	(void)state;
	set_up_generator(&stage);
	assert_outcome(&stage, STEP_DONE, 2, 0);
	put_handling(&stage, 0, 0); /* it is not in the list yet, or no more */
	assert_outcome(&stage, STEP_DONE, 2, 0);
	stage.bytes[LEAF - BASE + stage.python.at.gen_state] = 0xff;
	put_top(&stage, FUNCTION, LEAF); /* it yields */
	assert_outcome(&stage, STEP_DONE, 2, 0);
	put_top(&stage, FUNCTION, 0); /* what runs has called another, and this one was left */
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put_top(&stage, FUNCTION, MIDDLE);
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET);
}

static void a_generator_calls_it(void **state)
{
	struct stage stage;

	(void)state;
	set_up_generator(&stage);
	put_frame(&stage, frame_of(&stage, MIDDLE), FUNCTION, PYTHON_OWNED_BY_GENERATOR);
	put_top(&stage, FUNCTION, MIDDLE);
	put_top(&stage, frame_of(&stage, MIDDLE), 0);
	put_handling(&stage, LEAF, MIDDLE);
	assert_outcome(&stage, STEP_DONE, 3, 0);
	put_top(&stage, frame_of(&stage, MIDDLE), LEAF);
	put_handling(&stage, MIDDLE, 0);
	assert_outcome(&stage, STEP_DONE, 3, 0);
	put(&stage, frame_of(&stage, MIDDLE) + stage.python.at.frame_previous, SHIM);
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET); /* neither calls the other */
}

static void a_function_of_a_generator_calls_it(void **state)
{
	struct stage stage;

	(void)state;
	set_up_generator(&stage);
	put_frame(&stage, frame_of(&stage, MIDDLE), FUNCTION, PYTHON_OWNED_BY_GENERATOR);
	put_frame(&stage, SECOND, frame_of(&stage, MIDDLE), PYTHON_OWNED_BY_THREAD);
	put(&stage, THREAD + stage.python.at.thread_top, SECOND + 8 * FRAME_WORDS);
	put_top(&stage, FUNCTION, MIDDLE);
	put_top(&stage, SECOND, 0);
	put_handling(&stage, LEAF, MIDDLE);
	assert_outcome(&stage, STEP_DONE, 4, 0);
}

static void what_ends_elsewhere_is_not_the_last(void **state)
{
	struct stage stage;

	(void)state;
	set_up_generator(&stage);
	put(&stage, THREAD + stage.python.at.thread_top, FUNCTION + 8 * FRAME_WORDS + 8);
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET);
}

/* ---- calls that are on their way ------------------------------------------------------------- */

/* A function that runs C, which enters the interpreter: its cframe is published and not filled. */
static void set_up_entry(struct stage *stage)
{
	set_up_generator(stage);
	put(stage, frame_of(stage, LEAF) + stage->python.at.frame_previous, 0);
	put_handling(stage, 0, 0);
	put(stage, THREAD + stage->python.at.thread_frame, INNER);
	put_cframe(stage, INNER, GARBAGE, GARBAGE);
	put_cframe(stage, OUTER, FUNCTION, ROOT);
}

/* Pushed behind FUNCTION.  What has not begun has variables on its stack. */
static void push_second(struct stage *stage, bool has_begun, u64 previous)
{
	const struct python_layout *at = &stage->python.at;

	put_frame(stage, SECOND, previous, PYTHON_OWNED_BY_THREAD);
	put_top(stage, SECOND, TEXT);
	if (!has_begun)
		put(stage, SECOND + at->frame_pc, CODE + at->code_bytecode - 2);
	put(stage, THREAD + at->thread_top, SECOND + 8 * FRAME_WORDS);
}

/* The loop that runs FUNCTION leads to what was pushed behind it. */
static void set_up_second(struct stage *stage, bool has_begun, u64 previous)
{
	set_up_entry(stage);
	put(stage, THREAD + stage->python.at.thread_frame, OUTER);
	put_cframe(stage, OUTER, SECOND, ROOT);
	push_second(stage, has_begun, previous);
}

/* A generator that is none of Python's (Cython's) has a place in the list of what is handled: this one, behind which lies anything. */
static void put_foreign(struct stage *stage, u64 place, u64 next)
{
	const struct python_layout *at = &stage->python.at;
	u64 frame = place - at->gen_handling + at->gen_frame;

	put(stage, THREAD + at->thread_handling, place);
	put_frame(stage, frame, GARBAGE, 2);
	put_top(stage, frame, 0);
	put(stage, place + at->handled_previous, next);
}

static void another_languages_generator_is_no_frame(void **state)
{
	const u64 one = GARBAGE + 0x800;
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	u64 next = THREAD + 0x100; /* its own */
	for (u64 place = one; place < one + 10ull * 0x200; place += 0x200) {
		put_foreign(&stage, place, next);
		assert_outcome(&stage, STEP_DONE, 1, 0);
		next = place;
	}
	/* nor if it would be one but for its code */
	u64 frame = next - stage.python.at.gen_handling + stage.python.at.gen_frame;
	put_frame(&stage, frame, GARBAGE, PYTHON_OWNED_BY_GENERATOR);
	put(&stage, frame + stage.python.at.frame_code, GARBAGE);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	/* one of Python's waits for it */
	put_frame(&stage, frame_of(&stage, MIDDLE), FUNCTION, PYTHON_OWNED_BY_GENERATOR);
	put_top(&stage, FUNCTION, MIDDLE);
	put_top(&stage, frame_of(&stage, MIDDLE), 0);
	put_handling(&stage, MIDDLE, 0);
	put_foreign(&stage, one, handling_of(&stage, MIDDLE));
	assert_outcome(&stage, STEP_DONE, 2, 0);
	put_foreign(&stage, one, one); /* it leads nowhere */
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET);
}

static void c_enters_a_function(void **state)
{
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	push_second(&stage, false, 0);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put_cframe(&stage, INNER, 0, 0);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put_cframe(&stage, INNER, 0, OUTER);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put_cframe(&stage, INNER, LEFT_SHIM, OUTER); /* as an earlier entry left it */
	put(&stage, LEFT_SHIM + stage.python.at.frame_previous, MIDDLE);
	assert_outcome(&stage, STEP_DONE, 1, 0);
}

static void c_enters_a_function_for_a_generator(void **state)
{
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	push_second(&stage, false, 0);
	put_frame(&stage, frame_of(&stage, MIDDLE), FUNCTION, PYTHON_OWNED_BY_GENERATOR);
	put_top(&stage, FUNCTION, MIDDLE);
	put_top(&stage, frame_of(&stage, MIDDLE), 0);
	put_handling(&stage, MIDDLE, 0);
	assert_outcome(&stage, STEP_DONE, 2, 0);
	put(&stage, frame_of(&stage, MIDDLE) + stage.python.at.frame_previous, SHIM);
	put_cframe(&stage, INNER, GARBAGE, 0);
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET); /* neither calls the other */
}

static void c_enters_a_generator(void **state)
{
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	put_top(&stage, frame_of(&stage, LEAF), TEXT);
	put_handling(&stage, LEAF, 0);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put_frame(&stage, frame_of(&stage, MIDDLE), FUNCTION, PYTHON_OWNED_BY_GENERATOR);
	put_top(&stage, FUNCTION, MIDDLE);
	put_top(&stage, frame_of(&stage, MIDDLE), 0);
	put_handling(&stage, LEAF, MIDDLE);
	assert_outcome(&stage, STEP_DONE, 2, 0);
}

/* What it was entered for is popped after the thread leads to its shim. */
static void c_leaves_a_function(void **state)
{
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	push_second(&stage, true, LEFT_SHIM);
	put(&stage, LEFT_SHIM + stage.python.at.frame_previous, FUNCTION);
	put_cframe(&stage, INNER, LEFT_SHIM, OUTER);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put_top(&stage, FUNCTION, TEXT); /* it was called because somebody traces */
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put(&stage, SECOND + stage.python.at.frame_previous, SHIM); /* not through this one */
	assert_outcome(&stage, STEP_DONE, 1, WALK_TOP_UNSET);
}

/* A function's end ends what it held: it is popped behind whom C enters for that, and its caller is innermost by then. */
static void c_leaves_what_a_functions_end_calls(void **state)
{
	struct stage stage;
	const u64 third = SECOND + 8 * FRAME_WORDS;

	(void)state;
	set_up_entry(&stage);
	put_top(&stage, FUNCTION, TEXT);
	push_second(&stage, true, FUNCTION);
	put_frame(&stage, third, LEFT_SHIM, PYTHON_OWNED_BY_THREAD);
	put_top(&stage, third, TEXT);
	put(&stage, THREAD + stage.python.at.thread_top, third + 8 * FRAME_WORDS);
	put(&stage, LEFT_SHIM + stage.python.at.frame_previous, FUNCTION);
	put_cframe(&stage, INNER, LEFT_SHIM, OUTER);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put(&stage, THREAD + stage.python.at.thread_top, third); /* that is popped */
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put(&stage, LEFT_SHIM + stage.python.at.frame_previous, MIDDLE); /* of an earlier entry */
	assert_outcome(&stage, STEP_DONE, 1, WALK_TOP_UNSET);
	put_top(&stage, SECOND, 0); /* it runs: C enters somebody for it */
	put(&stage, LEFT_SHIM + stage.python.at.frame_previous, FUNCTION);
	assert_outcome(&stage, STEP_DONE, 2, 0);
}

/* Where the native stack has it is known by its own cframe, not by that of what is being entered (3.11). */
static void who_is_found_has_its_own_place(void **state)
{
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	push_second(&stage, false, 0);
	put_cframe(&stage, INNER, 0, OUTER);
	stage.bytes[FUNCTION - BASE + stage.python.at.frame_entry] = 1;
	stage.how |= WALK_PLACES;
	struct outcome out = walk_all(&stage);
	assert_int_equal(out.functions, 1);
	assert_int_equal(out.at[0], OUTER);
}

/* A cframe leads to the last function of an earlier entry, whose frame was popped and is as it was. */
static void what_was_popped_does_not_run(void **state)
{
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	push_second(&stage, true, FUNCTION);
	put_cframe(&stage, INNER, SECOND, OUTER);
	assert_outcome(&stage, STEP_DONE, 2, 0);
	put(&stage, THREAD + stage.python.at.thread_top, SECOND);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	stage.how = 0; /* nor if the thread moves */
	assert_outcome(&stage, STEP_DONE, 1, 0);
	/* its chunk was given back, and the one before has no end that says anything of it */
	put(&stage, THREAD + stage.python.at.thread_top - 8, GARBAGE);
	assert_outcome(&stage, STEP_DONE, 2, 0);
	stage.how = WALK_STANDS;
	assert_outcome(&stage, STEP_DONE, 2, 0);
}

/* What lies behind a function that has just been pushed is of an earlier call. */
static void what_has_run_nothing_calls_nobody(void **state)
{
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	push_second(&stage, true, FUNCTION);
	put_frame(&stage, MIDDLE, SECOND, PYTHON_OWNED_BY_THREAD);
	put_cframe(&stage, INNER, MIDDLE, OUTER);
	stage.how = 0;
	assert_outcome(&stage, STEP_DONE, 3, 0);
	push_second(&stage, false, FUNCTION);
	assert_outcome(&stage, STEP_DONE, 1, 0);
}

/* The same, where the stack of the function that is entered reaches over it. */
static void what_another_has_its_stack_in_does_not_run(void **state)
{
	const u32 wider = FRAME_WORDS + 1;
	struct stage stage;
	u32 stack;

	(void)state;
	set_up_entry(&stage);
	push_second(&stage, true, FUNCTION);
	put_cframe(&stage, INNER, SECOND, OUTER);
	u8 *place = stage.bytes + (CODE - BASE + stage.python.at.code_stack);
	memcpy(&stack, place, sizeof stack);
	stack++;
	memcpy(place, &stack, sizeof stack);
	put(&stage, THREAD + stage.python.at.thread_top, FUNCTION + 8 * wider);
	assert_outcome(&stage, STEP_DONE, 1, 0);
}

/* It is published before it leads to who calls it. */
static void a_function_enters_another(void **state)
{
	struct stage stage;

	(void)state;
	set_up_second(&stage, false, MIDDLE);
	put_frame(&stage, MIDDLE, SHIM, PYTHON_OWNED_BY_THREAD);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put_top(&stage, FUNCTION, TEXT); /* it has put down where its stack ends, or not */
	assert_outcome(&stage, STEP_DONE, 1, 0);
	push_second(&stage, false, FUNCTION);
	assert_outcome(&stage, STEP_DONE, 1, 0);
}

/* What the interpreter put below an object's __init__(). */
static void a_frame_of_no_function_is_passed_over(void **state)
{
	const u64 none = GARBAGE;
	struct stage stage;

	(void)state;
	set_up_second(&stage, true, MIDDLE);
	put_frame(&stage, MIDDLE, FUNCTION, PYTHON_OWNED_BY_THREAD);
	assert_outcome(&stage, STEP_DONE, 3, 0);
	stage.python.none = none;
	assert_outcome(&stage, STEP_DONE, 3, 0);
	put(&stage, MIDDLE + PYTHON_FRAME_FUNCTION, none);
	assert_outcome(&stage, STEP_DONE, 2, 0);
	stage.python.none = 0; /* not known */
	assert_outcome(&stage, STEP_DONE, 3, 0);
}

/* 3.13 on: a shim is published before it says whose it is. */
static void a_shim_is_known_by_what_it_runs(void **state)
{
	const u64 none = GARBAGE;
	struct stage stage;

	(void)state;
	set_up_second(&stage, true, LEFT_SHIM);
	put(&stage, LEFT_SHIM + stage.python.at.frame_previous, FUNCTION);
	assert_outcome(&stage, STEP_DONE, 2, 0);
	stage.bytes[LEFT_SHIM - BASE + stage.python.at.frame_owner] = 0;
	put(&stage, LEFT_SHIM + stage.python.at.frame_code, none);
	assert_int_equal(walk_all(&stage).end, STEP_FAULT);
	stage.python.none = none;
	assert_outcome(&stage, STEP_DONE, 2, 0);
}

/* What leads to nobody has somebody below it on the stack of frames. */
static void a_function_is_not_linked_yet(void **state)
{
	const u64 before = GARBAGE + 0x100;
	struct stage stage;

	(void)state;
	set_up_second(&stage, true, 0);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put_top(&stage, SECOND, 0); /* nor if it seems to run */
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET);
	/* the first of all, also where the chunk before has no room for it */
	set_up_entry(&stage);
	put(&stage, THREAD + stage.python.at.thread_frame, OUTER);
	put(&stage, THREAD + stage.python.at.thread_top - 8, FUNCTION - 24 - 8);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put(&stage, THREAD + stage.python.at.thread_top - 8, FUNCTION - 24);
	put(&stage, FUNCTION - 24, before);
	put(&stage, before + 16, 1);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put(&stage, before + 16, 2);
	assert_int_equal(walk_all(&stage).functions, 0);
}

/* There was no room for it behind the other. */
static void a_function_enters_another_in_a_new_chunk(void **state)
{
	const u64 before = FUNCTION - 24, chunk = GARBAGE + 0x100, pushed = chunk + 24;
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	put(&stage, THREAD + stage.python.at.thread_frame, OUTER);
	put_cframe(&stage, OUTER, pushed, ROOT);
	put(&stage, before + 16, FRAME_WORDS);
	put(&stage, chunk, before);
	put(&stage, THREAD + stage.python.at.thread_top - 8, chunk);
	put(&stage, THREAD + stage.python.at.thread_top, pushed + 8 * FRAME_WORDS);
	put_frame(&stage, pushed, FUNCTION, PYTHON_OWNED_BY_THREAD);
	put(&stage, pushed + stage.python.at.frame_pc, CODE + stage.python.at.code_bytecode - 2);
	put_top(&stage, FUNCTION, TEXT);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put(&stage, pushed + stage.python.at.frame_previous, MIDDLE);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put(&stage, before + 16, FRAME_WORDS + 1); /* another one lies there */
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET);
}

/* C enters it, and it leads to the shim beside the cframe. */
static void a_linked_function_is_not_sought(void **state)
{
	const u64 shim = INNER + 0x80;
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	push_second(&stage, false, shim);
	stage.bytes[shim - BASE + stage.python.at.frame_owner] = PYTHON_OWNED_BY_C;
	put(&stage, shim + stage.python.at.frame_previous, FUNCTION);
	put_cframe(&stage, INNER, SECOND, OUTER);
	put(&stage, THREAD + stage.python.at.thread_top - 8, 0);
	put(&stage, THREAD + stage.python.at.thread_top, 0);
	assert_outcome(&stage, STEP_DONE, 1, 0);
}

/* A call that makes a generator: what was called is popped before the loop leads to its caller. */
static void what_becomes_a_generator_is_popped(void **state)
{
	struct stage stage;

	(void)state;
	set_up_second(&stage, true, FUNCTION);
	put(&stage, THREAD + stage.python.at.thread_top, SECOND);
	put_top(&stage, FUNCTION, TEXT); /* it has called it */
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put_frame(&stage, frame_of(&stage, MIDDLE), FUNCTION, PYTHON_OWNED_BY_GENERATOR);
	put_top(&stage, frame_of(&stage, MIDDLE), TEXT);
	put(&stage, SECOND + stage.python.at.frame_previous, frame_of(&stage, MIDDLE));
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET); /* no such generator runs */
	put_handling(&stage, MIDDLE, 0);
	assert_outcome(&stage, STEP_DONE, 2, 0);
	put(&stage, SECOND + stage.python.at.frame_previous, MIDDLE);
	assert_outcome(&stage, STEP_FAULT, 0, WALK_TOP_UNSET); /* somebody else called it */
}

/* An entry's shim, which says already what it runs and does not say yet that it is one. */
static void a_shim_is_being_filled(void **state)
{
	const u64 shim = INNER + 0x80;
	struct stage stage;

	(void)state;
	set_up_entry(&stage);
	put_cframe(&stage, INNER, shim, OUTER);
	put_frame(&stage, shim, GARBAGE, PYTHON_OWNED_BY_THREAD);
	assert_outcome(&stage, STEP_DONE, 1, 0);
	put(&stage, shim + stage.python.at.frame_previous, FUNCTION);
	assert_outcome(&stage, STEP_DONE, 1, 0);
}

static int of_3_11(void **state)
{
	(void)state;
	version = 0x030b07f0;
	return 0;
}

static int of_3_12(void **state)
{
	(void)state;
	version = 0x030c01f0;
	return 0;
}

#define OF_3_12(test) cmocka_unit_test_setup(test, of_3_12)
#define OF_BOTH(test) cmocka_unit_test_setup(test, of_3_11), OF_3_12(test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OF_BOTH(what_is_filled_is_walked),
		OF_BOTH(the_root_has_nothing),
		OF_BOTH(nothing_is_left),
		OF_BOTH(what_is_left_is_no_cframe),
		OF_BOTH(a_greenlet_begins),
		OF_3_12(a_shim_is_left),
		OF_BOTH(a_function_calls_it),
		OF_3_12(a_generator_calls_it),
		OF_BOTH(a_function_of_a_generator_calls_it),
		OF_3_12(what_ends_elsewhere_is_not_the_last),
		OF_BOTH(another_languages_generator_is_no_frame),
		OF_BOTH(c_enters_a_function),
		OF_BOTH(c_enters_a_function_for_a_generator),
		OF_BOTH(c_enters_a_generator),
		OF_BOTH(c_leaves_a_function),
		OF_3_12(c_leaves_what_a_functions_end_calls),
		cmocka_unit_test_setup(who_is_found_has_its_own_place, of_3_11),
		OF_BOTH(what_was_popped_does_not_run),
		OF_BOTH(what_has_run_nothing_calls_nobody),
		OF_BOTH(what_another_has_its_stack_in_does_not_run),
		OF_BOTH(a_function_enters_another),
		cmocka_unit_test_setup(a_function_is_not_linked_yet, of_3_11),
		OF_3_12(a_frame_of_no_function_is_passed_over),
		OF_3_12(a_shim_is_known_by_what_it_runs),
		OF_3_12(a_function_enters_another_in_a_new_chunk),
		OF_3_12(a_linked_function_is_not_sought),
		OF_BOTH(what_becomes_a_generator_is_popped),
		OF_3_12(a_shim_is_being_filled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
