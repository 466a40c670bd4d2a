/* SPDX-License-Identifier: Apache-2.0
 * switches.h - is a thread on a CPU at this very instant?
 *
 * /proc says R for one that runs and for one that waits for its CPU; a thread that was just woken
 * inside of a lock then looks as if it used CPU time there.  The kernel's context switch
 * records of the thread know better, and cost no system call: they are written backwards into
 * two pages that we map read-only, so the newest is always the first and nothing ever fills up.
 * The target pays some 0.2 us a context switch while it is watched. */
#pragma once
#include "base/types.h"

struct switches {
	int fd;
	void *pages; /* NULL: not watched */
};

/* False when the kernel refuses (perf_event_paranoid 3, no descriptor or locked memory left). */
bool switches_open(struct switches *switches, u32 tid);
void switches_close(struct switches *switches);

enum switches_state { SWITCHES_UNKNOWN, SWITCHES_ON_CPU, SWITCHES_OFF_CPU };
/* Unknown until the first switch after the opening.  A thread that lost its CPU at `at_ns`
 * (CLOCK_MONOTONIC) or later was on it: it is probably we who took it, to look; and so was one that has not got
 * it back since it was let go of at `released_ns`, which we had stopped (0: never).  One that has ended
 * stays on its CPU for ever: its last switch is not recorded. */
enum switches_state switches_read(const struct switches *switches, u64 at_ns, u64 released_ns);
