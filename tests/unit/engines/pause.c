/* SPDX-License-Identifier: Apache-2.0
 * pause.c - stopping a real child, and always letting it go. */
#include "check.h"

#include "engines/reader/pause.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared with the child: it counts, and counts its SIGUSR1s. */
struct shared {
	_Atomic u64 count;
	_Atomic u64 signals;
};
static struct shared *shared;

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&shared->signals, 1);
}

static pid_t start_counter(void)
{
	atomic_store(&shared->count, 0);
	atomic_store(&shared->signals, 0);
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGUSR1, on_signal);
		for (;;)
			atomic_fetch_add(&shared->count, 1);
	}
	while (!atomic_load(&shared->count))
		usleep(100);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool counts_on(void)
{
	u64 before = atomic_load(&shared->count);

	for (u32 i = 0; i < 100000; i++) {
		if (atomic_load(&shared->count) != before)
			return true;
		usleep(100);
	}
	return false;
}

static void a_paused_thread_stands_and_then_runs_on(void **state)
{
	struct pause pause = { 0 };
	pid_t pid = start_counter();
	int signal = -1;
	u32 stops = 0;

	(void)state;
	pause.own_child = (u32)pid;
	for (u32 i = 0; i < 50; i++) {
		enum pause_outcome outcome = pause_take(&pause, (u32)pid, &signal);
		if (outcome == PAUSE_LATE) { /* a machine so loaded that it did not get its CPU */
			while (pause.late_count)
				pause_settle(&pause);
			continue;
		}
		assert_int_equal(outcome, PAUSE_STOPPED);
		stops++;
		u64 before = atomic_load(&shared->count);
		usleep(200);
		assert_int_equal(atomic_load(&shared->count), before);
		pause_release(&pause, (u32)pid, signal);
		assert_true(counts_on());
	}
	assert_true(stops > 0);
	end(pid);
}

static void signals_arrive_though_it_is_paused_all_the_time(void **state)
{
	struct pause pause = { 0 };
	pid_t pid = start_counter();
	u64 sent = 0;

	(void)state;
	pause.own_child = (u32)pid;
	for (u32 i = 0; i < 200; i++) {
		int signal = 0;
		if (atomic_load(&shared->signals) == sent) {
			kill(pid, SIGUSR1);
			sent++;
		}
		if (pause_take(&pause, (u32)pid, &signal) == PAUSE_STOPPED)
			pause_release(&pause, (u32)pid, signal);
		else
			pause_settle(&pause);
	}
	for (u32 i = 0; i < 100000 && atomic_load(&shared->signals) != sent; i++) {
		pause_settle(&pause);
		usleep(100);
	}
	assert_int_equal(atomic_load(&shared->signals), sent);
	end(pid);
}

static void none_is_left_late_at_the_end(void **state)
{
	struct pause pause = { 0 };
	pid_t pid = start_counter();

	(void)state;
	pause.own_child = (u32)pid;
	/* seized and interrupted, and not waited for: what a thread without a CPU looks like */
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
	pause.late[pause.late_count++] = (u32)pid;
	pause_finish(&pause);
	assert_int_equal(pause.late_count, 0);
	assert_true(counts_on());
	end(pid);
}

static volatile sig_atomic_t stops_got;

static void on_stop(int number)
{
	(void)number;
	stops_got++;
}

