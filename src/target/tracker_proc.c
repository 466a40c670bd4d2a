/* SPDX-License-Identifier: Apache-2.0
 * tracker_proc.c - process events by looking at /proc again and again.
 *
 * The whole source where perf events are refused; and, with them, what finds the
 * descendants that were there before us and mends the set after lost records.
 *
 *	children   see target_each_descendant() (target/kin.h)
 *	threads    /proc/PID/task, compared with the last list
 *	exec       words of /proc/PID/stat that an exec draws anew
 *	exit       no such process, a zombie, or another start time
 *
 * At most every 20 ms, and less often when looking takes long: it may cost 2 % of
 * a CPU. What it cannot see: whoever comes and goes between two looks, and the
 * children of such a one, which then are somebody else's. */
#include "target/tracker_parts.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "target/kin.h"
#include "target/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SCAN_EVERY_MS = 20,
	SCAN_SHARE = 50, /* of the time: one part looking, this many not */
};

/* Gone, or its number has become another's. Out of descriptors is not gone. */
static bool read_watched(const struct watched *process, struct proc_stat *out, bool *gone)
{
	AUTO_CLOSE int dir = proc_open(process->pid);
	bool read = dir >= 0 && proc_read_stat(dir, out);

	*gone = read ? proc_stat_ended(out) ||
				(process->start_time && process->start_time != out->start_time) :
		       errno == ENOENT || errno == ESRCH;
	return read && !*gone;
}

bool tracker_is_gone(const struct watched *process)
{
	struct proc_stat stat;
	bool gone;

	read_watched(process, &stat, &gone);
	return gone;
}

/* --- children ---------------------------------------------------------------------------- */

struct births {
	struct tracker *tracker;
	u64 now_ns;
	bool was_there;
};

static bool add_child(void *arg, u32 pid, u32 parent)
{
	const struct births *births = arg;
	struct tracker *tracker = births->tracker;
	struct watched *child;
	const struct watched *mother = tracker_find(tracker, parent);
	u64 image = mother ? mother->image : 0;
	struct proc_stat stat;
	bool gone;

	if (tracker_find(tracker, pid) ||
	    !read_watched(&(struct watched){ .pid = pid }, &stat, &gone) ||
	    !(child = tracker_watch(tracker, pid)))
		return false;
	child->start_time = stat.start_time;
	child->image = stat.image; /* now: an exec before the next look would go unnoticed */
	tracker_tell_event(tracker,
			   (struct tracker_event){ .kind = TRACK_FORK,
						   .pid = pid,
						   .tid = pid,
						   .parent = parent,
						   .time_ns = births->now_ns,
						   .was_there = births->was_there,
						   .other_image = !image || stat.image != image });
	return true;
}

static void scan_children(struct tracker *tracker, u64 now)
{
	struct births births = { .tracker = tracker,
				 .now_ns = now,
				 .was_there = !tracker->next_scan_ns };
	tracker_numbers known = { 0 };

	for (u32 i = 0; i < tracker->watched.count; i++)
		if (!vec_push(&known, tracker->watched.at[i].pid))
			tracker->no_memory = true;
	if (!target_each_descendant(known.at, known.count, add_child, &births))
		tracker->no_memory = true;
	vec_free(&known);
}

/* --- threads ----------------------------------------------------------------------------- */

static bool add_number(void *arg, u32 number)
{
	tracker_numbers *list = arg;

	return vec_push(list, number);
}

static int compare_numbers(const void *left, const void *right)
{
	u32 a = *(const u32 *)left, b = *(const u32 *)right;

	return (a > b) - (a < b);
}

/* Tells the difference of two sorted lists: only in `after` is new, only in `before` has ended. */
static void tell_threads(struct tracker *tracker, u32 pid, const u32 *before, u32 before_count,
			 const u32 *after, u32 after_count, u64 now)
{
	u32 b = 0, a = 0;

	while (b < before_count || a < after_count) {
		if (b == before_count || (a < after_count && after[a] < before[b]))
			tracker_tell(tracker, TRACK_THREAD, pid, after[a++], pid, now);
		else if (a == after_count || before[b] < after[a])
			tracker_tell(tracker, TRACK_THREAD_EXIT, pid, before[b++], 0, now);
		else
			a++, b++;
	}
}

/* The first list is what there was; only what comes later is news. */
static void scan_threads(struct tracker *tracker, struct watched *process, u64 now)
{
	AUTO_CLOSE int dir = proc_open(process->pid);
	tracker_numbers tids = { 0 };

	if (dir < 0 || !proc_list_numbers(dir, "task", add_number, &tids) || !tids.count) {
		vec_free(&tids);
		return;
	}
	qsort(tids.at, tids.count, sizeof tids.at[0], compare_numbers);
	if (process->tids.count)
		tell_threads(tracker, process->pid, process->tids.at, process->tids.count, tids.at,
			     tids.count, now);
	vec_free(&process->tids);
	process->tids = tids;
}

/* --- a look ------------------------------------------------------------------------------ */

/* Who has ended, and who has a new image. */
static void scan_watched(struct tracker *tracker, enum scan_depth depth, u64 now)
{
	for (u32 i = tracker->watched.count; i-- > 0;) {
		struct watched *process = &tracker->watched.at[i];
		struct proc_stat stat;
		bool gone;

		if (read_watched(process, &stat, &gone)) {
			if (depth == SCAN_ALL && process->image && stat.image &&
			    process->image != stat.image)
				tracker_tell(tracker, TRACK_EXEC, process->pid, process->pid, 0,
					     now);
			process->start_time = stat.start_time;
			process->image = stat.image;
		} else if (gone) {
			tracker_tell(tracker, TRACK_EXIT, process->pid, process->pid, 0, now);
			tracker_forget(tracker, process);
		}
	}
}

void tracker_scan(struct tracker *tracker, enum scan_depth depth, u64 now_ns)
{
	u64 begun = clock_now_ns();

	scan_watched(tracker, depth, now_ns);
	if (tracker->children)
		scan_children(tracker, now_ns);
	for (u32 i = 0; depth == SCAN_ALL && i < tracker->watched.count; i++)
		scan_threads(tracker, &tracker->watched.at[i], now_ns);

	u64 took = clock_now_ns() - begun;
	u64 pause = took * SCAN_SHARE;
	tracker->next_scan_ns = begun + took +
				(pause > SCAN_EVERY_MS * NS_PER_MS ? pause :
								     SCAN_EVERY_MS * NS_PER_MS);
}
