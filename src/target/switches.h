/* SPDX-License-Identifier: Apache-2.0
 * switches.h - is a thread on a CPU at this very instant?
 *
 * /proc says R for one that runs and for one that waits for its CPU; a thread that was just woken
 * inside of a lock then looks as if it used CPU time there.  The kernel's context switch
 * records of the thread know better, and cost no system call: they are written backwards into
 * two pages that we map read-only, so the newest is always the first and nothing ever fills up.
 * The target pays some 0.2 us a context switch while it is watched. */
#pragma once
#include "base/median.h"
#include "base/types.h"

struct switches {
	int fd;
	void *pages; /* NULL: not watched */
};

/* False when the kernel refuses (perf_event_paranoid 3, no descriptor or locked memory left). */
bool switches_open(struct switches *switches, u32 tid);
void switches_close(struct switches *switches);

/* Grows with each switch; 0: there was none since the opening. */
u64 switches_mark(const struct switches *switches);
/* For whom is it asked? Times are CLOCK_MONOTONIC. */
struct switches_moment {
	u64 at_ns;
	/* We have been on this CPU from then on, and do not count: who lost it to us is on it. UINT64_MAX: nobody did. */
	u64 woke_ns;
	u32 cpu;
	/* How long before that the thread that was there loses the CPU; learned. Not looked at when nobody did. */
	struct median *taken_ns;
};

enum switches_state { SWITCHES_UNKNOWN, SWITCHES_ON_CPU, SWITCHES_OFF_CPU };
/* Unknown until the first switch after the opening.  A thread that was let go of at `released_ns`, a moment ago, which we
 * had stopped (0: never), and has not got its CPU back since was on it.  One that has ended stays on its CPU for ever:
 * its last switch is not recorded. */
enum switches_state switches_read(const struct switches *switches,
				  const struct switches_moment *moment, u64 released_ns);
