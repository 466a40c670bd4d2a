/* SPDX-License-Identifier: Apache-2.0
 * quality.h - the ledger: what was asked, what came, what was lost and why.
 *
 * expected = taken + each lost cause, always.  One unit is one attempt: of the reader one look at
 * one process at one deadline, of the kernel engine one interrupt of one thread, or one hit of an event.
 * The rest describes the samples that were taken.  The X-lists drive every export, so a new cause shows up
 * everywhere. */
#pragma once
#include "base/types.h"

#define QUALITY_LOSSES(X)                                         \
	X(late, "deadline passed while sonde was not running")    \
	X(unreadable, "memory could not be read")                 \
	X(gone, "the process ended or exec'd during the attempt") \
	X(no_memory, "sonde ran out of memory")                   \
	X(dropped, "a buffer was full")                           \
	X(passed, "hits after the last stack that was taken")

#define QUALITY_COUNTS(X)                                                              \
	X(samples, "thread stacks recorded")                                           \
	X(complete, "of these, complete and verified")                                 \
	X(moving, "with a leaf that changed while it was read")                        \
	X(truncated, "with outer frames missing")                                      \
	X(idle, "attempts in which no thread was running, and none was to be sampled") \
	X(delayed, "attempts made half a millisecond or more after their deadline")    \
	X(starting, "taken before the VM had a stack")                                 \
	X(repeated, "of threads that had not run since their last sample")             \
	X(paused, "for which the thread was stopped")                                  \
	X(pause_failed, "that should have been paused, and were not")                  \
	X(unnamed, "frames whose name could not be read")                              \
	X(leftover, "samples with managed frames that matched no native frame")        \
	X(unprobed, "idle threads whose idleness was inferred from their stack alone") \
	X(cpu_unshared_ns, "CPU nanoseconds that no sample stands for")                \
	X(cpu_estimated_ns,                                                            \
	  "CPU nanoseconds estimated: the process ended before its clock was read")    \
	X(processes, "processes sampled")                                              \
	X(threads, "threads sampled")

struct quality {
	u64 expected; /* attempts whose deadline has passed */
	u64 taken;
	struct {
#define X(name, text) u64 name;
		QUALITY_LOSSES(X)
#undef X
	} lost;
#define X(name, text) u64 name;
	QUALITY_COUNTS(X)
#undef X
	u64 begin_ns, end_ns; /* CLOCK_MONOTONIC */
	u64 own_cpu_ns;       /* ours, from begin_ns on */
	u64 attach_cpu_ns;    /* ours before that */
	char engine[16];
	char warning[200]; /* e.g. an unknown patch level */
};

static inline u64 quality_lost(const struct quality *q)
{
	u64 sum = 0;
#define X(name, text) sum += q->lost.name;
	QUALITY_LOSSES(X)
#undef X
	return sum;
}
