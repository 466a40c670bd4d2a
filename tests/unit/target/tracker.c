/* SPDX-License-Identifier: Apache-2.0
 * tracker.c - what real processes do, as each source tells it.
 *
 * Every test runs with perf events (when we may have them) and with /proc alone.
 * /proc cannot see what comes and goes between two looks, so where a test needs
 * every event it is for perf alone and says so. */
#include "target/tracker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "child.h"
#include "target/tracker_parts.h"

#define EXEC_WORD "be-idle"

static const char *self_path;

/* --- what was told ----------------------------------------------------------------------- */

struct story {
	struct tracker *tracker;
	VEC(struct tracker_event) events;
};

static void note(void *arg, const struct tracker_event *event)
{
	struct story *story = arg;

	assert_true(vec_push(&story->events, *event));
}

static u32 count(const struct story *story, enum tracker_event_kind kind, u32 pid)
{
	u32 found = 0;

	for (u32 i = 0; i < story->events.count; i++)
		found += story->events.at[i].kind == kind &&
			 (!pid || story->events.at[i].pid == pid);
	return found;
}

static u32 place(const struct story *story, enum tracker_event_kind kind, u32 pid)
{
	for (u32 i = 0; i < story->events.count; i++)
		if (story->events.at[i].kind == kind && story->events.at[i].pid == pid)
			return i;
	fail_msg("event %d of %u was not told", kind, pid);
	return 0;
}

static void wait_for(struct story *story, enum tracker_event_kind kind, u32 pid, u32 want)
{
	struct patience patience = { 0 };

	for (;;) {
		tracker_poll(story->tracker, note, story);
		if (count(story, kind, pid) >= want)
			return;
		wait_a_little(&patience);
	}
}

/* A minute of nothing cannot be waited for: two looks at /proc, or what the rings hold now. */
static void look_again(struct story *story)
{
	struct patience patience = { 0 };

	while (patience.waited_ms < 50) {
		tracker_poll(story->tracker, note, story);
		wait_a_little(&patience);
	}
}

typedef struct tracker *open_fn(u32 pid, bool children, struct err *err);

static void begin(struct story *story, open_fn *open, const struct child *child, bool children)
{
	struct err err = { 0 };

	*story = (struct story){ .tracker = open((u32)child->pid, children, &err) };
	if (!story->tracker)
		fail_msg("%s", err.text);
}

static void end(struct story *story)
{
	for (u32 i = 1; i < story->events.count; i++)
		assert_true(story->events.at[i - 1].time_ns <= story->events.at[i].time_ns);
	tracker_close(story->tracker);
	vec_free(&story->events);
}

/* The state of a test is how to open a tracker; perf tests are skipped where it is refused. */
static int with_perf(void **state)
{
	static open_fn *const open = tracker_open;

	*state = (void *)(uintptr_t)open;
	return 0;
}

static int with_proc(void **state)
{
	static open_fn *const open = tracker_open_proc;

	*state = (void *)(uintptr_t)open;
	return 0;
}

static open_fn *opener(void **state)
{
	open_fn *open = (open_fn *)(uintptr_t)*state;

	if (open == tracker_open) {
		struct perf_source *source = perf_source_open(NULL);
		if (!source)
			skip();
		perf_source_close(source);
	}
	return open;
}

/* --- forks ------------------------------------------------------------------------------- */

/* Forks at each word; the children live until they are told to go, by their parent's end. */
static void fork_when_told(struct child *child)
{
	child_say(child, 'r');
	for (;;) {
		child_wait(child);
		child_say_number(child, child_fork_idle());
	}
}

static void a_fork_is_told_with_its_parent(void **state)
{
	struct child child;
	struct story story;

	child_start(&child, fork_when_told);
	child_hear(&child);
	begin(&story, opener(state), &child, true);
	child_tell(&child);
	u32 pid = (u32)child_hear_number(&child);
	wait_for(&story, TRACK_FORK, pid, 1);
	const struct tracker_event *event = &story.events.at[place(&story, TRACK_FORK, pid)];
	assert_int_equal(event->parent, child.pid);
	assert_int_equal(event->tid, pid);
	look_again(&story);
	assert_int_equal(count(&story, TRACK_FORK, 0), 1);
	kill((pid_t)pid, SIGKILL);
	wait_for(&story, TRACK_EXIT, pid, 1);
	child_end(&child);
	wait_for(&story, TRACK_EXIT, (u32)child.pid, 1);
	look_again(&story);
	assert_int_equal(count(&story, TRACK_EXIT, 0), 2);
	end(&story);
}

