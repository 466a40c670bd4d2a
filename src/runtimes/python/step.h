/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * step.h - walking a Python stack: its innermost frame, one frame at a time; whose it can be, thread_list.h tells.
 *
 *	thread -> [cframe] -> frame -> frame -> (shim) -> frame -> ... -> NULL or base frame
 *
 * A frame is a PyFrameObject (to 3.10), or a struct in the thread's data stack, in a generator or, if it
 * only marks where C entered the interpreter, on the C stack.  Each leads to its caller.
 *
 * BPF-safe text: bounded loops, no globals, no pointers but to the state.
 *
 * Invariants: every address from the target is checked before it is followed, and nothing but the leaf's pc
 * may move without being noticed. */
#pragma once
#include "runtimes/python/thread_list.h"

enum {
	/* What is read of a frame: from the first to the last member that is asked for. */
	PYTHON_FRAME_BYTES = 80,
	PYTHON_OBJECT_BEGIN =
		24, /* behind the reference count and the type, which change and say nothing */
	PYTHON_OBJECT_BYTES = 104,
	/* A caller's frame lies this close below in the thread's data stack; else it may be a shim. */
	PYTHON_NEAR = 16384,
	PYTHON_THREAD_MAX = 1024, /* bytes of a thread (3.11, 3.12) */
	/* Generators within generators that are asked whether they handle an exception: Python's own limit is 1,000. */
	PYTHON_HANDLED_MAX = 1 << 14,
	PYTHON_COPIES_MAX = 1 << 16,
	/* Words below the end of a thread's stack of frames among which its last frame is sought, so many a read. */
	PYTHON_LAST_WORDS = 64,
	PYTHON_LAST_PART = 8,
	/* Callers of one frame among which another is sought. */
	PYTHON_CALLERS_MAX = 8,
	PYTHON_TYPE = 8,      /* of an object */
	PYTHON_TYPE_NAME = 8, /* of a type, behind its head, which has a size */
	/* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */
	PYTHON_CODE_GENERATOR = 0x2a0,
	PYTHON_BEGIN_MAX =
		1 << 16, /* instructions before a function begins: some for each of its cells */
};

/* References have tags in their low bits from 3.14 on. */
PYTHON_WALKER u64 python_untagged(const struct python_state *state, u64 value)
{
	return state->facts & PYTHON_CODE_IS_TAGGED ? value & ~7ull : value;
}

/* ---- exceptions ---------------------------------------------------------------------------- */

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

/* ---- the innermost frame ------------------------------------------------------------------- */

/* Each interpreter counts for itself, and what dies in one may lie where another makes its own.  (63 bits.) */
PYTHON_WALKER u64 python_epoch(u64 interp, u64 counted)
{
	return counted ? (interp * 0x9e3779b97f4a7c15ull + 2 * counted) >> 1 : 0;
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
		if (walk->limit - thread >= PYTHON_THREAD_MAX)
			return STEP_MORE; /* not the thread's own, the outermost: it may not be filled */
	}
	/* A constant of the thread. */
	if (at->thread_base && !mem_peek(mem, thread + at->thread_base, &walk->limit, 8))
		return STEP_FAULT;
	if (!walk->cursor || (at->thread_base && walk->cursor == walk->limit))
		return STEP_EMPTY;
	return python_address_ok(walk->cursor) ? STEP_MORE : STEP_FAULT;
}

/* ---- frames -------------------------------------------------------------------------------- */

struct python_frame {
	u64 code, previous, pc;
	u32 copy; /* of the bytecode that it runs; 0: the code object's own */
	u8 owner, entry;
};

/* The members of a frame from `begin` on. */
struct python_frame_words {
	u64 at[16];
};

PYTHON_WALKER u64 python_word(const struct python_frame_words *words, u32 offset)
{
	return words->at[offset >> 3 & 15];
}

PYTHON_WALKER u8 python_byte(const struct python_frame_words *words, u32 offset)
{
	return (u8)(python_word(words, offset) >> (offset & 7) * 8);
}

