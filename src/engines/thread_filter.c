/* SPDX-License-Identifier: Apache-2.0
 * thread_filter.c - see thread_filter.h. */
#include "engines/thread_filter.h"

#include <string.h>

#include "base/utf8.h"

enum { SEEN_MAX = 1000 };

bool thread_filter_is_set(const struct engine_options *options)
{
	return options->tid || options->thread_name;
}

bool thread_filter_is_name(const char *wanted, const char *name)
{
	size_t kept = utf8_cut(wanted, strlen(wanted), sizeof((struct engine_thread *)0)->name - 1);

	return strlen(name) == kept && !memcmp(wanted, name, kept);
}

bool thread_filter_passes(const struct engine_options *options, u32 tid, u32 inner_tid,
			  const char *name)
{
	if (options->tid)
		return options->tid == tid || options->tid == inner_tid;
	return !options->thread_name || thread_filter_is_name(options->thread_name, name);
}

/* Threads that are on no native thread are told by their names. */
static bool is_same(const struct engine_thread *a, const struct engine_thread *b)
{
	return a->tid == b->tid && (a->tid || !strcmp(a->name, b->name));
}

void thread_filter_note(seen_threads *seen, const struct engine_thread *thread)
{
	for (u32 i = 0; i < seen->count; i++) {
		struct engine_thread *before = &seen->at[i];
		if (is_same(before, thread)) {
			memcpy(before->name, thread->name, sizeof before->name);
			before->wanted |= thread->wanted;
			return;
		}
	}
	if (seen->count < SEEN_MAX)
		(void)vec_push(seen, *thread); /* out of memory: the list is for a message */
	else if (thread->wanted)
		seen->at[SEEN_MAX - 1] = *thread;
}

u32 thread_filter_list(const seen_threads *seen, struct engine_thread *out, u32 room)
{
	for (u32 pass = 0, at = 0; pass < 2; pass++)
		for (u32 i = 0; i < seen->count && at < room; i++)
			if (seen->at[i].wanted == (pass == 0))
				out[at++] = seen->at[i];
	return seen->count;
}