static void children_from_before_are_told_first(void **state)
{
	struct child child;
	struct story story;

	child_start(&child, fork_when_told);
	child_hear(&child);
	child_tell(&child);
	u32 pid = (u32)child_hear_number(&child);
	begin(&story, opener(state), &child, true);
	tracker_poll(story.tracker, note, &story);
	assert_int_equal(place(&story, TRACK_FORK, pid), 0);
	assert_true(story.events.at[0].was_there);
	assert_false(story.events.at[0].other_image);
	look_again(&story);
	assert_int_equal(count(&story, TRACK_FORK, pid), 1);
	child_end(&child);
	wait_for(&story, TRACK_EXIT, pid, 1);
	end(&story);
}

static void fork_twice_deep(struct child *child)
{
	child_say(child, 'r');
	child_wait(child);
	if (fork() == 0) {
		child_die_with(child->pid);
		child_say_number(child, child_fork_idle());
	}
	for (;;)
		pause();
}

static void grandchildren_are_followed(void **state)
{
	struct child child;
	struct story story;

	child_start(&child, fork_twice_deep);
	child_hear(&child);
	begin(&story, opener(state), &child, true);
	child_tell(&child);
	u32 pid = (u32)child_hear_number(&child);
	wait_for(&story, TRACK_FORK, pid, 1);
	assert_int_equal(count(&story, TRACK_FORK, 0), 2);
	assert_int_equal(story.events.at[1].parent, story.events.at[0].pid);
	child_end(&child);
	wait_for(&story, TRACK_EXIT, pid, 1);
	end(&story);
}

static void without_children_only_the_process_itself_is_told(void **state)
{
	struct child child, other;
	struct story story;

	child_start(&child, fork_when_told);
	child_start(&other, fork_when_told);
	child_hear(&child);
	child_hear(&other);
	begin(&story, opener(state), &child, false);
	child_tell(&child);
	child_tell(&other);
	child_hear_number(&child);
	child_hear_number(&other);
	look_again(&story);
	assert_int_equal(story.events.count, 0);
	child_end(&other);
	child_end(&child);
	wait_for(&story, TRACK_EXIT, (u32)child.pid, 1);
	assert_int_equal(count(&story, TRACK_EXIT, 0), 1);
	end(&story);
}

enum { SHORT_LIVES = 200 };

static void fork_short_lives(struct child *child)
{
	child_idle(child);
	for (u32 i = 0; i < SHORT_LIVES; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	child_say(child, 'd');
	child_wait(child);
}

/* Perf alone: none of these lives as long as a look at /proc takes. */
static void the_shortest_lives_are_told(void **state)
{
	struct child child;
	struct story story;

	child_start(&child, fork_short_lives);
	child_hear(&child);
	begin(&story, opener(state), &child, true);
	assert_string_equal(tracker_source(story.tracker), "perf");
	child_tell(&child);
	child_hear(&child);
	wait_for(&story, TRACK_FORK, 0, SHORT_LIVES);
	wait_for(&story, TRACK_EXIT, 0, SHORT_LIVES);
	assert_int_equal(count(&story, TRACK_FORK, 0), SHORT_LIVES);
	assert_int_equal(tracker_lost(story.tracker), 0);
	child_end(&child);
	end(&story);
}

/* --- threads ----------------------------------------------------------------------------- */

static void *say_tid_and_wait(void *arg)
{
	struct child *child = arg;

	child_say_number(child, syscall(SYS_gettid));
	child_wait(child);
	return NULL;
}

/* A thread for each word but the next, which ends it. */
static void start_threads(struct child *child)
{
	child_idle(child);
	for (;;) {
		pthread_t thread;
		pthread_create(&thread, NULL, say_tid_and_wait, child);
		pthread_join(thread, NULL);
		child_say(child, 'j');
		child_wait(child);
	}
}

static void threads_come_and_go(void **state)
{
	struct child child;
	struct story story;

	child_start(&child, start_threads);
	child_hear(&child);
	begin(&story, opener(state), &child, true);
	child_tell(&child);
	u32 tid = (u32)child_hear_number(&child);
	wait_for(&story, TRACK_THREAD, (u32)child.pid, 1);
	assert_int_equal(story.events.at[0].tid, tid);
	child_tell(&child);
	child_hear(&child);
	wait_for(&story, TRACK_THREAD_EXIT, (u32)child.pid, 1);
	assert_int_equal(story.events.at[1].tid, tid);
	assert_int_equal(count(&story, TRACK_EXIT, 0), 0);
	assert_int_equal(count(&story, TRACK_FORK, 0), 0);
	child_end(&child);
	wait_for(&story, TRACK_EXIT, (u32)child.pid, 1);
	end(&story);
}

static void leave_main(struct child *child)
{
	pthread_t thread;

	pthread_create(&thread, NULL, say_tid_and_wait, child);
	for (;;) {
		/* The thread is the only one that hears; ours ends when it says so by a signal. */
		sigset_t set;
		int signal;
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigwait(&set, &signal);
		syscall(SYS_exit, 0);
	}
}

static void block_and_leave_main(struct child *child)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	leave_main(child);
}