/* While the leaf runs, its pc and stack pointer move all the time. */
PYTHON_WALKER bool python_read_frame(const struct mem *mem, const struct python_state *state,
				     u64 frame, bool leaf, struct python_frame *out)
{
	const struct python_layout *at = &state->at;
	bool is_object = state->facts & PYTHON_FRAME_IS_OBJECT;
	u32 begin = is_object ? PYTHON_OBJECT_BEGIN : 0;
	struct python_frame_words words;
	u64 pc = 0;

	out->owner = out->entry = 0;
	out->copy = 0;
	if (!leaf) {
		/* One read: the verifier wants its size to be a number. */
		if (is_object ? !mem_read_near(mem, MEM_DOWN, frame + PYTHON_OBJECT_BEGIN, &words,
					       PYTHON_OBJECT_BYTES) :
				!mem_read_along(mem, MEM_DOWN, frame, &words, PYTHON_FRAME_BYTES))
			return false;
		out->code = python_word(&words, at->frame_code - begin);
		out->previous = python_word(&words, at->frame_previous - begin);
		pc = python_word(&words, at->frame_pc - begin);
		if (!is_object) {
			out->owner = python_byte(&words, at->frame_owner);
			out->entry = python_byte(&words, at->frame_entry);
			out->copy = (u32)(python_word(&words, at->frame_tlbc) >>
					  (at->frame_tlbc & 4) * 8);
		}
	} else {
		if (!mem_read(mem, frame + at->frame_code, &out->code, 8) ||
		    !mem_read(mem, frame + at->frame_previous, &out->previous, 8) ||
		    !mem_peek(mem, frame + (at->frame_pc & ~7u), &pc, 8))
			return false;
		if (at->frame_owner && !mem_read(mem, frame + at->frame_owner, &out->owner, 1))
			return false;
		if (at->frame_entry && !mem_read(mem, frame + at->frame_entry, &out->entry, 1))
			return false;
		if (at->frame_tlbc && !mem_read(mem, frame + at->frame_tlbc, &out->copy, 4))
			return false;
	}
	/* An int in a word: the last instruction, from -1 on; FRAME_POS_THREAD is no place. */
	if (is_object)
		pc = (u32)(pc >> (at->frame_pc & 4) * 8) + 1;
	out->pc = pc;
	if (!at->frame_entry)
		out->entry = 0;
	if (!at->frame_tlbc)
		out->copy = 0;
	out->code = python_untagged(state, out->code);
	return true;
}

/* Without a GIL each thread runs a copy of the bytecode: where the pc would be in the code object's own.
 * The array of copies grows, and is then another. */
PYTHON_WALKER bool python_own_pc(const struct mem *mem, const struct python_state *state,
				 struct python_frame *frame)
{
	const struct python_layout *at = &state->at;
	u64 array, copy;

	if (!frame->copy)
		return true;
	if (frame->copy > PYTHON_COPIES_MAX ||
	    !mem_peek(mem, frame->code + at->code_tlbc, &array, 8) || !python_address_ok(array) ||
	    !mem_peek(mem, array + 8 + 8ull * frame->copy, &copy, 8))
		return false;
	frame->pc += frame->code + at->code_bytecode - copy;
	return true;
}

/* Has the leaf begun?  Until then it makes cells, or the generator that it is to live in, and Python's own
 * tracebacks pass it over (_PyFrame_IsIncomplete). */
PYTHON_WALKER bool python_has_begun(const struct mem *mem, const struct python_state *state,
				    const struct python_frame *frame)
{
	const struct python_layout *at = &state->at;
	s64 offset = (s64)(frame->pc - frame->code - at->code_bytecode);
	u64 addr = frame->code + at->code_begin;
	s32 first;

	if (!at->code_begin || frame->owner == PYTHON_OWNED_BY_GENERATOR)
		return true;
	if (!mem_constant(mem, addr, &first, 4))
		return true;
	return first < 0 || first > PYTHON_BEGIN_MAX || offset >= 2 * first;
}

