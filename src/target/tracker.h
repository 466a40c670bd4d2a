/* SPDX-License-Identifier: Apache-2.0
 * tracker.h - what happens to processes while we watch: fork, exec, exit, new threads.
 *
 * Told by the kernel's perf side-band records (one dummy event a CPU; CAP_PERFMON
 * or perf_event_paranoid <= 0), so that a child is known in its first millisecond;
 * where they are refused, by looking at /proc at each poll.  Reading the rings is
 * memory access: a poll without events makes no system call. */
#pragma once
#include "base/err.h"
#include "base/types.h"

enum tracker_event_kind {
	TRACK_FORK,   /* pid: the new process, parent: whose fork it was */
	TRACK_EXEC,   /* pid has a new image */
	TRACK_EXIT,   /* the whole process has ended */
	TRACK_THREAD, /* a new thread, or one with a new name: pid, tid */
	TRACK_THREAD_EXIT,
	TRACK_LOST, /* records were lost: look at /proc again */
};

struct tracker_event {
	enum tracker_event_kind kind;
	u32 pid, tid, parent;
	u64 time_ns; /* CLOCK_MONOTONIC */
	/* of a fork that is known from /proc alone */
	bool was_there;   /* before the tracker */
	bool other_image; /* it may run another one than its parent by now */
};

typedef void tracker_fn(void *arg, const struct tracker_event *event);

struct tracker; /* opaque */

/* `pid` is the first process watched; its forked descendants follow when `children`. */
struct tracker *tracker_open(u32 pid, bool children, struct err *err);
void tracker_close(struct tracker *tracker);
/* Calls `fn` for each event of a watched process since the last poll, in order of time. */
void tracker_poll(struct tracker *tracker, tracker_fn *fn, void *arg);
/* "perf" or "proc": how we are told. */
const char *tracker_source(const struct tracker *tracker);
/* Polls that found that records had been lost. */
u64 tracker_lost(const struct tracker *tracker);
