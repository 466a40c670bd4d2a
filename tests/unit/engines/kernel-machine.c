/* SPDX-License-Identifier: Apache-2.0
 * kernel-machine.c - the word by which a thread finds its thread of the VM. */
#include "unit/memory.h"

#include "engines/kernel/machine.h"

enum {
	BASE = 0x10000,
	SIZE = 0x20000,
	POINTER = 0x18000, /* of the one thread */
	TLS = 0x17000,
	KEYS = 0x20000,
	VM_THREAD = 0x12345678,
};

static struct memory world;

static bool read_world(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	(void)mem;
	return world.mem.read(&world.mem, addr, dst, len, hold);
}

static enum step one_thread(const struct mem *mem, const void *state, u64 *where,
			    struct vm_thread *out)
{
	(void)mem, (void)state;
	if (*where)
		return STEP_DONE;
	*where = 1;
	*out = (struct vm_thread){ .thread = VM_THREAD, .native = POINTER, .tid = 7 };
	return STEP_MORE;
}

static u64 own_word(const struct mem *mem, const void *state, u64 thread)
{
	(void)mem, (void)state;
	return thread;
}

static const struct runtime runtime = { .name = "toy",
					.next_thread = one_thread,
					.own_word = own_word };
static struct attached attached = { .runtime = &runtime };

static void find(struct machine *machine, struct target *target)
{
	struct unwind_space space = { .target = target };
	machine_cache cache = { 0 };
	struct err err = { 0 };

	*target = (struct target){ .mem.mem.read = read_world, .inner_pid = 7 };
	assert_true(machine_find(machine, &attached, &space, &cache, &err));
}

static int begin(void **state)
{
	(void)state;
	memory_init(&world, BASE, SIZE);
	memory_put_u64(&world, POINTER, POINTER);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(world.bytes);
	return 0;
}

static void a_variable_is_in_front_of_the_pointer(void **state)
{
	struct machine machine;
	struct target target;
	(void)state;

	memory_put_u64(&world, POINTER - 64, VM_THREAD);
	find(&machine, &target);
	assert_int_equal(machine.own_word, -64);
	assert_int_equal(machine.keys_at, 0);
	assert_int_equal(machine_word(&machine, &target.mem.mem, POINTER), VM_THREAD);
	assert_false(machine_word_moved(&machine, &target.mem.mem));
}

/* Python's variable is empty while it waits, its key is not. */
static void a_key_stands_rather_than_a_variable_by_way_of_the_dtv(void **state)
{
	struct machine machine;
	struct target target;
	(void)state;

	memory_put_u64(&world, POINTER + 8, TLS);
	memory_put_u64(&world, TLS + 128, VM_THREAD);
	memory_put_u64(&world, POINTER + 128, KEYS);
	memory_put_u64(&world, KEYS + 8, VM_THREAD);
	find(&machine, &target);
	assert_int_equal(machine.keys_at, 128);
	assert_int_equal(machine.key_at, 8);
	memory_put_u64(&world, TLS + 128, 0);
	assert_int_equal(machine_word(&machine, &target.mem.mem, POINTER), VM_THREAD);
}

static void a_forked_childs_key_may_have_another_number(void **state)
{
	struct machine machine;
	struct target target;
	(void)state;

	memory_put_u64(&world, POINTER + 128, KEYS);
	memory_put_u64(&world, KEYS + 8, VM_THREAD);
	find(&machine, &target);
	assert_false(machine_word_moved(&machine, &target.mem.mem));
	/* not made yet, but what else leads to such a word is no key */
	memory_put_u64(&world, KEYS + 8, 0);
	memory_put_u64(&world, POINTER + 64, KEYS + 1024);
	memory_put_u64(&world, KEYS + 1024 + 16, VM_THREAD);
	assert_false(machine_word_moved(&machine, &target.mem.mem));
	assert_int_equal(machine.key_at, 8);
	memory_put_u64(&world, KEYS + 32, VM_THREAD);
	assert_true(machine_word_moved(&machine, &target.mem.mem));
	assert_int_equal(machine.keys_at, 128);
	assert_int_equal(machine.key_at, 32);
	assert_int_equal(machine_word(&machine, &target.mem.mem, POINTER), VM_THREAD);
	assert_false(machine_word_moved(&machine, &target.mem.mem));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_variable_is_in_front_of_the_pointer, begin, end),
		cmocka_unit_test_setup_teardown(
			a_key_stands_rather_than_a_variable_by_way_of_the_dtv, begin, end),
		cmocka_unit_test_setup_teardown(a_forked_childs_key_may_have_another_number, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
