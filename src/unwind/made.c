/* SPDX-License-Identifier: Apache-2.0
 * made.c - see made.h.
 *
 * What leads back is a word of the stack that points behind a call.  Where frames are kept it is at rbp; where a function has
 * just begun, or is a trampoline, it is near the top; and of YJIT, which keeps no frames but little else either, too. */
#include "unwind/made.h"

#include "unwind/call.h"

static bool is_behind_call(const struct unwind_space *space, u64 addr)
{
	u8 code[MADE_CALL_BYTES];

	return mem_peek(&space->target->mem.mem, addr - sizeof code, code, sizeof code) &&
	       made_ends_with_call(code);
}

static enum unwind_step go_back(struct unwind_walk *walk, u64 pc, u64 sp)
{
	walk->pc = pc;
	walk->sp = sp;
	walk->is_return = true;
	return UNWIND_MORE;
}

/* `to_file`: to code that is not made itself, as out of YJIT to libruby. */
static enum unwind_step scan(struct unwind_space *space, const struct mem *mem,
			     struct unwind_walk *walk, u32 words, bool to_file)
{
	for (u32 i = 0; i < words; i++) {
		u64 at = walk->sp + 8ull * i, word;
		if (!mem_peek(mem, at, &word, 8))
			break;
		const struct unwind_range *range = unwind_space_at(space, word - 1);
		if (range && (range->file || !to_file) && is_behind_call(space, word))
			return go_back(walk, word, at + 8);
	}
	return UNWIND_NO_RULE;
}

/* rbp leads to the caller's rbp, and behind it is the way back. */
static enum unwind_step by_frame(struct unwind_space *space, const struct mem *mem,
				 struct unwind_walk *walk)
{
	u64 at, frame[2];

	if (!unwind_register(mem, walk, X86_RBP, &at) || at < walk->sp || (at & 7) ||
	    at - walk->sp > MADE_FRAME_MAX || !mem_peek(mem, at, frame, sizeof frame) ||
	    !unwind_space_at(space, frame[1] - 1) || !is_behind_call(space, frame[1]))
		return UNWIND_NO_RULE;
	walk->value[X86_RBP] = frame[0];
	walk->at[X86_RBP] = 0;
	return go_back(walk, frame[1], at + 16);
}

enum unwind_step unwind_made_step(struct unwind_space *space, const struct mem *mem,
				  struct unwind_walk *walk)
{
	const struct unwind_range *range = unwind_space_at(space, unwind_place(walk));
	bool is_made = range && !range->file;
	enum unwind_step step = UNWIND_NO_RULE;

	if (is_made && space->has_no_frames)
		return scan(space, mem, walk, MADE_SCAN_WORDS, true);
	if (range && !walk->is_return)
		step = scan(space, mem, walk, MADE_ENTRY_WORDS, false);
	return is_made && step != UNWIND_MORE ? by_frame(space, mem, walk) : step;
}
