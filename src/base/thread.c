/* SPDX-License-Identifier: Apache-2.0
 * thread.c - see thread.h. */
#include "base/thread.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

bool thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failed;
}

/* The first version of the kernel's struct sched_attr, whose header cannot be had beside sched.h. */
struct attributes {
	u32 size, policy;
	u64 flags;
	s32 nice;
	u32 priority;
	u64 runtime_ns, deadline_ns, period_ns;
};

u64 thread_set_slice_ns(u64 slice_ns)
{
	struct attributes attr = { 0 };
	const pid_t self = 0;

	if (!slice_ns || syscall(SYS_sched_getattr, self, &attr, sizeof attr, 0) ||
	    (attr.policy != SCHED_OTHER && attr.policy != SCHED_BATCH))
		return 0;
	u64 was = attr.runtime_ns;
	attr.runtime_ns = slice_ns;
	return was && !syscall(SYS_sched_setattr, self, &attr, 0) ? was : 0;
}
