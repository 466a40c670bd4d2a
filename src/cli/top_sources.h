/* SPDX-License-Identifier: Apache-2.0
 * top_sources.h - the sessions behind `sonde top`, each sampled by a thread of its own.
 *
 * Drawing, writing a report and a slow terminal must not delay a sample: a session's thread hands
 * its news over between two slices, and when the model is being looked at it does so next time. */
#pragma once
#include <pthread.h>

#include "cli/top_model.h"
#include "session/session.h"

struct top_source; /* opaque */

struct top_refused {
	u32 pid;
	u64 start_time, program;
};

struct top_sources {
	pthread_mutex_t lock; /* of the model */
	struct top_model *model;
	struct session_options options; /* of each; pid and spawned aside */
	VEC(struct top_source *) all;
	VEC(struct top_refused)
	refused;         /* what sonde cannot profile, as long as it runs the same program */
	u32 not_allowed; /* of the refused */
	bool has_all;    /* one session samples every process */
	bool stopped;    /* no thread runs, and the model has all they had */
};

void top_sources_init(struct top_sources *sources, struct top_model *model,
		      const struct session_options *options);
/* Attaches; then `top_sources_run` samples. */
bool top_sources_add(struct top_sources *sources, u32 pid, char *const *spawned, struct err *err);
/* Every process there is and will be, by one session whose engine can do that. */
bool top_sources_add_all(struct top_sources *sources, struct err *err);
/* Why the engine is not the best one (session_engine_note), or "". */
const char *top_sources_note(const struct top_sources *sources);
/* The first of them; NULL: there is none. */
const struct session *top_sources_first(const struct top_sources *sources);
/* Every process that can be profiled and is not yet, nor is a child of one that is. How many. */
u32 top_sources_find(struct top_sources *sources);
/* How many still run.  `err` is why the last one stopped. */
u32 top_sources_running(struct top_sources *sources, struct err *err);
/* What is handed over next is of an unknown time. */
void top_sources_resume(struct top_sources *sources);
/* Stops them all, and takes what they have left. */
void top_sources_stop(struct top_sources *sources);
void top_sources_free(struct top_sources *sources);
