/* SPDX-License-Identifier: Apache-2.0
 * child.h - real processes to look at, in step with the test.
 *
 *	static void idle(struct child *self) { child_say(self, 'r'); child_wait(self); }
 *
 *	struct child child;
 *	child_start(&child, idle);
 *	child_hear(&child);            waits for the 'r'
 *	child_tell(&child);            lets child_wait() return
 *	child_end(&child);             SIGKILL by its pid, waited for
 *
 * A child dies with the test, whatever happens to the test. */
#pragma once
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

struct child {
	pid_t pid;
	int from, to; /* in the test: read and write ends; in the child: the other way round */
};

typedef void child_fn(struct child *self);

static inline void child_say(struct child *self, char word)
{
	if (write(self->to, &word, 1) != 1)
		_exit(101);
}

static inline void child_say_number(struct child *self, long number)
{
	if (write(self->to, &number, sizeof number) != sizeof number)
		_exit(101);
}

static inline void child_wait(struct child *self)
{
	char word;

	if (read(self->from, &word, 1) != 1)
		_exit(102);
}

/* What fork() was: for tests that make the child in another way. */
static inline void child_run(struct child *child, child_fn *fn, int to_child[2], int from_child[2])
{
	struct child self = { getpid(), to_child[0], from_child[1] };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(to_child[1]);
	close(from_child[0]);
	(void)child;
	fn(&self);
	_exit(0);
}

static inline void child_start_with(struct child *child, child_fn *fn, pid_t (*fork_fn)(void))
{
	int to_child[2], from_child[2];

	assert_int_equal(pipe(to_child), 0);
	assert_int_equal(pipe(from_child), 0);
	pid_t pid = fork_fn();
	if (pid == 0)
		child_run(child, fn, to_child, from_child);
	close(to_child[0]);
	close(from_child[1]);
	*child = (struct child){ pid, from_child[0], to_child[1] };
	assert_true(pid > 0);
}

static inline void child_start(struct child *child, child_fn *fn)
{
	child_start_with(child, fn, fork);
}

static inline void child_hear_bytes(struct child *child, void *out, size_t size)
{
	struct pollfd ready = { .fd = child->from, .events = POLLIN };

	/* A child that never speaks is a failure, not a hang. */
	assert_int_equal(poll(&ready, 1, 60000), 1);
	assert_int_equal(read(child->from, out, size), size);
}

static inline char child_hear(struct child *child)
{
	char word;

	child_hear_bytes(child, &word, 1);
	return word;
}

static inline long child_hear_number(struct child *child)
{
	long number;

	child_hear_bytes(child, &number, sizeof number);
	return number;
}

static inline void child_tell(struct child *child)
{
	assert_int_equal(write(child->to, "g", 1), 1);
}

/* The wait status. */
static inline int child_reap(struct child *child)
{
	int status = 0;

	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	close(child->from);
	close(child->to);
	return status;
}

static inline void child_end(struct child *child)
{
	kill(child->pid, SIGKILL);
	child_reap(child);
}

/* Until the condition holds, for a minute at the most: `while (!done()) wait_a_little(&patience);` */
struct patience {
	unsigned waited_ms;
};

static inline void wait_a_little(struct patience *patience)
{
	const struct timespec ms = { 0, 1000000 };

	if (patience->waited_ms++ > 60000)
		fail_msg("the condition never came true");
	nanosleep(&ms, NULL);
}

/* In a process that `parent` has forked: dies with it, even if it is dead already. */
static inline void child_die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

/* A process of the child's own, which waits for its parent's end. */
static inline pid_t child_fork_idle(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		child_die_with(parent);
		for (;;)
			pause();
	}
	return pid;
}

/* Says it is ready and does nothing until it is killed. */
static inline void child_idle(struct child *self)
{
	child_say(self, 'r');
	child_wait(self);
}
