/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * step.h - walking a Python stack: its innermost frame, one frame at a time; whose it can be, thread_list.h tells.
 *
 *	thread -> [cframe] -> frame -> frame -> (shim) -> frame -> ... -> NULL or base frame
 *
 * BPF-safe text: bounded loops, no globals, no pointers but to the state.
 *
 * Invariants: every address from the target is checked before it is followed, and nothing but the leaf's pc
 * may move without being noticed. */
#pragma once
#include "base/spread.h"
#include "runtimes/python/identity.h"
#include "runtimes/python/innermost.h"

enum {
	PYTHON_DICT_VERSION = 24, /* ma_version_tag, to 3.11 */
};

/* ---- the innermost frame ------------------------------------------------------------------- */

/* Each interpreter counts for itself, and what dies in one may lie where another makes its own.  (63 bits.) */
PYTHON_WALKER u64 python_epoch(u64 interp, u64 counted)
{
	return counted ? (interp * SPREAD + 2 * counted) >> 1 : 0;
}

/* It collects who has the lock; without one all others stand still meanwhile. */
PYTHON_WALKER bool python_may_collect(const struct mem *mem, const struct python_state *state,
				      u64 interp, u64 thread)
{
	return (state->facts & PYTHON_FREE_THREADED) || python_holder(mem, state, interp) == thread;
}

PYTHON_WALKER void python_read_heap(const struct mem *mem, const struct python_state *state,
				    u64 interp, struct walk *walk)
{
	const struct python_layout *at = &state->at;
	u64 collecting = at->runtime_collecting ? state->runtime + at->runtime_collecting :
			 at->interp_collecting  ? interp + at->interp_collecting :
						  0;
	u64 generation;
	u32 flag, version;

	if (collecting && mem_peek_last(mem, collecting, &flag, 4) && flag == 1 &&
	    python_may_collect(mem, state, interp, walk->thread))
		walk->flags |= WALK_GC;
	/* A frame's owner tells apart what was at its address, whenever that was. */
	walk->generation = 1;
	/* Raised when code dies (3.14 on), or when it is made, before it runs: a counter that stays at 0 when it
	 * is full.  0 means unknown here. */
	if (at->interp_generation) {
		if (mem_peek_last(mem, interp + at->interp_generation, &generation, 8))
			walk->epoch = python_epoch(interp, generation + 1);
	} else if (at->interp_version) {
		if (mem_peek_last(mem, interp + at->interp_version, &version, 4))
			walk->epoch = python_epoch(interp, version);
	} else if (MEM_KEEPS_CONSTANTS && state->interned) {
		if (mem_peek_last(mem, state->interned + PYTHON_DICT_VERSION, &generation, 8))
			walk->epoch = python_epoch(0, generation);
	}
}

/* A native thread's own word is its thread state. */
PYTHON_WALKER bool python_thread_of(const struct mem *mem, const struct python_state *state,
				    u64 word, u64 *thread)
{
	(void)mem, (void)state;
	*thread = word;
	return python_address_ok(word);
}

/* May a native thread have several thread states: is there more than one interpreter? */
PYTHON_WALKER bool python_has_turns(const struct mem *mem, const struct python_state *state)
{
	u64 interp, next;

	return mem_peek(mem, state->interpreters, &interp, 8) && python_address_ok(interp) &&
	       mem_peek(mem, interp + state->at.interp_next, &next, 8) && next;
}

/* Of several thread states of one native thread, one an interpreter, the one whose turn it is: where no thread's own word says
 * so (to 3.11), the holder of the GIL. */
PYTHON_WALKER u64 python_in_turn(const struct mem *mem, const struct python_state *state,
				 u64 thread)
{
	u32 native = state->at.thread_native;
	u64 holder, its = 0, own = 0;

	if (!state->holder || !mem_peek(mem, state->holder, &holder, 8) || holder == thread ||
	    !python_address_ok(holder) || !mem_peek(mem, holder + native, &its, 8) ||
	    !mem_peek(mem, thread + native, &own, 8) || its != own)
		return thread;
	return holder;
}

