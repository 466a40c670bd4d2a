/* SPDX-License-Identifier: Apache-2.0
 * python-threads.c - what a thread is asked beside its frames: does it raise, does it collect; and where its frames end. */
#include "unit/memory.h"

#include "runtimes/python/step.h"
#include "runtimes/python/versions.h"

enum {
	BASE = 0x100000,
	BYTES = 0x10000,
	THREAD = BASE + 0x1000,
	INTERP = BASE + 0x2000,
	NONE = BASE + 0x3000,
	CODE = BASE + 0x4000,
	TEXT = BASE + 0x5000,
	FRAME = BASE + 0x6000,
	RUNTIME = BASE + 0x7000,
	ITEMS = BASE + 0x8000,
	GENERATORS = 600,
};

static struct python_state make(struct memory *memory, u32 version)
{
	struct python_state state = { .version = version, .runtime = RUNTIME, .none = NONE };

	memory_init(memory, BASE, BYTES);
	assert_true(python_versions_find(&state));
	memory_put_u64(memory, THREAD + state.at.thread_interp, INTERP);
	return state;
}

/* A handler runs generators, each of which runs the next. */
static void a_handler_is_below_any_number_of_generators(void **unused)
{
	struct memory memory;
	struct python_state state = make(&memory, 0x030b07f0);

	(void)unused;
	memory_put_u64(&memory, THREAD + state.at.thread_handling, ITEMS);
	for (u32 i = 0; i < GENERATORS; i++) {
		memory_put_u64(&memory, ITEMS + 16 * i, NONE);
		memory_put_u64(&memory, ITEMS + 16 * i + state.at.handled_previous,
			       ITEMS + 16 * (i + 1));
	}
	assert_false(python_raises(&memory.mem, &state, THREAD));
	memory_put_u64(&memory, ITEMS + 16 * GENERATORS, TEXT);
	assert_true(python_raises(&memory.mem, &state, THREAD));
	/* what leads back to itself ends */
	memory_put_u64(&memory, ITEMS + state.at.handled_previous, ITEMS);
	assert_false(python_raises(&memory.mem, &state, THREAD));
	free(memory.bytes);
}

static u32 flags_of(const struct memory *memory, const struct python_state *state)
{
	struct walk walk;

	(void)python_begin(&memory->mem, state, THREAD, &walk);
	return walk.flags & WALK_GC;
}

static void who_collects_has_the_lock_if_there_is_one(void **unused)
{
	struct memory memory;
	struct python_state state = make(&memory, 0x030b07f0);

	(void)unused;
	state.holder = RUNTIME + state.at.runtime_holder;
	memory_put_u32(&memory, INTERP + state.at.interp_collecting, 1);
	assert_false(flags_of(&memory, &state));
	memory_put_u64(&memory, state.holder, THREAD);
	assert_true(flags_of(&memory, &state));
	memory_put_u64(&memory, state.holder, 0);
	state.facts |= PYTHON_FREE_THREADED;
	assert_true(flags_of(&memory, &state));
	memory_put_u32(&memory, INTERP + state.at.interp_collecting, 0);
	assert_false(flags_of(&memory, &state));
	free(memory.bytes);
}

/* From 3.13 on nobody asks for the flags of code, and at their place in no object there is a reference count. */
static void references_are_no_flags(void **unused)
{
	struct memory memory;
	struct python_state state = make(&memory, 0x030c01f0);
	struct walk walk;
	struct frame frame;

	(void)unused;
	state.at.code_flags = state.at.thread_top = 0;
	state.facts &= ~(u32)PYTHON_HAS_CFRAME;
	memory_put_u64(&memory, THREAD + state.at.thread_frame, FRAME);
	memory_put_u64(&memory, FRAME + state.at.frame_code, CODE);
	memory_put_u64(&memory, FRAME + state.at.frame_pc, CODE + state.at.code_bytecode);
	memory_put_u64(&memory, CODE, PYTHON_CODE_GENERATOR);
	memory_put_u64(&memory, CODE + state.at.code_filename, TEXT);
	memory_put_u64(&memory, CODE + state.at.code_qualname, TEXT);
	memory_put_u64(&memory, CODE + state.at.code_lines, TEXT);
	assert_int_equal(python_begin(&memory.mem, &state, THREAD, &walk), STEP_MORE);
	assert_int_equal(python_step(&memory.mem, &state, &walk, &frame), STEP_MORE);
	assert_int_equal(python_step(&memory.mem, &state, &walk, &frame), STEP_DONE);
	free(memory.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handler_is_below_any_number_of_generators),
		cmocka_unit_test(who_collects_has_the_lock_if_there_is_one),
		cmocka_unit_test(references_are_no_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
