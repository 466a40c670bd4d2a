/* SPDX-License-Identifier: Apache-2.0
 * kernel.c - the parts of the kernel engine that need no kernel. */
#include "check.h"

#include <string.h>
#include <unistd.h>

#include "engines/kernel/walk_on.h"
#include "engines/kernel/watched.h"

static void a_walk_goes_on_in_its_piece_of_stack_only(void **unused)
{
	static struct kernel_rest rest;
	struct walk_on on;
	u64 word;

	(void)unused;
	rest.walk.sp = 0x7000;
	rest.stack[8] = 42;
	walk_on_begin(&on, &rest, offsetof(struct kernel_rest, stack) + 16);
	assert_true(on.walk.sp == 0x7000);
	assert_true(mem_read(&on.mem, 0x7008, &word, 8));
	assert_int_equal(word, 42);
	assert_false(mem_read(&on.mem, 0x6fff, &word, 1));
	assert_false(mem_read(&on.mem, 0x7009, &word, 8));
	assert_false(mem_read(&on.mem, 0x7010, &word, 1));
	assert_false(mem_read(&on.mem, UINT64_MAX, &word, 8));
	/* no stack came with it, or less than the walk itself */
	walk_on_begin(&on, &rest, offsetof(struct kernel_rest, stack));
	assert_false(mem_read(&on.mem, 0x7000, &word, 1));
	walk_on_begin(&on, &rest, 3);
	assert_false(mem_read(&on.mem, 0x7000, &word, 1));
}

static void threads_are_found_by_tid_and_forgotten(void **unused)
{
	static const u32 tids[] = { 50, 10, 40, 20, 30, 20 };
	struct unwind_files files = { 0 };
	struct watched *process = watched_new(1, NULL, 1, &files);

	(void)unused;
	assert_non_null(process);
	for (u32 i = 0; i < COUNT_OF(tids); i++)
		watched_thread(process, tids[i])->runtime_ns = tids[i];
	assert_int_equal(process->threads.count, 5);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(process->threads.at[i].tid, 10 * (i + 1));
	struct watched_thread *before = watched_thread(process, 30);
	u32 life = before->life;
	watched_forget_thread(process, before);
	assert_int_equal(process->threads.count, 4);
	/* its number again: another thread */
	struct watched_thread *after = watched_thread(process, 30);
	assert_int_equal(after->runtime_ns, 0);
	assert_int_not_equal(after->life, life);
	assert_int_equal(watched_thread(process, 40)->runtime_ns, 40);
	watched_free(process);
}

/* A child that has ended before anybody looked has its parent's code and names. */
static void a_fork_has_what_its_parent_has(void **unused)
{
	struct unwind_files files = { 0 };
	struct target target;
	struct err err = { 0 };
	u64 here = (u64)(uintptr_t)a_fork_has_what_its_parent_has;

	(void)unused;
	assert_true(target_open(&target, (u32)getpid(), &err));
	struct watched *parent = watched_new(target.pid, &target, 1, &files);
	assert_non_null(parent);
	assert_true(watched_read_maps(parent, &err));
	parent->space_number = 7;
	const struct unwind_range *range = unwind_space_at(&parent->space, here);
	assert_non_null(range);
	/* there is no such process: pids end at 2^22 */
	struct watched *child = watched_fork(parent, 1 << 30, 12345, 2);
	assert_non_null(child);
	const struct unwind_range *same = unwind_space_at(&child->space, here);
	assert_non_null(same);
	assert_ptr_equal(same->file, range->file);
	assert_int_equal(child->space_number, 7);
	assert_int_equal(child->target->pid, 1 << 30);
	assert_int_equal(child->target->maps.all.count, target.maps.all.count);
	assert_string_equal(child->target->comm, target.comm);
	/* and behind an exec nothing of it */
	watched_exec(child, 3);
	assert_null(unwind_space_at(&child->space, here));
	assert_false(watched_read_maps(child, &err));
	watched_free(child);
	watched_free(parent);
	unwind_files_free(&files);
	target_close(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_goes_on_in_its_piece_of_stack_only),
		cmocka_unit_test(threads_are_found_by_tid_and_forgotten),
		cmocka_unit_test(a_fork_has_what_its_parent_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
