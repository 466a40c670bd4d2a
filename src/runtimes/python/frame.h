/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * frame.h - one Python frame: its members, in each version's order.
 *
 * A frame is a PyFrameObject (to 3.10), or a struct in the thread's data stack, in a generator or, if it
 * only marks where C entered the interpreter, on the C stack.  Each leads to its caller.
 *
 * BPF-safe text, as step.h. */
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
	PYTHON_COPIES_MAX = 1 << 16,
	/* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */
	PYTHON_CODE_GENERATOR = 0x2a0,
	/* struct _PyInterpreterFrame from 3.12 on: f_funcobj, behind the code. */
	PYTHON_FRAME_FUNCTION = 16,
	PYTHON_BEGIN_MAX =
		1 << 16, /* instructions before a function begins: some for each of its cells */
};

/* References have tags in their low bits from 3.14 on. */
PYTHON_WALKER u64 python_untagged(const struct python_state *state, u64 value)
{
	return state->facts & PYTHON_CODE_IS_TAGGED ? value & ~7ull : value;
}

/* A shim's owner is written last, and what it runs, None, before it is published (3.13 on). */
PYTHON_WALKER bool python_is_shim(const struct python_state *state, u64 code, u8 owner)
{
	return owner >= PYTHON_OWNED_BY_C ||
	       (state->none && python_untagged(state, code) == state->none);
}

struct python_frame {
	u64 code, previous, pc;
	u64 function; /* of one that is not the leaf, from 3.12 on */
	u32 copy;     /* of the bytecode that it runs; 0: the code object's own */
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

/* Where a frame that is an object is: an int in a word, the last instruction, from -1 on; FRAME_POS_THREAD is no place. */
PYTHON_WALKER u32 python_object_pos(const struct python_state *state, u64 word)
{
	return (u32)(word >> (state->at.frame_pc & 4) * 8) + 1;
}

/* While the leaf runs, its pc and stack pointer move all the time. */
PYTHON_WALKER bool python_read_frame(const struct mem *mem, const struct python_state *state,
				     u64 frame, bool leaf, struct python_frame *out)
{
	const struct python_layout *at = &state->at;
	bool is_object = state->facts & PYTHON_FRAME_IS_OBJECT;
	u32 begin = is_object ? PYTHON_OBJECT_BEGIN : 0;
	struct python_frame_words words;
	u64 pc = 0, leaf_pc = frame + (at->frame_pc & ~7u);

	out->owner = out->entry = 0;
	out->copy = 0;
	out->function = 0;
	if (!leaf) {
		/* One read: the verifier wants its size to be a number. */
		if (is_object ? !mem_read_near(mem, MEM_DOWN, frame + PYTHON_OBJECT_BEGIN, &words,
					       PYTHON_OBJECT_BYTES) :
				!mem_read_along(mem, MEM_DOWN, frame, &words, PYTHON_FRAME_BYTES))
			return false;
		out->code = python_word(&words, at->frame_code - begin);
		out->previous = python_word(&words, at->frame_previous - begin);
		pc = python_word(&words, at->frame_pc - begin);
		if (state->facts & PYTHON_HAS_SHIMS)
			out->function = python_untagged(
				state, python_word(&words, at->frame_code + PYTHON_FRAME_FUNCTION));
		if (!is_object) {
			out->owner = python_byte(&words, at->frame_owner);
			out->entry = python_byte(&words, at->frame_entry);
			out->copy = (u32)(python_word(&words, at->frame_tlbc) >>
					  (at->frame_tlbc & 4) * 8);
		}
	} else {
		if (!mem_read(mem, frame + at->frame_code, &out->code, 8) ||
		    !mem_read(mem, frame + at->frame_previous, &out->previous, 8) ||
		    !(is_object ? mem_place(mem, leaf_pc, &pc) : mem_peek(mem, leaf_pc, &pc, 8)))
			return false;
		if (at->frame_owner && !mem_read(mem, frame + at->frame_owner, &out->owner, 1))
			return false;
		if (at->frame_entry && !mem_read(mem, frame + at->frame_entry, &out->entry, 1))
			return false;
		if (at->frame_tlbc && !mem_read(mem, frame + at->frame_tlbc, &out->copy, 4))
			return false;
	}
	out->pc = is_object ? python_object_pos(state, pc) : pc;
	if (!at->frame_entry)
		out->entry = 0;
	if (!at->frame_tlbc)
		out->copy = 0;
	out->code = python_untagged(state, out->code);
	if (python_is_shim(state, out->code, out->owner))
		out->owner = PYTHON_OWNED_BY_C;
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
	if (!python_constant(mem, state, addr, &first, 4))
		return true;
	return first < 0 || first > PYTHON_BEGIN_MAX || offset >= 2 * first;
}

/* Is it of no function: a frame that the interpreter puts below an object's __init__() to see that it returns None
 * (CALL_ALLOC_AND_ENTER_INIT, 3.13 on)?  It never begins, and Python's own tracebacks pass it over, too. */
PYTHON_WALKER bool python_is_trampoline(const struct python_state *state,
					const struct python_frame *frame)
{
	return state->none && frame->function == state->none;
}

/* Is the caller a shim: did C call this frame? */
PYTHON_WALKER bool python_is_entry(const struct mem *mem, const struct python_state *state, u64 at,
				   const struct python_frame *frame)
{
	u64 code;
	u8 owner;

	if (state->facts & PYTHON_FRAME_IS_OBJECT)
		return true;
	if (!(state->facts & PYTHON_HAS_SHIMS))
		return frame->entry;
	if (at - frame->previous < PYTHON_NEAR)
		return false;
	return mem_read(mem, frame->previous + state->at.frame_owner, &owner, 1) &&
	       mem_read(mem, frame->previous + state->at.frame_code, &code, 8) &&
	       python_is_shim(state, code, owner);
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
