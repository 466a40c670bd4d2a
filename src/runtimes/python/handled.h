/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * handled.h - the list of the exceptions that are handled: each generator that runs has a place there, and outside of them the
 * thread itself (struct _PyErr_StackItem).
 *
 * BPF-safe text, as step.h. */
#pragma once
#include "runtimes/python/data_stack.h"

enum {
	/* Generators within generators that are asked whether they handle an exception: Python's own limit is 1,000. */
	PYTHON_HANDLED_MAX = 1 << 14,
	/* Places of others' generators, one after the other, that are passed over. */
	PYTHON_FOREIGN_MAX = 64,
	PYTHON_THREAD_MAX = 1024, /* bytes of a thread (3.11, 3.12) */
};

/* Between `raise` and the handler, or inside a handler: of the thread's functions and of the generators that
 * it runs, each of which has an item of its own. */
PYTHON_WALKER bool python_raises(const struct mem *mem, const struct python_state *state,
				 u64 thread)
{
	const struct python_layout *at = &state->at;
	u64 value, item;

	if (!at->thread_raising || !state->none)
		return false;
	if (mem_peek(mem, thread + at->thread_raising, &value, 8) && value)
		return true;
	if (!mem_peek(mem, thread + at->thread_handling, &item, 8))
		return false;
	if (!at->handled_previous)
		return item && item != state->none;
	for (u32 i = 0; i < PYTHON_HANDLED_MAX && python_address_ok(item); i++) {
		if (!mem_peek(mem, item, &value, 8))
			return false;
		if (value && value != state->none)
			return true;
		if (!mem_peek(mem, item + at->handled_previous, &item, 8))
			return false;
	}
	return false;
}

/* The place in the list of the generator whose frame this is. */
PYTHON_WALKER u64 python_handling_of(const struct python_state *state, u64 frame)
{
	return frame - state->at.gen_frame + state->at.gen_handling;
}

/* Is it a part of the thread itself: of its places, or of its cframes, the outermost? */
PYTHON_WALKER bool python_is_own(u64 thread, u64 addr)
{
	return addr - thread < PYTHON_THREAD_MAX;
}

/* The frame of the generator whose place in the list of what is handled this is, or of the next one that is Python's own: Cython's have a
 * place there, too, and no frame. 0: it is the thread's. */
PYTHON_WALKER bool python_handler(const struct mem *mem, const struct python_state *state,
				  u64 thread, u64 handling, u64 *generator)
{
	const struct python_layout *at = &state->at;
	u64 code;
	u8 owner;

	for (u32 i = 0; i < PYTHON_FOREIGN_MAX; i++) {
		*generator = 0;
		if (python_is_own(thread, handling))
			return true;
		*generator = handling - at->gen_handling + at->gen_frame;
		if (mem_read(mem, *generator + at->frame_owner, &owner, 1) &&
		    owner == PYTHON_OWNED_BY_GENERATOR &&
		    mem_read(mem, *generator + at->frame_code, &code, 8) &&
		    python_is_code(mem, state, code))
			return true;
		if (!mem_read(mem, handling + at->handled_previous, &handling, 8))
			return false;
	}
	return false;
}

/* Does neither a function nor a generator run?  A greenlet has a stack of frames of its own, and none before its first function. */
PYTHON_WALKER bool python_runs_nothing(const struct mem *mem, const struct python_state *state,
				       u64 thread)
{
	const struct python_layout *at = &state->at;
	u64 top, handling;

	return at->thread_top && mem_read(mem, thread + at->thread_top, &top, 8) && !top &&
	       mem_read(mem, thread + at->thread_handling, &handling, 8) &&
	       python_is_own(thread, handling);
}
