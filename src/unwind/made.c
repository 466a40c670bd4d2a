/* SPDX-License-Identifier: Apache-2.0
 * made.c - see made.h.
 *
 * What leads back is a word of the stack that points behind a call.  Where frames are kept it is at rbp; where a function has
 * just begun, or is a trampoline, it is near the top; and of YJIT, which keeps no frames but little else either, too. */
#include "unwind/made.h"

enum { ENTRY_WORDS = 3, SCAN_WORDS = 16, FRAME_MAX = 1 << 20 };

/* Is there a call in front of it? rel32; r/m64 in its lengths of 2, 3, 4, 6 and 7 bytes. */
static bool is_behind_call(const struct unwind_space *space, u64 addr)
{
	static const u8 lengths[] = { 2, 3, 4, 6, 7 };
	u8 code[8] = { 0 };

	if (!mem_peek(&space->target->mem.mem, addr - 7, code, 7))
		return false;
	bool found = code[2] == 0xe8;
	for (u32 i = 0; i < COUNT_OF(lengths); i++) {
		const u8 *call = code + 7 - lengths[i];
		found |= call[0] == 0xff && (call[1] & 0x38) == 0x10;
	}
	return found;
}

static bool leads_back(struct unwind_space *space, u64 word)
{
	return unwind_space_at(space, word - 1) && is_behind_call(space, word);
}

static enum unwind_step go_back(struct unwind_walk *walk, u64 pc, u64 sp)
{
	walk->pc = pc;
	walk->sp = sp;
	walk->is_return = true;
	return UNWIND_MORE;
}

static enum unwind_step scan(struct unwind_space *space, const struct mem *mem,
			     struct unwind_walk *walk, u32 words)
{
	for (u32 i = 0; i < words; i++) {
		u64 at = walk->sp + 8ull * i, word;
		if (!mem_peek(mem, at, &word, 8))
			break;
		if (leads_back(space, word))
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
	    at - walk->sp > FRAME_MAX || !mem_peek(mem, at, frame, sizeof frame) ||
	    !leads_back(space, frame[1]))
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
		return scan(space, mem, walk, SCAN_WORDS);
	if (range && !walk->is_return)
		step = scan(space, mem, walk, ENTRY_WORDS);
	return is_made && step != UNWIND_MORE ? by_frame(space, mem, walk) : step;
}
