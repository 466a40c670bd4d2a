/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * data_stack.h - a thread's stack of frames: each function's frame lies behind that of the function that it was pushed after
 * (3.11, 3.12; the layouts of other versions have no `thread_top`).
 *
 * BPF-safe text, as step.h. */
#pragma once
#include "runtimes/python/frame.h"

enum {
	/* Words below the end of a thread's stack of frames among which its last frame is sought, so many a read. */
	PYTHON_LAST_WORDS = 128,
	PYTHON_LAST_PART = 8,
	/* struct _PyStackChunk: the chunk before, and the words that this one holds while another is in use. */
	PYTHON_CHUNK_TOP = 16,
	PYTHON_CHUNK_DATA = 24,
	PYTHON_CHUNK_BYTES = 1 << 14, /* at least (DATA_STACK_CHUNK_SIZE) */
	PYTHON_TYPE = 8,              /* of an object */
	PYTHON_TYPE_NAME = 8,         /* tp_name, behind a type's head, which has a size */
	PYTHON_TYPE_ITEM = 24,        /* tp_itemsize */
	PYTHON_CODE_ITEM = 2,         /* sizeof(_Py_CODEUNIT) */
};

/* Is it a code object?  Of all types its alone has items of two bytes, and says so in memory that a fork's child has
 * from its first moment on: the page with the type's name it has not, before it reads that itself. */
PYTHON_WALKER bool python_is_code(const struct mem *mem, const struct python_state *state, u64 code)
{
	u64 type, item;

	return python_address_ok(code) &&
	       python_constant(mem, state, code + PYTHON_TYPE, &type, 8) &&
	       python_address_ok(type) &&
	       python_constant(mem, state, type + state->at.bytes_length + PYTHON_TYPE_ITEM, &item,
			       8) &&
	       item == PYTHON_CODE_ITEM;
}

/* The words of a frame that runs this code; 0: not known. */
PYTHON_WALKER u32 python_frame_words(const struct mem *mem, const struct python_state *state,
				     u64 code)
{
	u32 stack, slots;

	return python_address_ok(code) && mem_peek(mem, code + state->at.code_stack, &stack, 4) &&
			       mem_peek(mem, code + state->at.code_slots, &slots, 4) ?
		       stack + slots + state->at.frame_locals / 8 :
		       0;
}

/* Did an earlier call leave it in what is now a part of the frame that it leads to?  That one's stack has not grown as far yet. */
PYTHON_WALKER bool python_is_within(const struct mem *mem, const struct python_state *state,
				    u64 frame)
{
	u64 caller, code;

	return mem_peek(mem, frame + state->at.frame_previous, &caller, 8) &&
	       frame - caller < PYTHON_CHUNK_BYTES &&
	       mem_peek(mem, caller + state->at.frame_code, &code, 8) &&
	       caller + 8ull * python_frame_words(mem, state, code) > frame;
}

/* Was it pushed, and no more: is its place the one in front of its first instruction? */
PYTHON_WALKER bool python_has_run_nothing(const struct mem *mem, const struct python_state *state,
					  u64 frame)
{
	u64 code, pc;

	return python_address_ok(frame) && mem_peek(mem, frame + state->at.frame_code, &code, 8) &&
	       mem_peek(mem, frame + state->at.frame_pc, &pc, 8) &&
	       pc + PYTHON_CODE_ITEM == code + state->at.code_bytecode;
}

/* Is it a function's frame, of so many words, that runs this code? */
PYTHON_WALKER bool python_is_pushed(const struct mem *mem, const struct python_state *state,
				    u64 frame, u64 code, u32 words)
{
	u8 owner;

	return python_frame_words(mem, state, code) == words &&
	       mem_read(mem, frame + state->at.frame_owner, &owner, 1) &&
	       owner == PYTHON_OWNED_BY_THREAD && python_is_code(mem, state, code);
}

/* Is a function's frame in the free part of the chunk that is in use?  In another one it may be the last that is popped: who
 * leaves a chunk gives it back first. */
PYTHON_WALKER bool python_was_popped(const struct mem *mem, const struct python_state *state,
				     u64 thread, u64 frame)
{
	u64 words[2]; /* the chunk, and where it is free from */

	return mem_peek(mem, thread + state->at.thread_top - 8, words, sizeof words) &&
	       frame - words[0] < PYTHON_CHUNK_BYTES && frame >= words[1];
}

/* Where the frame ends behind which this one was pushed: here, or in the chunk before. */
PYTHON_WALKER u64 python_pushed_behind(const struct mem *mem, const struct python_state *state,
				       u64 thread, u64 frame)
{
	u64 chunk, before, top;

	if (!mem_read(mem, thread + state->at.thread_top - 8, &chunk, 8) ||
	    frame - chunk != PYTHON_CHUNK_DATA || !mem_read(mem, chunk, &before, 8) ||
	    !python_address_ok(before) || !mem_read(mem, before + PYTHON_CHUNK_TOP, &top, 8))
		return frame;
	return before + PYTHON_CHUNK_DATA + 8 * top;
}

/* Is it at the beginning of the thread's stack of frames, of which the first word stays free, or of the next chunk, for want of room? */
PYTHON_WALKER bool python_was_pushed_first(const struct mem *mem, const struct python_state *state,
					   u64 thread, u64 frame)
{
	u64 chunk, before, top;

	return mem_read(mem, thread + state->at.thread_top - 8, &chunk, 8) &&
	       frame - chunk - PYTHON_CHUNK_DATA <= 8 && mem_read(mem, chunk, &before, 8) &&
	       (!before || (mem_read(mem, before + PYTHON_CHUNK_TOP, &top, 8) && top <= 1));
}

/* The function's frame that ends here in a thread's stack of frames. */
PYTHON_WALKER bool python_pushed_before(const struct mem *mem, const struct python_state *state,
					u64 end, u64 *frame)
{
	u64 words[PYTHON_LAST_PART];
	u32 front = state->at.frame_code / 8;

	if (!python_address_ok(end))
		return false;
	for (u32 i = 0; i < PYTHON_LAST_WORDS; i++) {
		u32 place = PYTHON_LAST_PART - 1 - i % PYTHON_LAST_PART;
		u64 code = end - 8 - 8ull * i;
		*frame = code - 8ull * front;
		if (i % PYTHON_LAST_PART == 0 &&
		    !mem_peek(mem, code + 8 - sizeof words, words, sizeof words))
			return false;
		if (WALK_APART(python_is_pushed)(mem, state, *frame, words[place], front + i + 1))
			return true;
	}
	return false;
}