PYTHON_WALKER enum step python_begin(const struct mem *mem, const struct python_state *state,
				     u64 thread, struct walk *walk)
{
	const struct python_layout *at = &state->at;
	u64 interp;

	walk->thread = thread;
	walk->cursor = walk->limit = walk->base = 0;
	walk->generation = walk->epoch = walk->carrier = walk->link = 0;
	walk->depth = 0;
	walk->flags = WALK_LINKED;
	if (!python_interp_of(mem, state, thread, &interp))
		return STEP_FAULT;
	python_read_heap(mem, state, interp, walk);
	if (!mem_peek(mem, thread + at->thread_native, &walk->carrier, 8))
		walk->carrier = 0;
	if (!mem_read(mem, thread + at->thread_frame, &walk->cursor, 8))
		return STEP_FAULT;
	if ((state->facts & PYTHON_HAS_CFRAME) && walk->cursor) {
		walk->limit = walk->cursor;
		if (!python_address_ok(walk->cursor) ||
		    !mem_read(mem, walk->cursor + at->cframe_frame, &walk->cursor, 8))
			return STEP_FAULT;
		if (!python_is_own(thread, walk->limit))
			return STEP_MORE; /* not the thread's own, the outermost: it may not be filled */
	}
	/* A constant of the thread. */
	if (at->thread_base && !mem_peek(mem, thread + at->thread_base, &walk->limit, 8))
		return STEP_FAULT;
	if (!walk->cursor || (at->thread_base && walk->cursor == walk->limit))
		return STEP_EMPTY;
	return python_address_ok(walk->cursor) ? STEP_MORE : STEP_FAULT;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* The frame that was innermost when C entered the interpreter the last time (3.11, 3.12). */
PYTHON_WALKER bool python_outer(const struct mem *mem, const struct python_state *state,
				struct walk *walk, u64 *frame)
{
	u64 outer;

	if (!mem_read(mem, walk->limit + state->at.cframe_previous, &outer, 8) ||
	    !python_address_ok(outer) || !mem_read(mem, outer + state->at.cframe_frame, frame, 8))
		return false;
	walk->limit = outer;
	return true;
}

/* To the cframe outside of this one, if that is whom the frame that was entered through this one leads to: a cframe is published
 * before it is filled, and so is the frame (3.11). */
PYTHON_WALKER bool python_leave_cframe(const struct mem *mem, const struct python_state *state,
				       struct walk *walk, u64 previous)
{
	u64 outer, frame;

	if (!walk->limit || !mem_read(mem, walk->limit + state->at.cframe_previous, &outer, 8) ||
	    !python_address_ok(outer) ||
	    !mem_read(mem, outer + state->at.cframe_frame, &frame, 8) || frame != previous)
		return false;
	walk->limit = outer;
	return true;
}

/* The same, of what is being entered, where entries are placed by their cframes (3.11). */
PYTHON_WALKER void python_leave_entered(const struct mem *mem, const struct python_state *state,
					struct walk *walk, u64 previous)
{
	if ((walk->flags & WALK_PLACES) && state->at.frame_entry)
		python_leave_cframe(mem, state, walk, previous);
}

/* Where on the native stack C entered the interpreter through an entry: its shim lies there (3.12 on), or its cframe does
 * (3.11), of which each leads to the next one; 0: nobody knows. */
PYTHON_WALKER u64 python_place(const struct mem *mem, const struct python_state *state,
			       struct walk *walk, u64 previous)
{
	u64 place = walk->limit;

	if (!(walk->flags & WALK_PLACES) || (state->facts & PYTHON_FRAME_IS_OBJECT))
		return 0;
	if (state->facts & PYTHON_HAS_SHIMS)
		return previous;
	if (python_leave_cframe(mem, state, walk, previous))
		return place;
	walk->limit = 0;
	return 0;
}

/* Is this the thread's own cframe, the outermost, or the next one? */
PYTHON_WALKER bool python_is_outermost(const struct mem *mem, const struct python_state *state,
				       const struct walk *walk)
{
	u64 outer;

	return python_is_own(walk->thread, walk->limit) ||
	       (mem_read(mem, walk->limit + state->at.cframe_previous, &outer, 8) &&
		python_is_own(walk->thread, outer));
}

/* Where the chain may end: at the thread's own frame (3.15), behind a shim (3.12 on), or at a function. Any may
 * be the last of a greenlet, which has a chain of its own, without its shims while it is left for another.
 * No function at all, and a cframe that is not the thread's own: it is published before it is filled, and says
 * what an earlier call left in its place, or something that never was a cframe. The thread stands outside of it,
 * if that leads to a function; else the first function of all, which has not begun, tells it from that, or that nothing runs at
 * all. (A greenlet has a cframe of its own, also while it has no function.) */
PYTHON_WALKER enum step python_end(const struct mem *mem, const struct python_state *state,
				   struct walk *walk)
{
	bool whole = walk->cursor || !walk->base || !python_is_generator(mem, state, walk->base);

	if (walk->depth || !(state->facts & PYTHON_HAS_CFRAME))
		return whole ? STEP_DONE : STEP_FAULT;
	if (walk->flags & WALK_TOP_UNSET)
		return STEP_FAULT;
	walk->flags |= WALK_TOP_UNSET;
	u64 inner = walk->limit, outer;
	if (!python_outer(mem, state, walk, &outer))
		return STEP_FAULT;
	if (outer) { /* python_mend() asks who runs, and may come to this one */
		walk->limit = inner;
		return STEP_FAULT;
	}
	if (!whole || !python_is_outermost(mem, state, walk))
		return STEP_FAULT;
	bool known = walk->base || python_runs_nothing(mem, state, walk->thread);
	walk->flags ^= known ? WALK_TOP_UNSET : WALK_MAY_BE_EMPTY;
	return known ? STEP_DONE : STEP_FAULT;
}

/* False: it is no code object any more. */
PYTHON_WALKER bool python_name_places(const struct mem *mem, const struct python_state *state,
				      u64 code, struct name_places *out)
{
	const struct python_layout *at = &state->at;
	u32 name = at->code_qualname ? at->code_qualname : at->code_name;
	u32 head = at->bytes_length; /* of an object that has a size */
	u64 type, length;

	if (!mem_read(mem, code + head - 8, &type, 8) || !python_address_ok(type) ||
	    !mem_read(mem, code + name, &out->at[NAME_LABEL], 8) ||
	    !mem_read(mem, code + at->code_filename, &out->at[NAME_PATH], 8) ||
	    !mem_read(mem, code + at->code_lines, &out->at[NAME_LINES], 8) ||
	    !mem_read(mem, out->at[NAME_LINES] + at->bytes_length, &length, 8) ||
	    !mem_read(mem, type + head + PYTHON_TYPE_NAME, &out->at[NAME_OF_TYPE], 8))
		return false;
	out->lines_length = at->bytes_data + length;
	out->at[NAME_FUNCTION] = code;
	out->at[NAME_TYPE] = type + head + PYTHON_TYPE_NAME;
	return true;
}

/* The innermost is being made or cleared, and is left out.  It can be one only.  A cframe is published before
 * it leads to its frame, and what it says before that is not followed: python_mend(). */
PYTHON_WALKER enum step python_leave_out(const struct python_state *state, struct walk *walk,
					 u64 previous)
{
	if (walk->flags & WALK_TOP_UNSET)
		return STEP_FAULT;
	walk->flags |= WALK_TOP_UNSET;
	walk->cursor = previous;
	return previous && !(state->facts & PYTHON_HAS_CFRAME) ? STEP_HIDDEN : STEP_FAULT;
}

/* ---- frame by frame ------------------------------------------------------------------------- */

/* After a fault at the innermost frame: true when the walk can go on.  What runs is found, or whom the innermost does not lead to;
 * else the cframe that is the outer one of what may be none yet leads on, under a mark. */
PYTHON_WALKER bool python_mend(const struct mem *mem, const struct python_state *state,
			       struct walk *walk)
{
	const u32 unlinked = walk->flags & WALK_TOP_UNLINKED;
	u64 shown;

	if (!(walk->flags & WALK_TOP_UNSET) || !state->at.thread_top || walk->depth || walk->link)
		return false;
	if (!unlinked || !python_seek_caller(mem, state, walk->thread, walk->cursor, &walk->link)) {
		if (!mem_read(mem, walk->limit + state->at.cframe_frame, &shown, 8))
			return false;
		bool runs = python_seek_running(mem, state, walk->thread, shown,
						unlinked ? 0 : walk->cursor, &walk->link);
		if (!runs && (unlinked || !python_outer(mem, state, walk, &walk->link)))
			return false;
		walk->cursor = walk->link;
		if (!runs)
			return walk->cursor;
		python_leave_entered(mem, state, walk, walk->link);
	}
	walk->flags &= ~(u32)(WALK_TOP_UNSET | WALK_TOP_UNLINKED | WALK_MAY_BE_EMPTY);
	return true;
}

/* A generator that goes on or yields is, for an instant, the innermost frame without a link to its caller,
 * even of a thread that is stopped; or it is what an earlier call left in a cframe: python_mend(). */
PYTHON_WALKER bool python_link(const struct mem *mem, const struct python_state *state,
			       struct walk *walk, struct python_frame *leaf)
{
	bool is_object = state->facts & PYTHON_FRAME_IS_OBJECT;

	if (leaf->previous || (is_object ? !python_is_generator(mem, state, leaf->code) :
					   leaf->owner != PYTHON_OWNED_BY_GENERATOR))
		return true;
	leaf->previous = walk->link == walk->cursor ? 0 : walk->link;
	if (!leaf->previous)
		walk->flags |= WALK_TOP_UNSET | WALK_TOP_UNLINKED;
	return leaf->previous;
}

/* What leads to nobody is the first function of all, or does not lead to its caller yet, however it was found (3.11). */
PYTHON_WALKER bool python_is_first(const struct mem *mem, const struct python_state *state,
				   const struct walk *walk, u64 leaf, u8 owner)
{
	return !state->at.frame_entry || owner != PYTHON_OWNED_BY_THREAD ||
	       python_was_pushed_first(mem, state, walk->thread, leaf);
}

/* Does it lead to code and to a caller? */
PYTHON_WALKER bool python_frame_ok(const struct walk *walk, const struct python_frame *frame)
{
	return frame->previous != walk->cursor &&
	       (!frame->previous || python_address_ok(frame->previous)) &&
	       (frame->owner >= PYTHON_OWNED_BY_C || python_address_ok(frame->code));
}

/* An innermost one may be what an earlier entry left. */
PYTHON_WALKER enum step python_pass_shim(const struct python_state *state, struct walk *walk,
					 u64 previous)
{
	bool is_leaf = walk->depth == 0 && !walk->link && !(walk->flags & WALK_TOP_UNSET);

	walk->base = 0;
	return is_leaf && previous && state->at.thread_top ?
		       python_leave_out(state, walk, previous) :
		       STEP_HIDDEN;
}

/* What an entry finds in its cframe may be anything at all: no frame, or one that is not on the thread's stack of frames any more.
 * Of a thread that moves the former is not asked: it is gone before it can be read a second time. */
PYTHON_WALKER bool python_runs_code(const struct mem *mem, const struct python_state *state,
				    const struct walk *walk, const struct python_frame *leaf)
{
	return !state->at.thread_top || leaf->owner >= PYTHON_OWNED_BY_C ||
	       ((!(walk->flags & WALK_STANDS) || python_is_code(mem, state, leaf->code)) &&
		(leaf->owner != PYTHON_OWNED_BY_THREAD || walk->link ||
		 !python_was_popped(mem, state, walk->thread, walk->cursor)));
}

/* Nor does what lies where its caller has its stack now, or was called by what has run nothing. Of what has not begun nobody knows
 * who its caller is. */
PYTHON_WALKER bool python_is_left(const struct mem *mem, const struct python_state *state,
				  const struct walk *walk, u64 leaf,
				  const struct python_frame *frame)
{
	if (!state->at.thread_top || walk->link || frame->owner != PYTHON_OWNED_BY_THREAD)
		return false;
	return walk->flags & WALK_STANDS ? python_is_within(mem, state, leaf) :
					   python_has_run_nothing(mem, state, frame->previous);
}

/* Frames are a list: nobody knows where the outermost ones are. */
PYTHON_WALKER bool python_skip(const struct python_state *state, struct walk *walk, u32 keep)
{
	(void)state, (void)walk, (void)keep;
	return false;
}

/* One frame a call.  The first with a name is the leaf. */
PYTHON_WALKER enum step python_step(const struct mem *mem, const struct python_state *state,
				    struct walk *walk, struct frame *out)
{
	struct python_frame frame;
	bool leaf = walk->depth == 0;

	if (!walk->cursor || (state->at.thread_base && walk->cursor == walk->limit))
		return python_end(mem, state, walk);
	out->at = walk->cursor;
	bool ok = python_read_frame(mem, state, walk->cursor, leaf, &frame);
	if (leaf && python_is_own_shim(state, walk, walk->cursor))
		frame.owner = PYTHON_OWNED_BY_C;
	if (!ok || !python_frame_ok(walk, &frame))
		return leaf ? python_leave_out(state, walk, ok ? frame.previous : 0) : STEP_FAULT;
	if (leaf && !python_runs_code(mem, state, walk, &frame))
		return python_leave_out(state, walk, frame.previous);
	if (leaf && !frame.previous && !python_is_first(mem, state, walk, out->at, frame.owner))
		return python_leave_out(state, walk, 0);
	if (leaf && !python_link(mem, state, walk, &frame))
		return STEP_FAULT;
	walk->cursor = frame.previous;
	if (frame.owner >= PYTHON_OWNED_BY_C)
		return python_pass_shim(state, walk, frame.previous);
	if (python_is_trampoline(state, &frame))
		return STEP_HIDDEN;
	walk->base = frame.code;
	if (!python_own_pc(mem, state, &frame))
		return STEP_FAULT;
	if (leaf && !python_has_begun(mem, state, &frame)) {
		if (!python_is_linked(mem, state, walk, out->at, frame.previous))
			return python_leave_out(state, walk, frame.previous);
		walk->link = frame.previous;
		python_leave_entered(mem, state, walk, frame.previous);
		return STEP_HIDDEN;
	}
	if (leaf && python_is_left(mem, state, walk, out->at, &frame))
		return python_leave_out(state, walk, frame.previous);
	out->id = frame.code;
	out->owner = 0;
	if (!WALK_APART(python_identity)(mem, state, frame.code, &out->owner))
		return leaf ? python_leave_out(state, walk, frame.previous) : STEP_FAULT;
	out->pos = (u32)frame.pc;
	bool entry = python_is_entry(mem, state, out->at, &frame);
	u64 place = entry ? python_place(mem, state, walk, frame.previous) : 0;
	out->flags = (entry ? FRAME_ENTRY : 0) | (place ? FRAME_PLACED : 0) |
		     (leaf ? FRAME_LEAF : 0);
	if (place)
		out->at = place;
	walk->depth++;
	return STEP_MORE;
}
