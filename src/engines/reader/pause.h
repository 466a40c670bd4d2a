/* SPDX-License-Identifier: Apache-2.0
 * pause.h - the micro-stop: one running thread, for microseconds, and always let go.
 *
 * PTRACE_SEIZE, INTERRUPT, wait, (read), DETACH.  Never ATTACH and never SIGSTOP: a
 * tracer that is killed between them leaves the target stopped in 16 % and 63 % of
 * trials; after SEIZE the kernel lets go by itself (0 of 10,000).  Nothing stays
 * seized between two samples, so signals and debuggers of the target are not delayed.
 *
 * Were sonde itself stopped while it has one seized, that thread would stand for as long: it is not (stops.h).
 *
 * A sleeping thread must not be paused: its system call can fail with EINTR, and
 * its stack stands still anyway.  Callers look at its state first.
 *
 * When to pause is decided from the thread's history and never from the attempt
 * that conflicts: that would favour the states that do not. */
#pragma once
#include "base/rng.h"
#include "base/types.h"

enum pause_outcome {
	PAUSE_STOPPED,
	PAUSE_REFUSED, /* traced by somebody else, or no permission */
	PAUSE_GONE,
	PAUSE_LATE, /* it did not stop in time (uninterruptible); pause_settle() lets it go later */
};

struct pause {
	u32 late[16]; /* threads that are still to stop and be let go */
	u32 late_count;
	u32 own_child;    /* our own child's pid: its exit is left for the caller to reap */
	bool holds_stops; /* of us: one is seized */
};

/* Stops `tid`; *signal is to be handed to pause_release. */
enum pause_outcome pause_take(struct pause *pause, u32 tid, int *signal);
void pause_release(struct pause *pause, u32 tid, int signal);
/* Lets go of late ones that have stopped meanwhile. Cheap when there are none. */
void pause_settle(struct pause *pause);
/* The same, until none is left: whoever pauses must call it at the end, for while we live on (we may
 * wait for the very program) a late one that stops would stay stopped. A thread in an
 * uninterruptible sleep is given some seconds; after them the kernel lets go when we end. */
void pause_finish(struct pause *pause);

/* A thread's last 64 unpaused attempts. */
struct pause_history {
	u64 moved;   /* a bit each, newest lowest */
	u8 attempts; /* at most 64 */
};
void pause_history_add(struct pause_history *history, bool moved);
/* For --pause=auto: a thread that conflicted in m > 2 of its last 64 unpaused attempts is paused,
 * except in one attempt in 8 m at random, which keeps the history alive.  Whatever the steady
 * conflict rate is, at most 0.62 % of the samples are left unproven by this (at a rate of 1 %), and
 * a thread that conflicts in 5 reads of a thousand is paused in one attempt of ten. */
bool pause_history_says(const struct pause_history *history, struct rng *rng);
