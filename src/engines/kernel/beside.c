/* SPDX-License-Identifier: Apache-2.0
 * beside.c - long work is done by a thread of its own, and the ring is emptied meanwhile. */
#include "base/clock.h"
#include "engines/kernel/run.h"

#include <pthread.h>
#include <signal.h>

static const u64 LOOK_NS = 5 * NS_PER_MS;

struct work {
	void (*fn)(void *arg);
	void *arg;
};

static void *start(void *work_)
{
	const struct work *work = work_;

	work->fn(work->arg);
	return NULL;
}

/* Signals are ours: they end the recording. */
static bool begin(pthread_t *thread, struct work *work)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool has_begun = pthread_create(thread, NULL, start, work) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return has_begun;
}

static bool has_ended(pthread_t thread)
{
	u64 until = clock_now_ns() + LOOK_NS;
	struct timespec then = { (time_t)(until / NS_PER_S), (long)(until % NS_PER_S) };

	return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &then) == 0;
}

void run_beside(void *run_, void (*fn)(void *arg), void *arg)
{
	struct run *run = run_;
	struct work work = { fn, arg };
	pthread_t thread;

	if (!begin(&thread, &work)) {
		fn(arg);
		return;
	}
	do
		kernel_program_collect(&run->program);
	while (!has_ended(thread));
}
