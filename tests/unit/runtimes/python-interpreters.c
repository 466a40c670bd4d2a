/* SPDX-License-Identifier: Apache-2.0
 * python-interpreters.c - a process with more than one interpreter, the newest first. */
#include "check.h"

#include <string.h>

#include "mem/self.h"
#include "runtimes/python/interpreters.h"
#include "runtimes/python/step.h"
#include "runtimes/python/versions.h"
#include "runtimes/runtime.h"

enum { INTERPRETERS = 200, WORDS = 64, VERSION = 0x030c01f0 };

static u64 interpreters[INTERPRETERS][WORDS], threads[2][WORDS], head;

static u64 address(const void *of)
{
	return (u64)(uintptr_t)of;
}

static void put(u64 *words, u32 at, u64 value)
{
	memcpy((u8 *)words + at, &value, sizeof value);
}

/* The oldest, which is the last, has a thread. */
static void make(struct python_state *state)
{
	memset(interpreters, 0, sizeof interpreters);
	memset(threads, 0, sizeof threads);
	*state = (struct python_state){ .version = VERSION, .interpreters = address(&head) };
	assert_true(python_versions_find(state));
	head = address(interpreters[0]);
	for (u32 i = 0; i + 1 < INTERPRETERS; i++)
		put(interpreters[i], state->at.interp_next, address(interpreters[i + 1]));
	put(interpreters[INTERPRETERS - 1], state->at.interp_threads, address(threads[0]));
	put(threads[0], state->at.thread_interp, address(interpreters[INTERPRETERS - 1]));
}

static void those_without_a_thread_are_passed_over(void **unused)
{
	struct python_state state;
	struct vm_thread thread;
	u64 where = 0;

	(void)unused;
	make(&state);
	assert_int_equal(python_next_thread(&mem_self, &state, &where, &thread), STEP_MORE);
	assert_int_equal(thread.thread, address(threads[0]));
	assert_int_equal(python_next_thread(&mem_self, &state, &where, &thread), STEP_DONE);

	/* and between two that have some */
	put(interpreters[0], state.at.interp_threads, address(threads[1]));
	put(threads[1], state.at.thread_interp, address(interpreters[0]));
	where = 0;
	assert_int_equal(python_next_thread(&mem_self, &state, &where, &thread), STEP_MORE);
	assert_int_equal(thread.thread, address(threads[1]));
	assert_int_equal(python_next_thread(&mem_self, &state, &where, &thread), STEP_MORE);
	assert_int_equal(thread.thread, address(threads[0]));
}

extern const struct runtime python_runtime;

static void each_may_have_a_lock_of_its_own(void **unused)
{
	static u64 locks[3][WORDS];
	struct python_state state;

	(void)unused;
	make(&state);
	assert_true(python_first_interp(&mem_self, &state, &state.main));
	assert_int_equal(state.main, address(interpreters[INTERPRETERS - 1]));
	state.gil = address(locks[0]);
	put(interpreters[3], state.at.interp_gil, address(locks[1]));
	for (u32 i = 0; i < 2; i++)
		assert_true(python_runtime.is_lock(&mem_self, &state, address(&locks[i][4])));
	assert_false(python_runtime.is_lock(&mem_self, &state, address(&locks[2][4])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_may_have_a_lock_of_its_own),
		cmocka_unit_test(those_without_a_thread_are_passed_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
