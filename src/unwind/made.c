/* SPDX-License-Identifier: Apache-2.0
 * made.c - see made.h. */
#include "unwind/made.h"

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

enum unwind_step unwind_made_step(struct unwind_space *space, const struct mem *mem,
				  struct unwind_walk *walk)
{
	struct tail tail = { 0 };
	struct made made = { mem, &space->target->mem.mem, space, walk, &tail };
	int range = made_range_at(space, unwind_place(walk));
	bool found = false;

	if (range == MADE_NO_TABLE && space->has_no_frames)
		for (u32 i = 0; !found && i < MADE_SCAN_WORDS; i++) {
			u64 at = walk->sp + 8ull * i, word;
			if (!mem_peek(mem, at, &word, sizeof word))
				break;
			found = made_step_by_word(&made, at, word);
		}
	else if (range != MADE_NOWHERE)
		found = made_step(&made, range == MADE_NO_TABLE);
	return found ? UNWIND_MORE : UNWIND_NO_RULE;
}