/* Is the caller a shim: did C call this frame? */
PYTHON_WALKER bool python_is_entry(const struct mem *mem, const struct python_state *state, u64 at,
				   const struct python_frame *frame)
{
	u8 owner;

	if (state->facts & PYTHON_FRAME_IS_OBJECT)
		return true;
	if (!(state->facts & PYTHON_HAS_SHIMS))
		return frame->entry;
	if (at - frame->previous < PYTHON_NEAR)
		return false;
	return mem_read(mem, frame->previous + state->at.frame_owner, &owner, 1) &&
	       owner >= PYTHON_OWNED_BY_C;
}

/* Is it the code of a generator, a coroutine or both? Such a frame has a caller while it runs, and none that
 * can be seen while it is being resumed or yields. */
PYTHON_WALKER bool python_is_generator(const struct mem *mem, const struct python_state *state,
				       u64 code)
{
	u32 flags;

	return state->at.code_flags && mem_peek(mem, code + state->at.code_flags, &flags, 4) &&
	       (flags & PYTHON_CODE_GENERATOR);
}

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

	return walk->limit - walk->thread < PYTHON_THREAD_MAX ||
	       (mem_read(mem, walk->limit + state->at.cframe_previous, &outer, 8) &&
		outer - walk->thread < PYTHON_THREAD_MAX);
}

/* Where the chain may end: at the thread's own frame (3.15), behind a shim (3.12 on), or at a function. Any may
 * be the last of a greenlet, which has a chain of its own, without its shims while it is left for another.
 * No function at all, and a cframe that is not the thread's own: it is published before it is filled, and says
 * what an earlier call left in its place, or something that never was a cframe. The thread stands outside of it,
 * if that leads to a function; else only the first function of all, which has not begun, tells it from that. (A greenlet
 * has a cframe of its own, also while it has no function.) */
PYTHON_WALKER enum step python_end(const struct mem *mem, const struct python_state *state,
				   struct walk *walk)
{
	bool whole = walk->cursor || !walk->base || !python_is_generator(mem, state, walk->base);

	if (walk->depth || !(state->facts & PYTHON_HAS_CFRAME))
		return whole ? STEP_DONE : STEP_FAULT;
	if (walk->flags & WALK_TOP_UNSET)
		return STEP_FAULT;
	walk->flags |= WALK_TOP_UNSET;
	if (!python_outer(mem, state, walk, &walk->cursor))
		return STEP_FAULT;
	if (walk->cursor)
		return STEP_HIDDEN;
	if (!whole || !python_is_outermost(mem, state, walk))
		return STEP_FAULT;
	walk->flags ^= walk->base ? WALK_TOP_UNSET : WALK_MAY_BE_EMPTY;
	return walk->base ? STEP_DONE : STEP_FAULT;
}

