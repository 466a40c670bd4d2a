/* SPDX-License-Identifier: Apache-2.0
 * thread_filter.h - -t TID|NAME, for every engine: which threads are wanted, and which ones there were, for a user who asked
 * for one in vain. */
#pragma once
#include "base/vec.h"
#include "engines/engine.h"

typedef VEC(struct engine_thread) seen_threads; /* all zero: none */

bool thread_filter_is_set(const struct engine_options *options);
/* Names of threads are cut to what struct engine_thread has room for: so is the one that is asked for. */
bool thread_filter_is_name(const char *wanted, const char *name);
/* A number is that of this side or of the target's own pid namespace (`inner_tid`, 0: not known).  Without a filter all pass. */
bool thread_filter_passes(const struct engine_options *options, u32 tid, u32 inner_tid,
			  const char *name);
/* A thread that is seen again has its last name, and stays wanted if it ever was.  Keeps the first thousand, and those that
 * are wanted. */
void thread_filter_note(seen_threads *seen, const struct engine_thread *thread);
/* For an engine's seen(): how many there are; those that were wanted first, since there may be no room for the rest. */
u32 thread_filter_list(const seen_threads *seen, struct engine_thread *out, u32 room);
