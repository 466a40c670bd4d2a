/* SPDX-License-Identifier: Apache-2.0
 * python-gil.c - which futexes are the GIL. */
#include "unit/memory.h"

#include "runtimes/python/gil.h"
#include "runtimes/python/step.h"

enum {
	BASE = 0x100000,
	BYTES = 0x10000,
	HOLDER = BASE + 0x8000,
	LOCK = BASE + 0x1000,
	OTHER_LOCK = BASE + 0x1040,
	VARIABLE = BASE + 0x2000,
};

static void the_lock_of_2_is_where_its_variable_leads(void **unused)
{
	struct memory memory;
	struct python_state state = { .version = 0x020712f0, .holder = HOLDER, .gil = VARIABLE };

	(void)unused;
	memory_init(&memory, BASE, BYTES);
	assert_false(python_is_gil(&memory.mem, &state, 0)); /* no thread was ever begun */
	assert_false(python_is_gil(&memory.mem, &state, LOCK));
	memory_put_u64(&memory, VARIABLE, LOCK);
	assert_true(python_is_gil(&memory.mem, &state, LOCK));
	assert_true(python_is_gil(&memory.mem, &state, LOCK + 4));
	assert_false(python_is_gil(&memory.mem, &state, OTHER_LOCK));
	memory_put_u64(&memory, VARIABLE,
		       OTHER_LOCK); /* a child that was forked has made another */
	assert_true(python_is_gil(&memory.mem, &state, OTHER_LOCK));
	assert_false(python_is_gil(&memory.mem, &state, LOCK));
	state.gil = 0; /* its code was not understood */
	assert_false(python_is_gil(&memory.mem, &state, OTHER_LOCK));
	free(memory.bytes);
}

static void newer_ones_have_it_in_a_known_place(void **unused)
{
	struct memory memory;
	struct python_state old = { .version = 0x03060ff0, .holder = HOLDER };
	struct python_state middle = { .version = 0x030b02f0,
				       .runtime = BASE,
				       .holder = BASE + 576 };
	struct python_state late = { .version = 0x030c01f0, .runtime = BASE, .gil = LOCK };

	(void)unused;
	memory_init(&memory, BASE, BYTES);
	assert_true(python_is_gil(&memory.mem, &old, HOLDER - 0x43c4));  /* gil_cond in 3.6.15 */
	assert_true(python_is_gil(&memory.mem, &old, HOLDER + 0x2a2f8)); /* in 3.6.5 with LTO */
	assert_false(python_is_gil(&memory.mem, &old, HOLDER + (1 << 20)));
	assert_true(python_is_gil(&memory.mem, &middle, BASE + 400));
	assert_false(python_is_gil(&memory.mem, &middle, BASE + 4000));
	assert_true(python_is_gil(&memory.mem, &late, LOCK + 24));
	assert_false(python_is_gil(&memory.mem, &late, BASE + 400));
	free(memory.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lock_of_2_is_where_its_variable_leads),
		cmocka_unit_test(newer_ones_have_it_in_a_known_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
