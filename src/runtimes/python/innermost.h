/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * innermost.h - who runs on a thread, and who calls a generator, where no link says so yet (3.11, 3.12).
 *
 * BPF-safe text, as step.h. */
#pragma once
#include "runtimes/python/handled.h"

enum {
	/* Callers of one frame among which another is sought. */
	PYTHON_CALLERS_MAX = 64,
	/* Bytes between a cframe and the shim of its entry. */
	PYTHON_ENTRY_MAX = 512,
};

/* Is `outer` among the callers of `inner`? */
PYTHON_WALKER bool python_calls(const struct mem *mem, const struct python_state *state, u64 outer,
				u64 inner)
{
	for (u32 i = 0; i < PYTHON_CALLERS_MAX && inner != outer; i++)
		if (!mem_read(mem, inner + state->at.frame_previous, &inner, 8) ||
		    !python_address_ok(inner))
			return false;
	return inner == outer;
}

/* Does the frame run, and the generator, too, or wait for it?  What has not begun has variables at the top of its
 * stack. */
PYTHON_WALKER bool python_waits_for(const struct mem *mem, const struct python_state *state,
				    u64 frame, u64 leaf)
{
	const struct python_layout *at = &state->at;
	u64 generator = leaf - at->gen_frame, object;
	struct python_frame words;
	s32 top;
	u8 runs;

	if (!mem_read(mem, frame + at->frame_top, &top, 4))
		return false;
	if (top < 0)
		return mem_read(mem, generator + at->gen_state, &runs, 1) && runs == 0;
	return mem_read(mem, frame + at->frame_locals + 8 * ((u64)top - 1), &object, 8) &&
	       object == generator && python_read_frame(mem, state, frame, false, &words) &&
	       python_has_begun(mem, state, &words);
}

/* A generator that runs has a place in the list of what is handled, and a function one on the thread's stack.  The innermost of
 * the ones and the innermost of the others are known by that, and one of them calls the other: it is that other. */
PYTHON_WALKER bool python_inner_of(const struct mem *mem, const struct python_state *state,
				   u64 function, u64 generator, u64 *inner)
{
	*inner = function;
	if (!generator || WALK_APART(python_calls)(mem, state, generator, function))
		return true;
	*inner = generator;
	return WALK_APART(python_calls)(mem, state, function, generator);
}

/* The inner one of the function that was pushed before `end` and the generator that runs; `entered` is the place in the list of one
 * that does not count, or 0. */
PYTHON_WALKER bool python_seek_inner(const struct mem *mem, const struct python_state *state,
				     u64 thread, u64 end, u64 entered, u64 *inner)
{
	u64 function, handling, generator;

	if (!WALK_APART(python_pushed_before)(mem, state, end, &function) ||
	    !mem_read(mem, thread + state->at.thread_handling, &handling, 8) ||
	    (handling == entered &&
	     !mem_read(mem, entered + state->at.handled_previous, &handling, 8)) ||
	    !WALK_APART(python_handler)(mem, state, thread, handling, &generator))
		return false;
	return python_inner_of(mem, state, function, generator, inner);
}

/* Who calls the generator whose frame this is? */
PYTHON_WALKER bool python_seek_caller(const struct mem *mem, const struct python_state *state,
				      u64 thread, u64 leaf, u64 *caller)
{
	u64 own = python_handling_of(state, leaf), end;

	return mem_read(mem, thread + state->at.thread_top, &end, 8) &&
	       python_seek_inner(mem, state, thread, end, own, caller) && *caller != leaf &&
	       python_waits_for(mem, state, *caller, leaf);
}

/* Has the loop not put down where the frame's stack ends, as it does before it runs another one? */
PYTHON_WALKER bool python_runs(const struct mem *mem, const struct python_state *state, u64 frame)
{
	s32 top;

	return mem_read(mem, frame + state->at.frame_top, &top, 4) && top < 0;
}

