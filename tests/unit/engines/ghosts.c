/* SPDX-License-Identifier: Apache-2.0
 * ghosts.c - what is kept of a process that nobody could look at, and for how long. */
#include "check.h"

#include "engines/reader/ghosts.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { PROGRAM = 7, NOW = 1000 };

static const struct runtime nothing = { .name = "nothing" };

static struct reader_process *parent_with_runtime(void)
{
	struct reader_process *parent = process_new(NULL, PROGRAM);
	struct attached *attached = calloc(1, sizeof *attached);

	assert_non_null(parent);
	assert_non_null(attached);
	attached->runtime = &nothing;
	attached->state[0] = 42;
	assert_true(vec_push(&parent->attached, attached));
	return parent;
}

/* A number that was a process's a moment ago. */
static u32 dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return (u32)pid;
}

static void a_grandchild_begins_as_its_grandparent(void **state)
{
	struct reader_process *parent = parent_with_runtime();
	struct ghosts ghosts = { 0 };
	u32 pid = dead_pid();
	struct err err = { 0 };

	(void)state;
	struct reader_process *middle = process_fork(parent, pid, 8);
	assert_false(process_open(middle, &err));
	assert_int_equal(err.code, ERR_NO_PROCESS);
	ghosts_keep(&ghosts, middle, NOW);
	process_free(parent);

	assert_ptr_equal(ghosts_find(&ghosts, pid), middle);
	struct reader_process *child = process_fork(middle, pid + 1, 9);
	ghosts_drop(&ghosts, pid);
	assert_null(ghosts_find(&ghosts, pid));
	assert_int_equal(child->program, PROGRAM);
	assert_int_equal(child->attached.count, 1);
	assert_int_equal(child->attached.at[0]->state[0], 42);
	assert_true(child->born_here);
	process_free(child);
	ghosts_free(&ghosts);
}

static void after_an_exec_nothing_is_left_to_inherit(void **state)
{
	struct reader_process *parent = parent_with_runtime();
	struct ghosts ghosts = { 0 };
	u32 pid = dead_pid();

	(void)state;
	ghosts_keep(&ghosts, process_fork(parent, pid, 8), NOW);
	struct reader_process *middle = ghosts_take(&ghosts, pid);
	assert_false(process_exec(middle, 9, NULL));
	ghosts_keep(&ghosts, middle, NOW);
	struct reader_process *child = process_fork(middle, pid + 1, 10);
	assert_int_equal(child->attached.count, 0);
	assert_false(child->starting);
	assert_int_equal(child->program, 9);
	process_free(child);
	process_free(parent);
	ghosts_free(&ghosts);
}

static void a_number_that_is_used_again_is_one_ghost(void **state)
{
	struct ghosts ghosts = { 0 };
	u32 pid = dead_pid();
	struct reader_process *parent = parent_with_runtime();

	(void)state;
	ghosts_keep(&ghosts, process_fork(parent, pid, 8), NOW);
	ghosts_keep(&ghosts, process_fork(parent, pid, 9), NOW);
	assert_int_equal(ghosts.all.count, 1);
	assert_int_equal(ghosts.kept, 2);
	assert_int_equal(ghosts_find(&ghosts, pid)->incarnation, 9);
	assert_null(ghosts_take(&ghosts, pid + 1));
	process_free(parent);
	ghosts_free(&ghosts);
}

static void one_whose_exit_was_lost_goes_after_a_second(void **state)
{
	struct reader_process *parent = parent_with_runtime();
	struct ghosts ghosts = { 0 };
	u32 dead = dead_pid(), alive = (u32)getpid();

	(void)state;
	ghosts_keep(&ghosts, process_fork(parent, dead, 8), NOW);
	ghosts_keep(&ghosts, process_fork(parent, alive, 9), NOW);
	ghosts_expire(&ghosts, NOW + NS_PER_S - 1);
	assert_int_equal(ghosts.all.count, 2);
	ghosts_expire(&ghosts, NOW + NS_PER_S);
	assert_null(ghosts_find(&ghosts, dead));
	assert_non_null(ghosts_find(&ghosts, alive));
	process_free(parent);
	ghosts_free(&ghosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_grandchild_begins_as_its_grandparent),
		cmocka_unit_test(after_an_exec_nothing_is_left_to_inherit),
		cmocka_unit_test(a_number_that_is_used_again_is_one_ghost),
		cmocka_unit_test(one_whose_exit_was_lost_goes_after_a_second),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
