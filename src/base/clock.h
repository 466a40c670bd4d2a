/* SPDX-License-Identifier: Apache-2.0
 * clock.h - time, in nanoseconds. */
#pragma once
#include "base/types.h"
#include <sys/prctl.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

static inline u64 clock_read_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (u64)t.tv_sec * NS_PER_S + (u64)t.tv_nsec;
}

/* CLOCK_MONOTONIC: what samples and deadlines are stamped with, as perf events are. */
static inline u64 clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* CPU time of this process: sonde's own cost. */
static inline u64 clock_own_cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Sleeps until CLOCK_MONOTONIC reads `until_ns`, or a signal arrives. */
static inline void clock_sleep_until(u64 until_ns)
{
	struct timespec t = { (time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S) };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* How far from its time a sleep of the calling thread may end (50 us unless it was set); gives what it was. Whom the thread
 * starts inherits it. */
static inline u64 clock_set_slack_ns(u64 slack_ns)
{
	int was = prctl(PR_GET_TIMERSLACK);

	prctl(PR_SET_TIMERSLACK, (unsigned long)slack_ns);
	return was > 0 ? (u64)was : 0;
}