static void the_main_threads_end_is_not_the_processs(void **state)
{
	struct child child;
	struct story story;
	struct patience patience = { 0 };
	char path[64], text[512] = "";

	child_start(&child, block_and_leave_main);
	child_hear_number(&child);
	begin(&story, opener(state), &child, true);
	kill(child.pid, SIGUSR1);
	snprintf(path, sizeof path, "/proc/%d/stat", child.pid);
	while (!strstr(text, ") Z ")) {
		FILE *file = fopen(path, "re");
		assert_non_null(file);
		assert_non_null(fgets(text, sizeof text, file));
		fclose(file);
		wait_a_little(&patience);
	}
	look_again(&story);
	assert_int_equal(count(&story, TRACK_EXIT, 0), 0);
	child_tell(&child); /* the last thread goes */
	wait_for(&story, TRACK_EXIT, (u32)child.pid, 1);
	child_reap(&child);
	look_again(&story);
	assert_int_equal(count(&story, TRACK_EXIT, 0), 1);
	end(&story);
}

/* --- execs ------------------------------------------------------------------------------- */

static void become_idle(struct child *child)
{
	char from[16], to[16];

	snprintf(from, sizeof from, "%d", child->from);
	snprintf(to, sizeof to, "%d", child->to);
	execl(self_path, self_path, EXEC_WORD, from, to, (char *)NULL);
	_exit(105);
}

static void spawn_idle(struct child *child)
{
	if (fork() == 0) {
		child_die_with(child->pid);
		become_idle(child);
	}
	for (;;)
		pause();
}

/* It has nothing of what its parent has where that has it. */
static void a_child_from_before_with_another_image_is_told_as_such(void **state)
{
	struct child child;
	struct story story;

	child_start(&child, spawn_idle);
	child_hear(&child);
	begin(&story, opener(state), &child, true);
	tracker_poll(story.tracker, note, &story);
	assert_int_equal(count(&story, TRACK_FORK, 0), 1);
	assert_true(story.events.at[0].was_there);
	assert_true(story.events.at[0].other_image);
	child_end(&child);
	wait_for(&story, TRACK_EXIT, (u32)child.pid, 1);
	end(&story);
}

static void exec_when_told(struct child *child)
{
	child_idle(child);
	become_idle(child);
}

static void *exec_in_thread(void *arg)
{
	become_idle(arg);
	return NULL;
}

static void exec_from_second_thread(struct child *child)
{
	pthread_t thread;

	child_idle(child);
	pthread_create(&thread, NULL, exec_in_thread, child);
	for (;;)
		pause();
}

static void check_exec(open_fn *open, child_fn *fn)
{
	struct child child;
	struct story story;

	child_start(&child, fn);
	child_hear(&child);
	begin(&story, open, &child, true);
	child_tell(&child);
	child_hear(&child); /* the new image */
	wait_for(&story, TRACK_EXEC, (u32)child.pid, 1);
	look_again(&story);
	assert_int_equal(count(&story, TRACK_EXEC, 0), 1);
	assert_int_equal(count(&story, TRACK_EXIT, 0), 0);
	child_end(&child);
	wait_for(&story, TRACK_EXIT, (u32)child.pid, 1);
	end(&story);
}

static void an_exec_is_told(void **state)
{
	check_exec(opener(state), exec_when_told);
}

/* The main thread ends, and the one that execs takes its number: that is no exit. */
static void an_exec_by_another_thread_is_no_exit(void **state)
{
	check_exec(opener(state), exec_from_second_thread);
}

static void fork_and_exec(struct child *child)
{
	child_idle(child);
	pid_t pid = fork();
	if (pid == 0) {
		child_die_with(child->pid);
		execl("/bin/true", "true", (char *)NULL);
		_exit(105);
	}
	waitpid(pid, NULL, 0);
	child_say_number(child, pid);
	child_wait(child);
}

/* Perf alone. The child runs on whatever CPU, so its records are in another ring than its birth. */
static void a_childs_life_is_told_in_order(void **state)
{
	for (u32 i = 0; i < 20; i++) {
		struct child child;
		struct story story;
		child_start(&child, fork_and_exec);
		child_hear(&child);
		begin(&story, opener(state), &child, true);
		child_tell(&child);
		u32 pid = (u32)child_hear_number(&child);
		wait_for(&story, TRACK_EXIT, pid, 1);
		u32 fork_place = place(&story, TRACK_FORK, pid);
		u32 exec_place = place(&story, TRACK_EXEC, pid);
		assert_true(fork_place < exec_place);
		assert_true(exec_place < place(&story, TRACK_EXIT, pid));
		child_end(&child);
		end(&story);
	}
}

