/* SPDX-License-Identifier: Apache-2.0
 * python-tasks.c - a task of 3.11 with a chain of coroutines, one awaiting the next. */
#include "unit/memory.h"

#include "runtimes/python/step.h"
#include "runtimes/python/tasks.h"
#include "runtimes/python/versions.h"

enum {
	BASE = 0x100000,
	TASK = BASE + 0x1000,
	TYPE = BASE + 0x2000,
	NAME = BASE + 0x2100,
	CODE = BASE + 0x3000,
	TEXT = BASE + 0x4000,
	COROUTINES = BASE + 0x10000,
	APART = 256,
	MOST = 6000,
	KEPT = 4096,
};

static struct python_state make(struct memory *memory, u32 count)
{
	struct python_state state = { .version = 0x030b07f0, .tasks = { .coro = 112 } };
	const struct python_layout *at = &state.at;

	memory_init(memory, BASE, COROUTINES - BASE + (MOST + 1) * APART);
	assert_true(python_versions_find(&state));
	memory_put_u64(memory, TASK + state.tasks.coro, COROUTINES);
	memory_put_u64(memory, TYPE + 24, NAME);
	memory_put(memory, NAME, "coroutine", 10);
	memory_put_u64(memory, CODE + at->code_filename, TEXT);
	memory_put_u64(memory, CODE + at->code_qualname, TEXT);
	memory_put_u64(memory, CODE + at->code_lines, TEXT);
	for (u32 i = 0; i < count; i++) {
		u64 coroutine = COROUTINES + i * APART, frame = coroutine + at->gen_frame;
		memory_put_u64(memory, coroutine + 8, TYPE);
		memory_put_u64(memory, frame + at->frame_code, CODE);
		memory_put_u64(memory, frame + at->frame_pc, CODE + at->code_bytecode);
		memory_put_u32(memory, frame + at->frame_top, 1);
		if (i + 1 < count)
			memory_put_u64(memory, frame + at->frame_locals, coroutine + APART);
	}
	return state;
}

struct seen {
	struct frame frames[MOST];
	u32 count;
};

static bool add(void *arg, const struct frame *frame)
{
	struct seen *seen = arg;

	seen->frames[seen->count++] = *frame;
	return true;
}

/* Which coroutine of the chain has this frame? */
static u32 number_of(const struct python_state *state, const struct frame *frame)
{
	return (u32)((frame->at - state->at.gen_frame - COROUTINES) / APART);
}

static void every_coroutine_is_there(void **unused)
{
	static struct seen seen;
	struct memory memory;
	struct python_state state = make(&memory, 3000);

	(void)unused;
	seen.count = 0;
	assert_int_equal(python_runtime_tasks.walk(&memory.mem, &state, TASK, false, add, &seen),
			 TASK_WAITS);
	assert_int_equal(seen.count, 3001);
	for (u32 i = 0; i < 3000; i++)
		assert_int_equal(number_of(&state, &seen.frames[i]), 2999 - i);
	assert_int_equal(seen.frames[3000].pos, FRAME_POS_TASK);
	free(memory.bytes);
}

/* The leaf is there, and the mark is where some are not. */
static void of_very_many_the_innermost_are(void **unused)
{
	static struct seen seen;
	struct memory memory;
	struct python_state state = make(&memory, MOST);

	(void)unused;
	seen.count = 0;
	assert_int_equal(python_runtime_tasks.walk(&memory.mem, &state, TASK, false, add, &seen),
			 TASK_WAITS);
	assert_int_equal(seen.count, KEPT + 2);
	for (u32 i = 0; i < KEPT; i++)
		assert_int_equal(number_of(&state, &seen.frames[i]), MOST - 1 - i);
	assert_int_equal(seen.frames[KEPT].kind, FRAME_MARK);
	assert_int_equal(seen.frames[KEPT].id, MARK_TRUNCATED);
	assert_int_equal(seen.frames[KEPT + 1].pos, FRAME_POS_TASK);
	free(memory.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_coroutine_is_there),
		cmocka_unit_test(of_very_many_the_innermost_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
