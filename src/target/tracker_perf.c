/* SPDX-License-Identifier: Apache-2.0
 * tracker_perf.c - process events from the kernel's perf side-band records.
 *
 * One dummy software event a CPU, for all processes (pid -1), with attr.task and
 * attr.comm_exec: it counts nothing and writes, into a ring in our memory,
 *
 *	FORK   a new process or thread      pid, parent, tid, parent's tid
 *	EXIT   a thread has ended           the same
 *	COMM   a thread has got a name      pid, tid, name; with MISC_COMM_EXEC: an exec
 *	LOST   the ring was full            how many
 *
 * Pids are those of the pid namespace that opened the event; a process outside of
 * it has none and is skipped.  Every CPU writes its own ring, so the order of a
 * fork here and the child's exec there is found by time.
 *
 * Why a cut at `until_ns` makes that order safe: the kernel writes a FORK record
 * before the child can run, so before any record of the child. Let a record be at
 * or before `until_ns`, read before we look at the rings: then every record that
 * caused it was already written when we looked.  Later ones wait for the next poll.
 *
 * A CPU that comes online later is not listened to. */
#include "target/tracker_parts.h"

#include "target/perf_ring.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RING_PAGES = 16 /* 64 kB: 1,000 records between two polls of one CPU */ };

/* A record, cut down to what matters. */
struct note {
	u64 time_ns;
	u64 order; /* as read, for records of the same nanosecond */
	u32 type;
	u32 pid, tid, parent;
	bool exec; /* COMM: the name comes of an exec */
};

struct perf_source {
	VEC(struct perf_ring) rings;
	VEC(struct note) notes;
	u64 order;
};

/* --- rings ------------------------------------------------------------------------------- */

struct perf_source *perf_source_open(struct err *err)
{
	struct perf_source *source = calloc(1, sizeof *source);
	struct perf_event_attr attributes = perf_ring_attributes();
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (!source) {
		err_no_memory(err);
		return NULL;
	}
	attributes.task = attributes.comm = attributes.comm_exec = 1;
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct perf_ring ring = { 0 };
		bool opened = perf_ring_open(&ring, &attributes, cpu, RING_PAGES, err);
		if (opened && vec_push(&source->rings, ring))
			continue;
		if (opened)
			err_no_memory(err);
		perf_ring_close(&ring);
		perf_source_close(source);
		return NULL;
	}
	return source;
}

void perf_source_close(struct perf_source *source)
{
	if (!source)
		return;
	for (u32 i = 0; i < source->rings.count; i++)
		perf_ring_close(&source->rings.at[i]);
	vec_free(&source->rings);
	vec_free(&source->notes);
	free(source);
}

/* --- records ----------------------------------------------------------------------------- */

struct task_record { /* FORK and EXIT */
	struct perf_event_header header;
	u32 pid, parent, tid, parent_tid;
	u64 time_ns;
};

struct comm_record { /* the name follows, then the trailer */
	struct perf_event_header header;
	u32 pid, tid;
};

/* Whose records they are. */
struct taking {
	struct perf_source *source;
	struct tracker *tracker;
};

static void take_record(void *arg, const struct perf_event_header *record)
{
	const struct taking *taking = arg;
	struct perf_source *source = taking->source;
	struct perf_event_header header = *record;
	struct note note = { 0 };

	if ((header.type == PERF_RECORD_FORK || header.type == PERF_RECORD_EXIT) &&
	    header.size >= sizeof(struct task_record)) {
		struct task_record task;
		memcpy(&task, record, sizeof task);
		note = (struct note){ .time_ns = task.time_ns,
				      .type = header.type,
				      .pid = task.pid,
				      .tid = task.tid,
				      .parent = task.parent };
	} else if (header.type == PERF_RECORD_COMM &&
		   header.size >= sizeof(struct comm_record) + sizeof(u64)) {
		struct comm_record comm;
		memcpy(&comm, record, sizeof comm);
		note = (struct note){ .time_ns = perf_record_time(record),
				      .type = header.type,
				      .pid = comm.pid,
				      .tid = comm.tid,
				      .exec = header.misc & PERF_RECORD_MISC_COMM_EXEC };
	}
	/* 0 or -1: of another pid namespace, or of none any more. */
	if (note.pid == 0 || note.pid > INT32_MAX)
		return;
	note.order = source->order++;
	if (!vec_push(&source->notes, note))
		taking->tracker->no_memory = true;
}

/* --- meaning ----------------------------------------------------------------------------- */

static void apply_fork(struct tracker *tracker, const struct note *note)
{
	if (note->pid == note->parent) {
		if (tracker_find(tracker, note->pid))
			tracker_tell(tracker, TRACK_THREAD, note->pid, note->tid, note->pid,
				     note->time_ns);
		return;
	}
	struct watched *before = tracker_find(tracker, note->pid);
	if (before && !before->ending)
		return; /* found in /proc before its record was read */
	if (before) {
		/* The number is free again, so the process that had it is gone. */
		tracker_tell(tracker, TRACK_EXIT, note->pid, note->pid, 0, note->time_ns);
		tracker_forget(tracker, before);
	}
	if (tracker->children && tracker_find(tracker, note->parent) &&
	    tracker_watch(tracker, note->pid))
		tracker_tell(tracker, TRACK_FORK, note->pid, note->tid, note->parent,
			     note->time_ns);
}

static void apply_note(struct tracker *tracker, const struct note *note)
{
	struct watched *process;

	if (note->type == PERF_RECORD_FORK) {
		apply_fork(tracker, note);
		return;
	}
	process = tracker_find(tracker, note->pid);
	if (!process)
		return;
	if (note->type == PERF_RECORD_COMM && !note->exec) {
		tracker_tell(tracker, TRACK_THREAD, note->pid, note->tid, note->pid, note->time_ns);
		return;
	}
	if (note->type == PERF_RECORD_COMM) {
		/* When another thread execs, the first one ends and hands it its number. */
		process->ending = false;
		tracker_tell(tracker, TRACK_EXEC, note->pid, note->tid, 0, note->time_ns);
		return;
	}
	process->ending |= note->tid == note->pid;
	tracker_tell(tracker, TRACK_THREAD_EXIT, note->pid, note->tid, 0, note->time_ns);
}

static int compare_notes(const void *left, const void *right)
{
	const struct note *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

void perf_source_poll(struct perf_source *source, struct tracker *tracker, u64 until_ns)
{
	struct taking taking = { source, tracker };
	u32 done = 0;

	for (u32 i = 0; i < source->rings.count; i++)
		tracker->lost += !perf_ring_drain(&source->rings.at[i], take_record, &taking);
	if (!source->notes.count)
		return;
	qsort(source->notes.at, source->notes.count, sizeof source->notes.at[0], compare_notes);
	while (done < source->notes.count && source->notes.at[done].time_ns <= until_ns)
		apply_note(tracker, &source->notes.at[done++]);
	source->notes.count -= done;
	memmove(source->notes.at, source->notes.at + done,
		source->notes.count * sizeof source->notes.at[0]);
}
