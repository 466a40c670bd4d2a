/* SPDX-License-Identifier: Apache-2.0
 * made.c - see made.h. */
#include "unwind/made.h"

#include "unwind/follow.h"

#define MADE_SPACE struct unwind_space
#define MADE_RANGE made_range_at
#define MADE_HAS_RULE made_has_rule
static int made_range_at(struct unwind_space *space, u64 addr);
static bool made_has_rule(struct unwind_space *space, u64 addr);
#include "unwind/call.h"

static int made_range_at(struct unwind_space *space, u64 addr)
{
	const struct unwind_range *range = unwind_space_at(space, addr);

	if (!range)
		return MADE_NOWHERE;
	return range->file && range->file->table.words ? MADE_TABLE : MADE_NO_TABLE;
}

static bool made_has_rule(struct unwind_space *space, u64 addr)
{
	return unwind_space_rule(space, addr).kind != UNWIND_NONE;
}

static bool step_by_words(const struct made *made)
{
	bool found = false;

	for (u32 i = 0; !found && i < MADE_SCAN_WORDS; i++) {
		u64 at = made->walk->sp + 8ull * i, word;
		if (!mem_peek(made->stack, at, &word, sizeof word))
			return false;
		found = made_step_by_word(made, at, word);
	}
	return found;
}

/* Of registers that are not pushed only the frame pointer is believed to be kept: code that jumps on keeps no other. */
static bool step_by_code(const struct made *made)
{
	struct unwind_walk *walk = made->walk;
	const struct unwind_followed *found = unwind_follow(&made->space->follower, made->code,
							    walk->pc);
	u64 base = walk->sp, word;

	if (!found || (found->from_fp && !unwind_register(made->stack, walk, UNWIND_FP, &base)))
		return false;
	u64 at = base + (u64)found->up;
	if (at < walk->sp || at - walk->sp > MADE_FRAME_MAX ||
	    !mem_read(made->stack, at, &word, sizeof word) ||
	    MADE_RANGE(made->space, word - 1) == MADE_NOWHERE ||
	    !made_is_behind_call(made, word, true))
		return false;
	walk->known &= 1u << UNWIND_FP;
	for (u32 i = 0; i < UNWIND_REGISTERS; i++)
		if (found->saved[i])
			unwind_note(walk, i, base + (u64)(s64)(found->saved[i] - 1));
	made_go_back(walk, word, at + 8);
	return true;
}

static bool step_of_made(const struct made *made)
{
	switch (made->space->made_way) {
	case MADE_BY_WORDS:
		return step_by_words(made) || made_step_by_frame(made, true);
	case MADE_BY_CODE:
		return step_by_code(made) || made_step(made, true);
	default:
		return made_step(made, true);
	}
}

enum unwind_step unwind_made_step(struct unwind_space *space, const struct mem *mem,
				  struct unwind_walk *walk)
{
	struct tail tail = { 0 };
	struct made made = { mem, &space->target->mem.mem, space, walk, &tail };
	int range = made_range_at(space, unwind_place(walk));
	bool found = range == MADE_NO_TABLE ? step_of_made(&made) :
		     range == MADE_TABLE    ? made_step(&made, false) :
					      false;

	return found ? UNWIND_MORE : UNWIND_NO_RULE;
}