/* What tells one path from another: how long it is, and its end. */
PYTHON_WALKER bool python_path_mark(const struct mem *mem, const struct python_state *state,
				    u64 filename, u64 *out)
{
	const struct python_layout *at = &state->at;
	bool is_bytes = state->facts & PYTHON_NAMES_ARE_BYTES;
	u64 text = filename + (is_bytes ? at->bytes_data : at->string_ascii);
	u64 length, end[2] = { 0, 0 };

	if (mem_recall(mem, filename, out))
		return true;
	if (!python_address_ok(filename) ||
	    !mem_peek(mem, filename + (is_bytes ? at->bytes_length : at->string_length), &length,
		      8))
		return false;
	/* of characters that are wider than a byte this is not the end */
	if (length >= sizeof end && !mem_peek(mem, text + length - sizeof end, end, sizeof end))
		return false;
	*out = length ^ (end[0] ^ end[1] * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;
	mem_note(mem, filename, *out);
	return true;
}

/* Where code has no version, what names it is part of what it is: two that agree in all of this have the same
 * name.  Addresses alone do not say it: what dies last is what is made first. */
PYTHON_WALKER bool python_fingerprint(const struct mem *mem, const struct python_state *state,
				      u64 code, u64 *out)
{
	const struct python_layout *at = &state->at;
	u64 name, filename, lines, hash, path;
	u32 line;

	if (!mem_peek_beside(mem, code + at->code_filename, &filename, 8) ||
	    !mem_peek_beside(mem, code + (at->code_qualname ? at->code_qualname : at->code_name),
			     &name, 8) ||
	    !mem_peek_beside(mem, code + at->code_lines, &lines, 8) ||
	    !mem_peek_beside(mem, code + at->code_first_line, &line, 4) ||
	    !python_address_ok(name) || !mem_peek(mem, name + at->string_hash, &hash, 8) ||
	    !python_path_mark(mem, state, filename, &path))
		return false;
	*out = (name ^ filename << 20 ^ lines << 40) * 0x9e3779b97f4a7c15ull ^ hash ^ line ^ path;
	return true;
}

/* Code objects die and others take their place.  From 3.12 on each has a version of its own, until these run
 * out and are 0. */
PYTHON_WALKER bool python_identity(const struct mem *mem, const struct python_state *state,
				   u64 code, u64 *out)
{
	u32 version = 0;

	if (mem_recall(mem, code, out))
		return true;
	if (state->at.code_version) {
		if (!mem_constant(mem, code + state->at.code_version, &version, 4))
			return false;
		*out = version;
	}
	if (!version && !python_fingerprint(mem, state, code, out))
		return false;
	mem_note(mem, code, *out);
	return true;
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
 * it leads to its frame: then the one outside of it does. */
PYTHON_WALKER enum step python_leave_out(const struct mem *mem, const struct python_state *state,
					 struct walk *walk, u64 previous)
{
	if (walk->flags & WALK_TOP_UNSET)
		return STEP_FAULT;
	walk->flags |= WALK_TOP_UNSET;
	walk->cursor = previous;
	if (!(state->facts & PYTHON_HAS_CFRAME))
		return previous ? STEP_HIDDEN : STEP_FAULT;
	return python_outer(mem, state, walk, &walk->cursor) ? STEP_HIDDEN : STEP_FAULT;
}

/* ---- a generator without a link to its caller ---------------------------------------------- */

/* How many words a function's frame takes, if `code` is what it runs; 0: it is none. */
PYTHON_WALKER u32 python_frame_size(const struct mem *mem, const struct python_state *state,
				    u64 frame, u64 code, u64 type_of_code)
{
	u64 type;
	u32 size;
	u8 owner;

	return python_address_ok(code) && mem_peek(mem, code + PYTHON_TYPE, &type, 8) &&
			       type == type_of_code &&
			       mem_peek(mem, code + state->at.code_frame, &size, 4) &&
			       mem_read(mem, frame + state->at.frame_owner, &owner, 1) &&
			       owner == PYTHON_OWNED_BY_THREAD ?
		       size :
		       0;
}

/* The function's frame that ends where the thread's stack of frames does; 0: not found. */
PYTHON_WALKER u64 python_last_pushed(const struct mem *mem, const struct python_state *state,
				     u64 thread, u64 type_of_code)
{
	u64 end, words[PYTHON_LAST_PART];

	if (!mem_read(mem, thread + state->at.thread_top, &end, 8) || !python_address_ok(end))
		return 0;
	for (u32 i = 0; i < PYTHON_LAST_WORDS; i++) {
		u32 place = PYTHON_LAST_PART - 1 - i % PYTHON_LAST_PART;
		u64 frame = end - 8 - 8ull * i;
		if (i % PYTHON_LAST_PART == 0 &&
		    !mem_peek(mem, frame + 8 - sizeof words, words, sizeof words))
			return 0;
		if (WALK_APART(python_frame_size)(mem, state, frame, words[place], type_of_code) ==
		    i + 1)
			return frame;
	}
	return 0;
}

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

/* Who calls the generator whose frame this is? A generator that runs has a place in the list of what is handled, and
 * a function one on the thread's stack.  The innermost of the ones and the innermost of the others are known by
 * that, and one of them calls the other: it is that other. */
PYTHON_WALKER bool python_seek_caller(const struct mem *mem, const struct python_state *state,
				      u64 thread, u64 leaf, u64 *caller)
{
	const struct python_layout *at = &state->at;
	u64 own = leaf - at->gen_frame + at->gen_handling, handling, code, type;

	if (!mem_read(mem, leaf + at->frame_code, &code, 8) ||
	    !mem_peek(mem, code + PYTHON_TYPE, &type, 8) ||
	    !mem_read(mem, thread + at->thread_handling, &handling, 8))
		return false;
	if (handling == own && !mem_read(mem, own + at->handled_previous, &handling, 8))
		return false;
	u64 function = python_last_pushed(mem, state, thread, type);
	if (!function)
		return false;
	*caller = function;
	if (handling - thread >=
	    PYTHON_THREAD_MAX) { /* not the thread's own place: there is a generator */
		u64 generator = handling - at->gen_handling + at->gen_frame;
		if (python_calls(mem, state, function, generator))
			*caller = generator;
		else if (!python_calls(mem, state, generator, function))
			return false;
	}
	return *caller != leaf && python_waits_for(mem, state, *caller, leaf);
}

/* After a fault: true when what was missing was found, and the walk can go on. */
PYTHON_WALKER bool python_mend(const struct mem *mem, const struct python_state *state,
			       struct walk *walk)
{
	if (!(walk->flags & WALK_TOP_UNLINKED) || !state->at.thread_top || walk->link ||
	    !python_seek_caller(mem, state, walk->thread, walk->cursor, &walk->link))
		return false;
	walk->flags &= ~(u32)(WALK_TOP_UNSET | WALK_TOP_UNLINKED);
	return true;
}

/* A generator that goes on or yields is, for an instant, the innermost frame without a link to its caller,
 * even of a thread that is stopped.  Where each one is entered by C (3.11) it is what an earlier call left on the C
 * stack: the thread stands outside of it.  Later on C need not be there (FOR_ITER_GEN): python_mend(). */
PYTHON_WALKER bool python_link(const struct mem *mem, const struct python_state *state,
			       struct walk *walk, struct python_frame *leaf, bool *left_out)
{
	bool is_object = state->facts & PYTHON_FRAME_IS_OBJECT;

	if (leaf->previous || (is_object ? !python_is_generator(mem, state, leaf->code) :
					   leaf->owner != PYTHON_OWNED_BY_GENERATOR))
		return true;
	leaf->previous = walk->link;
	if (leaf->previous)
		return true;
	walk->flags |= WALK_TOP_UNSET | WALK_TOP_UNLINKED;
	if (!is_object && !(state->facts & PYTHON_HAS_SHIMS))
		*left_out = python_outer(mem, state, walk, &walk->cursor);
	return false;
}

/* Does it lead to code and to a caller? */
PYTHON_WALKER bool python_frame_ok(const struct walk *walk, const struct python_frame *frame)
{
	return frame->previous != walk->cursor &&
	       (!frame->previous || python_address_ok(frame->previous)) &&
	       (frame->owner >= PYTHON_OWNED_BY_C || python_address_ok(frame->code));
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
	if (!ok || !python_frame_ok(walk, &frame))
		return leaf ? python_leave_out(mem, state, walk, ok ? frame.previous : 0) :
			      STEP_FAULT;
	bool left_out = false;
	if (leaf && !python_link(mem, state, walk, &frame, &left_out))
		return left_out ? STEP_HIDDEN : STEP_FAULT;
	walk->cursor = frame.previous;
	if (frame.owner >= PYTHON_OWNED_BY_C) {
		walk->base = 0;
		return STEP_HIDDEN;
	}
	walk->base = frame.code;
	if (!python_own_pc(mem, state, &frame))
		return STEP_FAULT;
	if (leaf && !python_has_begun(mem, state, &frame)) {
		if ((walk->flags & WALK_PLACES) && state->at.frame_entry)
			python_leave_cframe(mem, state, walk, frame.previous);
		return STEP_HIDDEN;
	}
	out->id = frame.code;
	out->owner = 0;
	if (!WALK_APART(python_identity)(mem, state, frame.code, &out->owner))
		return leaf ? python_leave_out(mem, state, walk, frame.previous) : STEP_FAULT;
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
