/* SPDX-License-Identifier: Apache-2.0
 * tracker.c - the watched set, and telling its events in order.
 *
 *	perf rings, merged by time --+
 *	                             +--> events of watched processes --> fn
 *	/proc -----------------------+      (the set follows forks and exits)
 *
 * A source changes the set as it meets forks and exits, because whether the next
 * record matters depends on it. Callers hear of it in tracker_poll() only.
 *
 * Processes that were forked before the tracker was opened are found once in
 * /proc and told as forks. The rings are open by then: nothing falls between. */
#include "target/tracker.h"

#include "base/clock.h"
#include "base/log.h"
#include "target/tracker_parts.h"

#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN LOG_target

/* Asking costs 7 us, and a main thread may have ended hours before the rest. */
static const u64 CHECK_EVERY_NS = 5 * NS_PER_MS;

/* --- the watched set --------------------------------------------------------------------- */

/* The first entry whose pid is not below. */
static u32 place_of(const struct tracker *tracker, u32 pid)
{
	return vec_first_not(&tracker->watched, one, one->pid < pid);
}

struct watched *tracker_find(const struct tracker *tracker, u32 pid)
{
	u32 place = place_of(tracker, pid);

	if (place < tracker->watched.count && tracker->watched.at[place].pid == pid)
		return &tracker->watched.at[place];
	return NULL;
}

struct watched *tracker_watch(struct tracker *tracker, u32 pid)
{
	u32 place = place_of(tracker, pid);

	if (!vec_grow(&tracker->watched, tracker->watched.count + 1)) {
		tracker->no_memory = true;
		return NULL;
	}
	struct watched *process = &tracker->watched.at[place];
	memmove(process + 1, process, (tracker->watched.count - place) * sizeof *process);
	tracker->watched.count++;
	*process = (struct watched){ .pid = pid };
	return process;
}

void tracker_forget(struct tracker *tracker, struct watched *process)
{
	u32 place = (u32)(process - tracker->watched.at);

	vec_free(&process->tids);
	tracker->watched.count--;
	memmove(process, process + 1, (tracker->watched.count - place) * sizeof *process);
}

void tracker_tell(struct tracker *tracker, enum tracker_event_kind kind, u32 pid, u32 tid,
		  u32 parent, u64 time_ns)
{
	struct tracker_event event = {
		.kind = kind, .pid = pid, .tid = tid, .parent = parent, .time_ns = time_ns
	};

	tracker_tell_event(tracker, event);
}

void tracker_tell_event(struct tracker *tracker, struct tracker_event event)
{
	if (!vec_push(&tracker->pending, event))
		tracker->no_memory = true;
}

/* --- opening ----------------------------------------------------------------------------- */

/* `since_ns` is from before the source was opened: what is found in /proc has happened before
 * whatever the source tells. */
static struct tracker *open_with(struct perf_source *source, u64 since_ns, u32 pid, bool children,
				 struct err *err)
{
	struct tracker *tracker = calloc(1, sizeof *tracker);

	if (tracker)
		tracker->perf = source;
	else
		perf_source_close(source);
	if (!tracker || !tracker_watch(tracker, pid)) {
		tracker_close(tracker);
		err_no_memory(err);
		return NULL;
	}
	tracker->children = children;
	if (tracker_is_gone(&tracker->watched.at[0])) {
		tracker_close(tracker);
		err_set(err, ERR_NO_PROCESS, "no process %u", pid);
		return NULL;
	}
	tracker_scan(tracker, source ? SCAN_CHILDREN : SCAN_ALL, since_ns);
	return tracker;
}

struct tracker *tracker_open(u32 pid, bool children, struct err *err)
{
	u64 now = clock_now_ns();
	struct err why = { 0 };
	struct perf_source *source = perf_source_open(&why);

	/* Refused (EACCES), not built in (ENOSYS), no descriptors: /proc serves all the same. */
	if (!source)
		log_debug(1, "tracker: by /proc: %s", why.text);
	return open_with(source, now, pid, children, err);
}

struct tracker *tracker_open_proc(u32 pid, bool children, struct err *err)
{
	return open_with(NULL, clock_now_ns(), pid, children, err);
}

void tracker_close(struct tracker *tracker)
{
	if (!tracker)
		return;
	perf_source_close(tracker->perf);
	for (u32 i = 0; i < tracker->watched.count; i++)
		vec_free(&tracker->watched.at[i].tids);
	vec_free(&tracker->watched);
	vec_free(&tracker->pending);
	free(tracker);
}

const char *tracker_source(const struct tracker *tracker)
{
	return tracker->perf ? "perf" : "proc";
}

u64 tracker_lost(const struct tracker *tracker)
{
	return tracker->lost;
}

/* --- polling ----------------------------------------------------------------------------- */

/* A process whose first thread has ended is gone when the others have, too; the kernel tells that
 * of each thread, and the last one is still being taken down when it does. So ask until it is so.
 * Another thread may have forked since the rings were read: the end is told at the next look, when
 * that record has been, or the child's parent would be forgotten before the child is known. */
static void tell_the_ended(struct tracker *tracker, u64 now)
{
	if (now < tracker->next_check_ns)
		return;
	for (u32 i = tracker->watched.count; i-- > 0;) {
		struct watched *process = &tracker->watched.at[i];
		if (!process->ending)
			continue;
		if (!process->gone) {
			process->gone = tracker_is_gone(process);
			continue;
		}
		tracker_tell(tracker, TRACK_EXIT, process->pid, process->pid, 0, now);
		tracker_forget(tracker, process);
	}
	tracker->next_check_ns = now + CHECK_EVERY_NS;
}

void tracker_poll(struct tracker *tracker, tracker_fn *fn, void *arg)
{
	/* Taken before the rings are read: what happened until now is in them, see tracker_perf.c. */
	u64 now = clock_now_ns();
	u64 lost = tracker->lost;

	if (tracker->perf) {
		perf_source_poll(tracker->perf, tracker, now);
		tell_the_ended(tracker, now);
		if (tracker->lost != lost)
			tracker_scan(tracker, SCAN_CHILDREN, now);
	} else if (now >= tracker->next_scan_ns) {
		tracker_scan(tracker, SCAN_ALL, now);
	}
	if (tracker->no_memory) {
		tracker->no_memory = false;
		tracker->lost++;
	}
	if (tracker->lost != lost)
		tracker_tell(tracker, TRACK_LOST, 0, 0, 0, now);
	/* A callback may open and close targets, but does not poll: the list stands still. */
	for (u32 i = 0; i < tracker->pending.count; i++)
		fn(arg, &tracker->pending.at[i]);
	vec_clear(&tracker->pending);
}
