/* SPDX-License-Identifier: Apache-2.0
 * session.h - one run: target, engine, names and profile, from start to Ctrl-C. */
#pragma once
#include "engines/engine.h"
#include "profile/profile.h"
#include "profile/recorder.h"

struct session; /* opaque */
struct event_list;

/* What is looked at instead of the clock. */
struct session_events {
	const char *const *words; /* names and patterns, as events/events.h has them */
	u32 count;
	u32 every;          /* one of so many hits; 0: all, as long as there are not too many */
	u64 latency_min_ns; /* a system call that is shorter is no event */
	bool weigh_time;    /* what it took, and not that it was */
	bool at_root;       /* an event is the root of its stack, and not the leaf */
};

struct session_options {
	u32 pid;
	const char *engine; /* NULL: the best that can run here */
	struct engine_options run;
	/* The pid is a child of ours that waits to be released before its exec of this (session/spawn.h):
	 * a process without a runtime is then no error but not started yet. NULL: it is not; borrowed. */
	char *const *spawned;
	const struct session_events *events; /* NULL: none */
	const char *command; /* how sonde was called, for the profile; NULL: not known; borrowed */
	bool with_source;    /* keep the text of the files that samples are in */
	bool by_function;    /* frames are functions, not lines of them */
	u32 timeline_cells;  /* 0: when a sample was taken is not kept (profile/timeline.h) */
};

struct session *session_start(const struct session_options *options, struct err *err);
/* Samples until `until_ns`, an interrupt or the end of the last process (false, ERR_NO_PROCESS). */
bool session_run(struct session *session, u64 until_ns, struct err *err);
/* Call after the last session_run(), on its thread: samples that still wait for a weight go into the profile, and the ledger is closed. */
void session_end(struct session *session);
/* Behind it, or in its place: what still waits for a name goes into the profile as it is, lines and inlined functions are looked up, and stacks
 * taken apart.  The thread gives up the rights that sampling took. */
void session_finish(struct session *session);
/* The profile so far; valid until session_free. Quality is up to date. */
const struct profile *session_profile(struct session *session);
/* What is sampled from now on goes to the recorder too, which is borrowed: after session_free() it
 * has no profile any more. */
void session_record(struct session *session, struct recorder *recorder);
/* Since it began. */
double session_seconds(const struct session *session);
/* The threads that a filter was asked about, `room` at the most; how many there were. */
u32 session_seen(const struct session *session, struct engine_thread *out, u32 room);
/* Why the engine is not the best that there is, though nobody asked for another; "": it is. */
const char *session_engine_note(const struct session *session);
/* Is the first process stopped now, by a signal or a debugger? */
bool session_is_stopped(const struct session *session);
/* The events that the words stand for, and what became of them (by index, as many). */
const struct event_list *session_events(const struct session *session);
void session_event_counts(const struct session *session, struct engine_event *out);
void session_free(struct session *session);
