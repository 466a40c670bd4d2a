/* SPDX-License-Identifier: Apache-2.0
 * tracker_proc.c - process events by looking at /proc again and again.
 *
 * The whole source where perf events are refused; and, with them, what finds the
 * descendants that were there before us and mends the set after lost records.
 *
 *	children   /proc/PID/task/TID/children of every thread; where the kernel has no
 *	           such file (CONFIG_PROC_CHILDREN), every process's parent
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
#include "target/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SCAN_EVERY_MS = 20,
	SCAN_SHARE = 50, /* of the time: one part looking, this many not */
	CHILDREN_TEXT_MAX = 64 << 10,
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

struct family {
	struct tracker *tracker;
	int dir; /* /proc/PID of the parent, or of all */
	u32 parent;
	u64 now_ns;
	tracker_numbers *queue; /* whose children are still to be looked for */
	bool no_file;           /* the kernel has no `children` */
};

static void add_child(struct family *family, u32 pid, u32 parent)
{
	struct tracker *tracker = family->tracker;
	struct watched *child;
	struct proc_stat stat;
	bool gone;

	/* A zombie is still somebody's child, and its end has been told. */
	if (tracker_find(tracker, pid) ||
	    !read_watched(&(struct watched){ .pid = pid }, &stat, &gone) ||
	    !(child = tracker_watch(tracker, pid)))
		return;
	child->start_time = stat.start_time;
	child->image = stat.image; /* now: an exec before the next look would go unnoticed */
	tracker_tell(tracker, TRACK_FORK, pid, pid, parent, family->now_ns);
	if (!vec_push(family->queue, pid))
		tracker->no_memory = true;
}

static bool add_children_of_thread(void *arg, u32 tid)
{
	struct family *family = arg;
	char name[40], text[CHILDREN_TEXT_MAX];

	snprintf(name, sizeof name, "task/%u/children", tid);
	if (proc_read(family->dir, name, text, sizeof text) < 0) {
		family->no_file |= errno == ENOENT && tid == family->parent;
		return true;
	}
	for (const char *at = text; *at >= '0' && *at <= '9'; at += *at == ' ')
		add_child(family, (u32)proc_decimal(&at), family->parent);
	return true;
}

/* Without `children` files: one process of all, whose parent may be watched. */
static bool add_if_child(void *arg, u32 pid)
{
	struct family *family = arg;
	struct proc_stat stat;
	AUTO_CLOSE int dir = proc_open(pid);

	if (dir >= 0 && proc_read_stat(dir, &stat) && tracker_find(family->tracker, stat.parent))
		add_child(family, pid, stat.parent);
	return true;
}

static void scan_all_parents(struct family *family)
{
	AUTO_CLOSE int proc = proc_open_root();

	/* Each round finds one generation. */
	for (u32 before = 0; proc >= 0 && before != family->tracker->watched.count;) {
		before = family->tracker->watched.count;
		proc_list_numbers(proc, ".", add_if_child, family);
	}
}

static void scan_children(struct tracker *tracker, u64 now)
{
	tracker_numbers queue = { 0 };
	struct family family = { .tracker = tracker, .now_ns = now, .queue = &queue };

	for (u32 i = 0; i < tracker->watched.count; i++)
		if (!vec_push(&queue, tracker->watched.at[i].pid))
			tracker->no_memory = true;
	for (u32 i = 0; i < queue.count && !family.no_file; i++) {
		AUTO_CLOSE int dir = proc_open(queue.at[i]);
		family.dir = dir;
		family.parent = queue.at[i];
		if (dir >= 0)
			proc_list_numbers(dir, "task", add_children_of_thread, &family);
	}
	if (family.no_file)
		scan_all_parents(&family);
	vec_free(&queue);
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
