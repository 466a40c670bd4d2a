/* SPDX-License-Identifier: Apache-2.0
 * threads.c - thread lists of real processes: names, and tids in two pid namespaces. */
#include "target/target.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "child.h"

static const char *const names[] = { "worker 1", "e;\n) R 1", "\xc3\xa9\xff", "fifteen bytes!!" };
enum { WORKERS = COUNT_OF(names) };

struct worker {
	struct child *child;
	const char *name;
};

/* Says its tid as it sees itself. */
static void *work(void *arg)
{
	struct worker *worker = arg;

	pthread_setname_np(pthread_self(), worker->name);
	child_say_number(worker->child, syscall(SYS_gettid));
	for (;;)
		pause();
	return NULL;
}

static void start_workers(struct child *child)
{
	struct worker workers[WORKERS];
	pthread_t threads[WORKERS];

	for (u32 i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){ child, names[i] };
		pthread_create(&threads[i], NULL, work, &workers[i]);
	}
	child_wait(child);
}

static const struct target_thread *named(const target_threads *threads, const char *name)
{
	for (u32 i = 0; i < threads->count; i++)
		if (strcmp(threads->at[i].comm, name) == 0)
			return &threads->at[i];
	return NULL;
}

static bool contains(const long *tids, long tid)
{
	for (u32 i = 0; i < WORKERS; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

static void check_workers(pid_t (*fork_fn)(void), bool nested)
{
	struct child child;
	struct target target;
	target_threads threads = { 0 };
	long tids[WORKERS];

	child_start_with(&child, start_workers, fork_fn);
	for (u32 i = 0; i < WORKERS; i++)
		tids[i] = child_hear_number(&child);
	assert_true(target_open(&target, (u32)child.pid, NULL));
	assert_int_equal(target.nested, nested);
	assert_true(target_read_threads(&target, &threads, NULL));
	assert_int_equal(threads.count, WORKERS + 1);
	for (u32 i = 0; i < WORKERS; i++) {
		const struct target_thread *thread = named(&threads, names[i]);
		assert_non_null(thread);
		assert_true(contains(tids, thread->inner_tid));
		assert_int_equal(thread->inner_tid == thread->tid, !nested);
	}
	/* A second read replaces the first. */
	assert_true(target_read_threads(&target, &threads, NULL));
	assert_int_equal(threads.count, WORKERS + 1);
	child_end(&child);
	struct err err = { 0 };
	assert_false(target_read_threads(&target, &threads, &err));
	assert_int_equal(err.code, ERR_NO_PROCESS);
	vec_free(&threads);
	target_close(&target);
}

static void threads_have_their_names(void **state)
{
	(void)state;
	check_workers(fork, false);
}

static pid_t fork_into_pid_namespace(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void inner_tids_are_those_that_the_threads_see(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	check_workers(fork_into_pid_namespace, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_their_names),
		cmocka_unit_test(inner_tids_are_those_that_the_threads_see),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
