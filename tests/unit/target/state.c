/* SPDX-License-Identifier: Apache-2.0
 * state.c - what real threads do, told in two ways that must agree. */
#include "target/target.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "child.h"

static void spin(struct child *child)
{
	child_say(child, 'r');
	for (volatile u64 turns = 0;; turns++)
		;
}

/* While its vfork child lives the parent sleeps uninterruptibly. By clone, because vfork() shares
 * the memory, and the child could not call anything. */
static void wait_for_vfork(struct child *child)
{
	if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
		child_die_with(child->pid);
		for (;;)
			pause();
	}
}

struct fixture {
	struct child child;
	struct target target;
	struct thread_probe probe;
};

static void start(struct fixture *fixture, child_fn *fn)
{
	child_start(&fixture->child, fn);
	child_hear(&fixture->child);
	assert_true(target_open(&fixture->target, (u32)fixture->child.pid, NULL));
	assert_true(thread_probe_open(&fixture->probe, &fixture->target, fixture->target.pid));
}

static void end(struct fixture *fixture)
{
	thread_probe_close(&fixture->probe);
	target_close(&fixture->target);
	child_end(&fixture->child);
}

static enum thread_run_state probe_state(struct fixture *fixture)
{
	struct switches_moment moment = { .at_ns = clock_now_ns(), .woke_ns = UINT64_MAX };

	return thread_probe_state(&fixture->probe, &fixture->target, &moment, false);
}

/* Both ways come to say `want`, and then agree. */
static void comes_to(struct fixture *fixture, enum thread_run_state want)
{
	struct patience patience = { 0 };

	while (target_thread_state(&fixture->target, fixture->target.pid) != want)
		wait_a_little(&patience);
	while (probe_state(fixture) != want)
		wait_a_little(&patience);
}

static void sleeping_stopped_and_gone(void **state)
{
	struct fixture fixture;
	(void)state;

	start(&fixture, child_idle);
	comes_to(&fixture, THREAD_SLEEPING);
	comes_to(&fixture, THREAD_SLEEPING); /* now from schedstat alone */
	kill(fixture.child.pid, SIGSTOP);
	comes_to(&fixture, THREAD_STOPPED);
	kill(fixture.child.pid, SIGCONT);
	comes_to(&fixture, THREAD_SLEEPING);
	kill(fixture.child.pid, SIGKILL);
	comes_to(&fixture, THREAD_GONE);
	end(&fixture);
}

static void a_running_thread_runs(void **state)
{
	struct fixture fixture;
	(void)state;

	start(&fixture, spin);
	for (u32 i = 0; i < 100; i++) {
		assert_int_equal(target_thread_state(&fixture.target, fixture.target.pid),
				 THREAD_RUNNING);
		comes_to(&fixture, THREAD_RUNNING); /* at times it waits for a CPU */
	}
	assert_int_equal(target_thread_state(&fixture.target, 1),
			 THREAD_GONE); /* no thread of its */
	end(&fixture);
}

static void sleep_then_spin(struct child *child)
{
	child_idle(child);
	spin(child);
}

/* The shortcut must not outlive the sleep that it was taken from. */
static void a_sleeper_that_wakes_is_seen_to_run(void **state)
{
	struct fixture fixture;
	(void)state;

	start(&fixture, sleep_then_spin);
	comes_to(&fixture, THREAD_SLEEPING);
	comes_to(&fixture, THREAD_SLEEPING);
	child_tell(&fixture.child);
	child_hear(&fixture.child);
	comes_to(&fixture, THREAD_RUNNING);
	end(&fixture);
}

static void sleep_twice(struct child *child)
{
	child_idle(child);
	child_idle(child);
}

/* Each sleep is told apart, and a thread that runs has not slept. */
static void a_watched_sleeper_has_slept_until_it_wakes(void **state)
{
	struct fixture fixture;
	struct patience patience = { 0 };
	(void)state;

	start(&fixture, sleep_twice);
	comes_to(&fixture, THREAD_SLEEPING);
	if (!thread_probe_watch(&fixture.probe, &fixture.target)) {
		end(&fixture);
		skip(); /* no right to watch */
	}
	for (u32 i = 0; i < 3; i++)
		assert_true(thread_probe_slept(&fixture.probe));
	child_tell(&fixture.child);
	child_hear(&fixture.child);
	assert_false(thread_probe_slept(&fixture.probe));
	while (!thread_probe_slept(&fixture.probe))
		wait_a_little(&patience);
	assert_true(thread_probe_slept(&fixture.probe));
	end(&fixture);
}

static void who_runs_has_not_slept(void **state)
{
	struct fixture fixture;
	(void)state;

	start(&fixture, spin);
	if (thread_probe_watch(&fixture.probe, &fixture.target))
		assert_false(thread_probe_slept(&fixture.probe));
	end(&fixture);
}

