/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * steps.bpf.h - the runtimes' steps, and parts of them, as global functions: the verifier looks at each of those once, and not on
 * every way that leads there, nor in every turn of a loop.  That is most of the time that it takes to load the programs. */
#pragma once
#define WALK_APART(part) part##_once /* before walk.h, which has it otherwise */
#define GLOBAL __attribute__((noinline))

#include "engines/kernel/named.bpf.h"
#include "runtimes/python/layout.h"
#include "runtimes/ruby/layout.h"
#include "runtimes/walk.h"

/* ---- parts --------------------------------------------------------------------------------- */

struct ruby_env;

GLOBAL int ruby_outer_env(struct mem_kept *kept, const struct walk *walk, u32 lives, u64 ep,
			  struct ruby_env *env);
GLOBAL int python_identity_of(struct mem_kept *kept, const struct python_state *state, u64 code,
			      u64 *out);
GLOBAL int python_pushed_here(struct mem_kept *kept, const struct python_state *state, u64 frame,
			      u64 code, u32 words);
GLOBAL int python_pushed_last(struct mem_kept *kept, const struct python_state *state, u64 end,
			      u64 *frame);
GLOBAL int python_calls_by_links(struct mem_kept *kept, const struct python_state *state, u64 outer,
				 u64 inner);
GLOBAL int python_looked_into(struct mem_kept *kept, const struct python_state *state, u64 *interp,
			      u64 *thread);
GLOBAL int python_handler_from(struct mem_kept *kept, const struct python_state *state, u64 thread,
			       u64 handling, u64 *generator);

static __always_inline bool ruby_read_outer_env_once(const struct mem *mem, const struct walk *walk,
						     bool lives, u64 ep, struct ruby_env *env)
{
	return ruby_outer_env(mem->kept, walk, lives, ep, env);
}

static __always_inline bool
python_identity_once(const struct mem *mem, const struct python_state *state, u64 code, u64 *out)
{
	return python_identity_of(mem->kept, state, code, out);
}

static __always_inline bool python_is_pushed_once(const struct mem *mem,
						  const struct python_state *state, u64 frame,
						  u64 code, u32 words)
{
	return python_pushed_here(mem->kept, state, frame, code, words);
}

static __always_inline bool python_pushed_before_once(const struct mem *mem,
						      const struct python_state *state, u64 end,
						      u64 *frame)
{
	return python_pushed_last(mem->kept, state, end, frame);
}

static __always_inline bool python_look_into_once(const struct mem *mem,
						  const struct python_state *state, u64 *interp,
						  u64 *thread)
{
	return python_looked_into(mem->kept, state, interp, thread);
}

static __always_inline bool
python_calls_once(const struct mem *mem, const struct python_state *state, u64 outer, u64 inner)
{
	return python_calls_by_links(mem->kept, state, outer, inner);
}

static __always_inline bool python_handler_once(const struct mem *mem,
						const struct python_state *state, u64 thread,
						u64 handling, u64 *generator)
{
	return python_handler_from(mem->kept, state, thread, handling, generator);
}

#include "runtimes/python/step.h"
#include "runtimes/ruby/step.h"
#include "runtimes/toy/step.h"

GLOBAL int ruby_outer_env(struct mem_kept *kept, const struct walk *walk, u32 lives, u64 ep,
			  struct ruby_env *env)
{
	struct mem mem = { kept };

	return kept && walk && env && ruby_read_outer_env(&mem, walk, lives, ep, env);
}

GLOBAL int python_identity_of(struct mem_kept *kept, const struct python_state *state, u64 code,
			      u64 *out)
{
	struct mem mem = { kept };

	return kept && state && out && python_identity(&mem, state, code, out);
}

GLOBAL int python_pushed_here(struct mem_kept *kept, const struct python_state *state, u64 frame,
			      u64 code, u32 words)
{
	struct mem mem = { kept };

	return kept && state && python_is_pushed(&mem, state, frame, code, words);
}

GLOBAL int python_pushed_last(struct mem_kept *kept, const struct python_state *state, u64 end,
			      u64 *frame)
{
	struct mem mem = { kept };

	return kept && state && frame && python_pushed_before(&mem, state, end, frame);
}

GLOBAL int python_calls_by_links(struct mem_kept *kept, const struct python_state *state, u64 outer,
				 u64 inner)
{
	struct mem mem = { kept };

	return kept && state && python_calls(&mem, state, outer, inner);
}

GLOBAL int python_looked_into(struct mem_kept *kept, const struct python_state *state, u64 *interp,
			      u64 *thread)
{
	struct mem mem = { kept };

	return kept && state && interp && thread && python_look_into(&mem, state, interp, thread);
}

GLOBAL int python_handler_from(struct mem_kept *kept, const struct python_state *state, u64 thread,
			       u64 handling, u64 *generator)
{
	struct mem mem = { kept };

	return kept && state && generator &&
	       python_handler(&mem, state, thread, handling, generator);
}

/* ---- steps --------------------------------------------------------------------------------- */

#define APART(runtime)                                                                            \
	GLOBAL int runtime##_step_apart(struct room *room, const struct runtime##_state *state,   \
					struct frame *frame)                                      \
	{                                                                                         \
		if (!room || !state || !frame)                                                    \
			return STEP_FAULT;                                                        \
		struct mem mem = { &room->kept };                                                 \
		return runtime##_step(&mem, state, &room->managed, frame);                        \
	}                                                                                         \
                                                                                                  \
	GLOBAL int runtime##_mend_apart(struct room *room, const struct runtime##_state *state)   \
	{                                                                                         \
		if (!room || !state)                                                              \
			return 0;                                                                 \
		struct mem mem = { &room->kept };                                                 \
		return runtime##_mend(&mem, state, &room->managed);                               \
	}                                                                                         \
                                                                                                  \
	GLOBAL int runtime##_begin_apart(struct room *room, const struct runtime##_state *state,  \
					 u64 thread)                                              \
	{                                                                                         \
		if (!room || !state)                                                              \
			return STEP_FAULT;                                                        \
		struct mem mem = { &room->kept };                                                 \
		int step = runtime##_begin(&mem, state, thread, &room->managed);                  \
		room->managed.flags |= WALK_PLACES | WALK_STANDS;                                 \
		return step;                                                                      \
	}                                                                                         \
                                                                                                  \
	/* The next of the VM's threads is seek.thread. */                                        \
	GLOBAL int runtime##_next_apart(struct room *room, const struct runtime##_state *state)   \
	{                                                                                         \
		if (!room || !state)                                                              \
			return STEP_FAULT;                                                        \
		struct mem mem = { &room->kept };                                                 \
		room->seek.thread = (struct vm_thread){ 0 };                                      \
		return runtime##_next_thread(&mem, state, &room->seek.where, &room->seek.thread); \
	}                                                                                         \
                                                                                                  \
	GLOBAL int runtime##_keep_apart(struct room *room, const struct runtime##_state *state,   \
					struct frame *frame)                                      \
	{                                                                                         \
		struct name_places places;                                                        \
                                                                                                  \
		if (!room || !state || !frame)                                                    \
			return 0;                                                                 \
		struct mem mem = { &room->kept };                                                 \
		if (!runtime##_name_places(&mem, state, frame->id, &places))                      \
			return 0;                                                                 \
		keep_name(room, &places, frame);                                                  \
		return 0;                                                                         \
	}

APART(toy)
APART(ruby)
APART(python)