static void we_are_not_stopped_while_one_is_seized(void **state)
{
	struct pause pause = { 0 };
	pid_t pid = start_counter();
	int number = -1;
	enum pause_outcome outcome;

	(void)state;
	pause.own_child = (u32)pid;
	void (*before)(int) = signal(SIGTSTP, on_stop);
	for (u32 i = 0; i < 100; i++) {
		outcome = pause_take(&pause, (u32)pid, &number);
		if (outcome == PAUSE_STOPPED)
			break;
		while (pause.late_count)
			pause_settle(&pause);
	}
	assert_int_equal(outcome, PAUSE_STOPPED);
	raise(SIGTSTP);
	assert_int_equal(stops_got, 0);
	pause_release(&pause, (u32)pid, number);
	assert_int_equal(stops_got, 1);
	/* of one that did not stop in time, too */
	pause.late[pause.late_count++] = (u32)pid;
	pause.own_child = 0;
	assert_int_equal(pause_take(&pause, (u32)getpid(), &number), PAUSE_REFUSED);
	raise(SIGTSTP);
	assert_int_equal(stops_got, 1);
	end(pid);
	while (pause.late_count)
		pause_settle(&pause);
	assert_int_equal(stops_got, 2);
	signal(SIGTSTP, before);
}

static void a_thread_that_is_gone_is_gone(void **state)
{
	struct pause pause = { 0 };
	pid_t pid = start_counter();
	int signal;

	(void)state;
	end(pid);
	assert_int_equal(pause_take(&pause, (u32)pid, &signal), PAUSE_GONE);
}

static void our_own_childs_exit_is_left_to_its_waiter(void **state)
{
	struct pause pause = { 0 };
	int signal, status = 0;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(7);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	pause.own_child = (u32)pid;
	enum pause_outcome outcome = pause_take(&pause, (u32)pid, &signal);
	assert_true(outcome == PAUSE_GONE || outcome == PAUSE_REFUSED);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
}

static void a_thread_that_is_traced_is_refused(void **state)
{
	struct pause pause = { 0 };
	pid_t pid = start_counter();
	int signal, ready[2];

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid_t tracer = fork();
	if (tracer == 0) {
		char ok = ptrace(PTRACE_SEIZE, pid, 0, 0) == 0;
		if (write(ready[1], &ok, 1) == 1)
			pause_settle(&pause);
		for (;;)
			sleep(1000);
	}
	char ok = 0;
	assert_int_equal(read(ready[0], &ok, 1), 1);
	if (ok)
		assert_int_equal(pause_take(&pause, (u32)pid, &signal), PAUSE_REFUSED);
	close(ready[0]);
	close(ready[1]);
	end(tracer);
	assert_true(counts_on());
	end(pid);
}

static void history_decides_and_not_the_present_attempt(void **state)
{
	struct pause_history history = { 0 };
	struct rng rng = { 1 };
	u32 paused = 0;

	(void)state;
	for (u32 i = 0; i < 100; i++)
		pause_history_add(&history, false);
	assert_false(pause_history_says(&history, &rng));
	pause_history_add(&history, true);
	pause_history_add(&history, true);
	assert_false(pause_history_says(&history, &rng)); /* twice is no habit */
	pause_history_add(&history, true);
	for (u32 i = 0; i < 24000; i++)
		paused += pause_history_says(&history, &rng);
	assert_in_range(paused, 22880, 23120); /* all but one in 24 */
	for (u32 i = 0; i < 61; i++)
		pause_history_add(&history, true);
	paused = 0;
	for (u32 i = 0; i < 51200; i++)
		paused += pause_history_says(&history, &rng);
	assert_in_range(paused, 51050, 51150); /* all but one in 512 */
	for (u32 i = 0; i < 64; i++)
		pause_history_add(&history, false);
	assert_false(pause_history_says(&history, &rng));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_paused_thread_stands_and_then_runs_on),
		cmocka_unit_test(signals_arrive_though_it_is_paused_all_the_time),
		cmocka_unit_test(none_is_left_late_at_the_end),
		cmocka_unit_test(we_are_not_stopped_while_one_is_seized),
		cmocka_unit_test(a_thread_that_is_gone_is_gone),
		cmocka_unit_test(our_own_childs_exit_is_left_to_its_waiter),
		cmocka_unit_test(a_thread_that_is_traced_is_refused),
		cmocka_unit_test(history_decides_and_not_the_present_attempt),
	};
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