/* The generator that runs, or waits for who does.  One that is being entered is in the list, and does neither. */
PYTHON_WALKER bool python_running_generator(const struct mem *mem, const struct python_state *state,
					    u64 thread, u64 function, u64 waits, u64 *generator)
{
	const struct python_layout *at = &state->at;
	u64 handling;

	if (!mem_read(mem, thread + at->thread_handling, &handling, 8) ||
	    !WALK_APART(python_handler)(mem, state, thread, handling, generator))
		return false;
	if (!*generator || *generator == waits || python_runs(mem, state, *generator) ||
	    WALK_APART(python_calls)(mem, state, *generator, function))
		return true;
	handling = python_handling_of(state, *generator);
	return mem_read(mem, handling + at->handled_previous, &handling, 8) &&
	       WALK_APART(python_handler)(mem, state, thread, handling, generator);
}

/* Does what is being left lead to whom the shim that is shown leads to, itself or through that: was it entered there, or did C enter
 * there, and has left, to end what it held (3.12)? */
PYTHON_WALKER bool python_is_left_to(const struct python_state *state, u64 previous, u64 shown,
				     u64 waits)
{
	return (state->facts & PYTHON_HAS_SHIMS) && waits &&
	       (previous == shown || previous == waits);
}

/* Whose frame runs, where the thread does not lead to a function: what is being entered has not begun and is not linked yet,
 * what is being left is neither.  `waits` is whom `shown`, that counts no more, leads to, or 0: if it is the innermost, it has
 * called what becomes a generator, and is not in the data stack any more; or C, through the shim that is shown, what is being left. */
PYTHON_WALKER bool python_seek_running(const struct mem *mem, const struct python_state *state,
				       u64 thread, u64 shown, u64 waits, u64 *running)
{
	struct python_frame words;
	u64 function, generator;

	if (!mem_read(mem, thread + state->at.thread_top, &function, 8))
		return false;
	for (u32 left = 0; left < 2; left++) {
		if (!WALK_APART(python_pushed_before)(mem, state, function, &function) ||
		    !python_read_frame(mem, state, function, false, &words))
			return false;
		u64 end = python_pushed_behind(mem, state, thread, function);
		if (!python_has_begun(mem, state, &words))
			return !left && python_seek_inner(mem, state, thread, end, 0, running);
		if (!python_running_generator(mem, state, thread, function, waits, &generator) ||
		    !python_inner_of(mem, state, function, generator, running))
			return false;
		if (*running == waits || python_runs(mem, state, *running))
			return true;
		if (*running != function)
			return false;
		if (python_is_left_to(state, words.previous, shown, waits)) {
			*running = waits;
			return true;
		}
		function = end;
		if (words.previous != shown)
			waits = 0;
	}
	return false;
}

/* Is it on C's stack, beside the thread's cframe: an entry's shim, also while it is being filled (3.12)? */
PYTHON_WALKER bool python_is_own_shim(const struct python_state *state, const struct walk *walk,
				      u64 frame)
{
	const u32 entry = PYTHON_HAS_CFRAME | PYTHON_HAS_SHIMS;

	return (state->facts & entry) == entry &&
	       frame - walk->limit + PYTHON_ENTRY_MAX < 2 * PYTHON_ENTRY_MAX;
}

/* Does a function that has not begun lead to who has entered it?  It is published before it is linked. */
PYTHON_WALKER bool python_is_linked(const struct mem *mem, const struct python_state *state,
				    const struct walk *walk, u64 frame, u64 previous)
{
	u64 code;

	if (!state->at.thread_top || walk->link ||
	    previous - walk->limit < PYTHON_ENTRY_MAX) /* C: its shim is beside its cframe */
		return true;
	u64 end = python_pushed_behind(mem, state, walk->thread, frame);
	return mem_read(mem, previous + state->at.frame_code, &code, 8) &&
	       WALK_APART(python_is_pushed)(mem, state, previous, code,
					    (u32)((end - previous) / 8));
}