/* --- losing ------------------------------------------------------------------------------ */

static void *nothing(void *arg)
{
	return arg;
}

enum { MANY_THREADS = 5000 };

static void start_many_threads(struct child *child)
{
	child_idle(child);
	for (u32 i = 0; i < MANY_THREADS; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, nothing, NULL) == 0)
			pthread_join(thread, NULL);
	}
	child_say_number(child, child_fork_idle());
	child_wait(child);
}

/* Perf alone: the rings are full when the child is forked, and it is found all the same. */
static void lost_records_are_counted_and_mended(void **state)
{
	struct child child;
	struct story story;

	child_start(&child, start_many_threads);
	child_hear(&child);
	begin(&story, opener(state), &child, true);
	child_tell(&child);
	u32 pid = (u32)child_hear_number(&child);
	/* The kernel says LOST in front of the next record that has room: none comes here. */
	tracker_poll(story.tracker, note, &story);
	assert_true(count(&story, TRACK_THREAD, 0) < MANY_THREADS);
	assert_true(tracker_lost(story.tracker) >= 1);
	assert_true(count(&story, TRACK_LOST, 0) >= 1);
	assert_int_equal(count(&story, TRACK_FORK, pid), 1);
	child_end(&child);
	wait_for(&story, TRACK_EXIT, pid, 1);
	end(&story);
}

/* --- cost -------------------------------------------------------------------------------- */

/* Skips as many instructions when it is this one. */
#define ALLOW(number, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, skip, 0)

/* Anything but memory for the allocator, and saying what came of it, kills. */
static bool forbid_system_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write, 7),
		ALLOW(SYS_exit_group, 6),
		ALLOW(SYS_sigaltstack, 5), /* the sanitizer's, at _exit() */
		ALLOW(SYS_brk, 4),
		ALLOW(SYS_mmap, 3),
		ALLOW(SYS_munmap, 2),
		ALLOW(SYS_madvise, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT_OF(filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void ignore(void *arg, const struct tracker_event *event)
{
	(void)arg;
	(void)event;
}

static void poll_without_system_calls(struct child *child)
{
	struct tracker *tracker = tracker_open((u32)getppid(), false, NULL);

	if (!tracker || !forbid_system_calls())
		_exit(1);
	for (u32 i = 0; i < 1000; i++)
		tracker_poll(tracker, ignore, NULL);
	child_say(child, 'd');
	_exit(0);
}

static void a_poll_without_events_makes_no_system_call(void **state)
{
	struct child child;

	opener(state);
	child_start(&child, poll_without_system_calls);
	assert_int_equal(child_hear(&child), 'd');
	assert_int_equal(child_reap(&child), 0);
}

static void nobody_is_watched_who_is_not_there(void **state)
{
	struct child child;
	struct err err = { 0 };
	open_fn *open = opener(state);

	child_start(&child, child_idle);
	child_end(&child);
	assert_null(open((u32)child.pid, true, &err));
	assert_int_equal(err.code, ERR_NO_PROCESS);
	tracker_close(NULL);
}

static int be_idle(char *const argv[])
{
	struct child child = { getpid(), atoi(argv[2]), atoi(argv[3]) };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	child_idle(&child);
	return 0;
}

#define WITH_PERF(test)                                      \
	{                                                    \
#test " (perf)", test, with_perf, NULL, NULL \
	}
#define WITH_PROC(test)                                      \
	{                                                    \
#test " (proc)", test, with_proc, NULL, NULL \
	}
#define WITH_BOTH(test) WITH_PERF(test), WITH_PROC(test)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(a_fork_is_told_with_its_parent),
		WITH_BOTH(children_from_before_are_told_first),
		WITH_BOTH(a_child_from_before_with_another_image_is_told_as_such),
		WITH_BOTH(grandchildren_are_followed),
		WITH_BOTH(without_children_only_the_process_itself_is_told),
		WITH_PERF(the_shortest_lives_are_told),
		WITH_BOTH(threads_come_and_go),
		WITH_BOTH(the_main_threads_end_is_not_the_processs),
		WITH_BOTH(an_exec_is_told),
		WITH_BOTH(an_exec_by_another_thread_is_no_exit),
		WITH_PERF(a_childs_life_is_told_in_order),
		WITH_PERF(lost_records_are_counted_and_mended),
		WITH_PERF(a_poll_without_events_makes_no_system_call),
		WITH_BOTH(nobody_is_watched_who_is_not_there),
	};

	self_path = argv[0];
	if (argc == 4 && strcmp(argv[1], EXEC_WORD) == 0)
		return be_idle(argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
