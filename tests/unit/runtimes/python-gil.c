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
	IDLE = BASE + 0x1040,
	OBJECT = BASE + 0x1080,
	ZEROS = BASE + 0x10c0,
	VARIABLE = HOLDER + 0x1158, /* Debian's 2.7.18 */
	/* far from the variables; words of a thread: the next, its interpreter, its pthread; of that: its first thread, the next */
	INTERPRETERS = BASE + 0x0100,
	MAIN = BASE + 0x0140,
	THREAD = BASE + 0x0180,
	OTHER_THREAD = BASE + 0x01c0,
};

static const struct python_layout layout = { .thread_next = 0,
					     .thread_interp = 8,
					     .thread_native = 16,
					     .interp_threads = 0,
					     .interp_next = 8 };

/* A Python 2.7 with two threads and four locks, or what looks like one. */
static struct python_state make(struct memory *memory)
{
	memory_init(memory, BASE, BYTES);
	memory_put_u64(memory, LOCK, 3ull << 32); /* three wait */
	memory_put_u64(memory, IDLE, 1);
	memory_put_u64(memory, OBJECT, 7);
	for (u32 i = 0; i < 3; i++)
		memory_put_u64(memory, HOLDER - 8 * i, (u64[]){ IDLE, OBJECT, ZEROS }[i]);
	memory_put_u64(memory, INTERPRETERS, MAIN);
	memory_put_u64(memory, MAIN, THREAD);
	memory_put_u64(memory, THREAD, OTHER_THREAD);
	memory_put_u64(memory, THREAD + 8, MAIN);
	memory_put_u64(memory, OTHER_THREAD + 8, MAIN);
	return (struct python_state){
		.version = 0x020712f0, .holder = HOLDER, .interpreters = INTERPRETERS, .at = layout
	};
}

static void the_lock_of_2_is_waited_for(void **unused)
{
	struct memory memory;
	struct python_state state = make(&memory);

	(void)unused;
	python_find_gil(&memory.mem, &state);
	assert_int_equal(state.gil, 0); /* no thread was ever begun */
	assert_false(python_is_gil(&memory.mem, &state, LOCK));
	memory_put_u64(&memory, VARIABLE, LOCK);
	memory_put_u64(&memory, THREAD, 0); /* nobody is there who could wait */
	python_find_gil(&memory.mem, &state);
	assert_int_equal(state.gil, 0);
	memory_put_u64(&memory, THREAD, OTHER_THREAD);
	python_find_gil(&memory.mem, &state);
	assert_int_equal(state.gil, LOCK);
	assert_true(python_is_gil(&memory.mem, &state, LOCK));
	assert_false(python_is_gil(&memory.mem, &state, IDLE));
	free(memory.bytes);
}

static void of_two_it_is_neither(void **unused)
{
	struct memory memory;
	struct python_state state = make(&memory);

	(void)unused;
	memory_put_u64(&memory, IDLE, 1ull << 32);
	memory_put_u64(&memory, VARIABLE, LOCK);
	python_find_gil(&memory.mem, &state);
	assert_int_equal(state.gil, 0);
	/* but who waits for one of them by now waits for it */
	assert_true(python_is_gil(&memory.mem, &state, LOCK));
	assert_false(python_is_gil(&memory.mem, &state, LOCK + 0x100));
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
	make(&memory);
	assert_true(python_is_gil(&memory.mem, &old, HOLDER - 0x43c4)); /* gil_cond in 3.6.15 */
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
		cmocka_unit_test(the_lock_of_2_is_waited_for),
		cmocka_unit_test(of_two_it_is_neither),
		cmocka_unit_test(newer_ones_have_it_in_a_known_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
