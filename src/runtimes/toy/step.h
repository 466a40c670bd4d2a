/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * step.h - the walkers of the toy VM: its threads, and one frame at a time.
 *
 * This text is compiled into the reader, the BPF program and the tests; walk.h says
 * what it may do.  The loop belongs to the engine: it calls toy_step() until it says
 * something else than STEP_MORE. */
#pragma once
#include "runtimes/toy/layout.h"
#include "runtimes/walk.h"

/* *where is the address of the word that points to the next thread. */
static inline enum step toy_next_thread(const struct mem *mem, const struct toy_state *state,
					u64 *where, struct vm_thread *out)
{
	u64 thread = 0;
	u32 tid = 0;

	if (!mem_u64(mem, *where ? *where : state->threads, &thread))
		return STEP_FAULT;
	if (!thread)
		return STEP_DONE;
	if (!mem_u32(mem, thread + state->at.thread_tid, &tid))
		return STEP_FAULT;
	out->thread = thread;
	out->native = 0;
	out->tid = tid;
	out->state = VM_THREAD_UNKNOWN;
	*where = thread + state->at.thread_next;
	return STEP_MORE;
}

/* A native thread's own word is its thread. */
static inline bool toy_thread_of(const struct mem *mem, const struct toy_state *state, u64 word,
				 u64 *thread)
{
	(void)mem, (void)state;
	*thread = word;
	return true;
}

/* There is one of a native thread. */
static inline bool toy_has_turns(const struct mem *mem, const struct toy_state *state)
{
	(void)mem, (void)state;
	return false;
}

static inline u64 toy_in_turn(const struct mem *mem, const struct toy_state *state, u64 thread)
{
	(void)mem, (void)state;
	return thread;
}

/* Its frames are a list: nobody knows where the outermost ones are. */
static inline bool toy_skip(const struct toy_state *state, struct walk *walk, u32 keep)
{
	(void)state, (void)walk, (void)keep;
	return false;
}

/* What a frame does not say nothing else says. */
static inline bool toy_mend(const struct mem *mem, const struct toy_state *state, struct walk *walk)
{
	(void)mem, (void)state, (void)walk;
	return false;
}

/* Its names are read while they are there. */
static inline bool toy_name_places(const struct mem *mem, const struct toy_state *state, u64 id,
				   struct name_places *out)
{
	(void)mem, (void)state, (void)id, (void)out;
	return false;
}

/* It has no lock. */
static inline bool toy_wants_lock(const struct mem *mem, const struct toy_state *state, u64 thread)
{
	(void)mem, (void)state, (void)thread;
	return false;
}

/* What is read here is the head: it says where the stack is, and where it has to end. */
static inline enum step toy_begin(const struct mem *mem, const struct toy_state *state, u64 thread,
				  struct walk *walk)
{
	walk->depth = 0;
	walk->flags = 0;
	walk->generation = 1; /* the VM never frees code: an address means one function for good */
	if (!mem_u64(mem, thread + state->at.thread_frame, &walk->cursor) ||
	    !mem_u64(mem, thread + state->at.thread_root, &walk->limit))
		return STEP_FAULT;
	return walk->cursor ? STEP_MORE : STEP_EMPTY;
}

static inline enum step toy_step(const struct mem *mem, const struct toy_state *state,
				 struct walk *walk, struct frame *out)
{
	u64 at = walk->cursor, code = 0, prev = 0;
	bool is_leaf = walk->depth == 0;
	u32 line = 0;

	if (!at) /* the frame before this one said that it was the last: was it the root? */
		return walk->limit ? STEP_FAULT : STEP_DONE;
	if (!mem_u64(mem, at + state->at.frame_code, &code) ||
	    !mem_u64(mem, at + state->at.frame_prev, &prev))
		return STEP_FAULT;
	/* The leaf moves from line to line while we look; its callers stand still. */
	if (is_leaf ? !mem_peek(mem, at + state->at.frame_line, &line, sizeof line) :
		      !mem_u32(mem, at + state->at.frame_line, &line))
		return STEP_FAULT;
	out->id = code;
	out->owner = 0;
	out->at = at;
	out->pos = line;
	out->kind = 0; /* the engine knows which runtime this is */
	out->flags = is_leaf ? FRAME_LEAF : 0;
	if (at == walk->limit)
		walk->limit = 0;
	walk->cursor = prev;
	walk->depth++;
	return STEP_MORE;
}