static void uninterruptible_sleep_is_blocked(void **state)
{
	struct child child;
	struct target target;
	struct patience patience = { 0 };
	(void)state;

	child_start(&child, wait_for_vfork);
	assert_true(target_open(&target, (u32)child.pid, NULL));
	while (target_thread_state(&target, target.pid) != THREAD_BLOCKED)
		wait_a_little(&patience);
	target_close(&target);
	child_end(&child);
}

static u32 futex_word; /* at the same address in the child: it is a fork */

static void wait_on_futex(struct child *child)
{
	child_say(child, 'r');
	for (;;)
		syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void a_wait_names_its_futex(void **state)
{
	struct fixture fixture;
	struct patience patience = { 0 };
	u64 futex;
	(void)state;

	start(&fixture, wait_on_futex);
	while (target_thread_wait(&fixture.target, fixture.target.pid, &futex) != THREAD_SLEEPING)
		wait_a_little(&patience);
	assert_int_equal(futex, (u64)(uintptr_t)&futex_word);
	end(&fixture);

	start(&fixture, child_idle);
	comes_to(&fixture, THREAD_SLEEPING);
	assert_int_equal(target_thread_wait(&fixture.target, fixture.target.pid, &futex),
			 THREAD_SLEEPING);
	assert_int_equal(futex, 0);
	end(&fixture);

	start(&fixture, spin);
	assert_int_equal(target_thread_wait(&fixture.target, fixture.target.pid, &futex),
			 THREAD_RUNNING);
	assert_int_equal(futex, 0);
	end(&fixture);
}

static void times_grow_with_work_and_stand_still_without(void **state)
{
	struct fixture busy, idle;
	struct thread_time first = { 0 }, later = { 0 }, kept = { 0 };
	u64 process_first, process_later;
	struct patience patience = { 0 };
	(void)state;

	start(&busy, spin);
	start(&idle, child_idle);
	comes_to(&idle, THREAD_SLEEPING);
	assert_true(target_thread_time(&busy.target, busy.target.pid, &first));
	assert_true(target_cpu_ns(&busy.target, &process_first));
	do {
		wait_a_little(&patience);
		assert_true(thread_probe_time(&busy.probe, &later));
	} while (later.cpu_ns < first.cpu_ns + 20 * NS_PER_MS);
	assert_true(later.runs >= first.runs && later.runs > 0);
	/* The process's clock is read exactly, the thread's as of the last tick. */
	assert_true(target_cpu_ns(&busy.target, &process_later));
	assert_true(process_later >= process_first && process_later >= later.cpu_ns);

	assert_true(target_thread_time(&idle.target, idle.target.pid, &first));
	assert_true(thread_probe_time(&idle.probe, &kept));
	assert_true(kept.cpu_ns == first.cpu_ns && kept.runs == first.runs);
	assert_false(target_thread_time(&idle.target, 1, &kept));
	end(&busy);
	end(&idle);
}

static void without_descriptors_to_spare_it_is_asked_by_name(void **state)
{
	struct switches_moment now = { .at_ns = clock_now_ns(), .woke_ns = UINT64_MAX };
	struct fixture fixture;
	struct thread_probe probe;
	struct thread_time time = { 0 };
	struct rlimit limit, few;

	(void)state;
	start(&fixture, spin);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){ 64, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_false(thread_probe_open(&probe, &fixture.target, fixture.target.pid));
	assert_int_equal(errno, EMFILE);
	assert_true(thread_probe_time(&probe, &time));
	assert_int_equal(thread_probe_state(&probe, &fixture.target, &now, false), THREAD_RUNNING);
	assert_null(probe.switches.pages);
	thread_probe_close(&probe);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	end(&fixture);
}

static void nothing_is_known_of_the_dead(void **state)
{
	struct fixture fixture;
	struct thread_time time;
	struct thread_probe probe;
	(void)state;

	start(&fixture, child_idle);
	child_end(&fixture.child);
	assert_int_equal(probe_state(&fixture), THREAD_GONE);
	assert_false(thread_probe_time(&fixture.probe, &time));
	assert_false(target_thread_time(&fixture.target, fixture.target.pid, &time));
	assert_false(thread_probe_open(&probe, &fixture.target, fixture.target.pid));
	u64 cpu;
	assert_false(target_cpu_ns(&fixture.target, &cpu));
	thread_probe_close(&fixture.probe);
	target_close(&fixture.target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleeping_stopped_and_gone),
		cmocka_unit_test(a_running_thread_runs),
		cmocka_unit_test(a_sleeper_that_wakes_is_seen_to_run),
		cmocka_unit_test(a_watched_sleeper_has_slept_until_it_wakes),
		cmocka_unit_test(who_runs_has_not_slept),
		cmocka_unit_test(uninterruptible_sleep_is_blocked),
		cmocka_unit_test(a_wait_names_its_futex),
		cmocka_unit_test(times_grow_with_work_and_stand_still_without),
		cmocka_unit_test(without_descriptors_to_spare_it_is_asked_by_name),
		cmocka_unit_test(nothing_is_known_of_the_dead),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
