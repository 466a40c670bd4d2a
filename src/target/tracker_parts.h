/* SPDX-License-Identifier: Apache-2.0
 * tracker_parts.h - what the two sources of a tracker share: who is watched.
 *
 * Private to this folder and its tests. */
#pragma once
#include "base/vec.h"
#include "target/tracker.h"

struct perf_source; /* tracker_perf.c */

typedef VEC(u32) tracker_numbers;

struct watched {
	u32 pid;
	u64 start_time;       /* as in struct target; 0: not looked up yet */
	u64 image;            /* see struct proc_stat */
	bool ending;          /* its first thread has ended; is it gone? */
	bool gone;            /* it is, and the records of what it did last are still to be read */
	tracker_numbers tids; /* sorted; only kept where /proc is all we have */
};

struct tracker {
	bool children;
	VEC(struct watched) watched;       /* by pid */
	VEC(struct tracker_event) pending; /* to be told at the end of this poll, by time */
	struct perf_source *perf;          /* NULL: by looking at /proc */
	u64 next_scan_ns;                  /* of /proc, without perf */
	u64 next_check_ns;                 /* of those that are ending, with perf */
	u64 lost;
	bool no_memory; /* an event had no room: it counts as lost */
};

/* As tracker_open(), but by /proc even where perf events can be had. */
struct tracker *tracker_open_proc(u32 pid, bool children, struct err *err);

/* --- tracker.c: the watched set --- */
struct watched *tracker_find(const struct tracker *tracker, u32 pid);
/* Adds a process that is not in the set. NULL without memory. */
struct watched *tracker_watch(struct tracker *tracker, u32 pid);
void tracker_forget(struct tracker *tracker, struct watched *process);
void tracker_tell(struct tracker *tracker, enum tracker_event_kind kind, u32 pid, u32 tid,
		  u32 parent, u64 time_ns);
void tracker_tell_event(struct tracker *tracker, struct tracker_event event);

/* --- tracker_perf.c --- */
struct perf_source *perf_source_open(struct err *err);
void perf_source_close(struct perf_source *source);
/* Turns the records up to `until_ns` into events and changes of the watched set. */
void perf_source_poll(struct perf_source *source, struct tracker *tracker, u64 until_ns);

/* --- tracker_proc.c --- */
enum scan_depth {
	SCAN_CHILDREN, /* processes: new descendants, those that ended */
	SCAN_ALL,      /* and execs and threads */
};
void tracker_scan(struct tracker *tracker, enum scan_depth depth, u64 now_ns);
/* Is this process, which was seen to begin to end, gone? */
bool tracker_is_gone(const struct watched *process);
