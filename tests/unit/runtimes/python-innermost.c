/* SPDX-License-Identifier: Apache-2.0
 * python-cframe.c - 3.11 and 3.12 publish a cframe before they fill it: what the thread runs meanwhile.
 *
 * A thread at THREAD, whose C stack holds one cframe that is filled, and one for which C has just been entered. */
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
};

struct stage {
	struct mem mem;
	struct python_state python;
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
static void set_up(struct stage *stage, u32 version)
{
	const struct python_layout *at = &stage->python.at;

	memset(stage, 0, sizeof *stage);
	stage->mem.read = stage_read;
	stage->python.version = version;
	assert_true(python_versions_find(&stage->python));
	put(stage, THREAD + at->thread_interp, INTERP);
	put(stage, THREAD + at->thread_frame, OUTER);
	put_cframe(stage, OUTER, FUNCTION, ROOT);
	put(stage, FUNCTION + at->frame_code, CODE);
	put(stage, FUNCTION + at->frame_pc, CODE + at->code_bytecode);
	if (stage->python.facts & PYTHON_HAS_SHIMS) {
		put(stage, FUNCTION + at->frame_previous, SHIM);
		stage->bytes[SHIM - BASE + at->frame_owner] = PYTHON_OWNED_BY_C;
		stage->bytes[LEFT_SHIM - BASE + at->frame_owner] = PYTHON_OWNED_BY_C;
	}
	put(stage, CODE + at->code_filename, TEXT);
	put(stage, CODE + at->code_qualname, TEXT);
	put(stage, CODE + at->code_lines, TEXT);
}

struct outcome {
	enum step end;
	u32 flags, functions;
};

static struct outcome walk_all(struct stage *stage)
{
	struct outcome out = { 0 };
	struct walk walk;

	out.end = python_begin(&stage->mem, &stage->python, THREAD, &walk);
	for (u32 i = 0; step_goes_on(out.end) && i < 16; i++) {
		struct frame frame = { 0 };
		out.end = python_step(&stage->mem, &stage->python, &walk, &frame);
		if (out.end != STEP_MORE)
			continue;
		assert_int_equal(frame.at, FUNCTION);
		out.functions++;
	}
	out.flags = walk.flags & WALK_TOP_UNSET;
	return out;
}

static void assert_outcome(struct stage *stage, enum step end, u32 functions, u32 flags)
{
	struct outcome out = walk_all(stage);

	assert_int_equal(out.end, end);
	assert_int_equal(out.functions, functions);
	assert_int_equal(out.flags, flags);
}

static const u32 versions[] = { 0x030b07f0, 0x030c01f0 };

static void what_is_filled_is_walked(void **state)
{
	struct stage stage;

	(void)state;
	for (u32 v = 0; v < COUNT_OF(versions); v++) {
		set_up(&stage, versions[v]);
		assert_outcome(&stage, STEP_DONE, 1, 0);
	}
}

static void the_root_has_nothing(void **state)
{
	struct stage stage;

	(void)state;
	for (u32 v = 0; v < COUNT_OF(versions); v++) {
		set_up(&stage, versions[v]);
		put(&stage, THREAD + stage.python.at.thread_frame, ROOT);
		assert_outcome(&stage, STEP_EMPTY, 0, 0);
	}
}

/* Nothing lies there yet: the thread stands outside of it. */
static void nothing_is_left(void **state)
{
	struct stage stage;

	(void)state;
	for (u32 v = 0; v < COUNT_OF(versions); v++) {
		set_up(&stage, versions[v]);
		put(&stage, THREAD + stage.python.at.thread_frame, INNER);
		put_cframe(&stage, INNER, 0, OUTER);
		assert_outcome(&stage, STEP_DONE, 1, WALK_TOP_UNSET);
		put_cframe(&stage, INNER, 0, 0); /* not its caller either: nobody knows */
		assert_outcome(&stage, STEP_FAULT, 0, 0);
	}
}

/* A shim that an earlier call left, behind which nothing comes. */
static void a_shim_is_left(void **state)
{
	struct stage stage;

	(void)state;
	set_up(&stage, versions[1]);
	put(&stage, THREAD + stage.python.at.thread_frame, INNER);
	put_cframe(&stage, INNER, LEFT_SHIM, OUTER);
	assert_outcome(&stage, STEP_DONE, 1, WALK_TOP_UNSET);
	put_cframe(&stage, INNER, LEFT_SHIM,
		   ROOT); /* the first entry of all: there is no function yet */
	assert_outcome(&stage, STEP_DONE, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_filled_is_walked),
		cmocka_unit_test(the_root_has_nothing),
		cmocka_unit_test(nothing_is_left),
		cmocka_unit_test(a_shim_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
