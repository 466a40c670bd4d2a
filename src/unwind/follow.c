/* SPDX-License-Identifier: Apache-2.0
 * follow.c - see follow.h. */
#include "unwind/follow.h"

#include "base/table.h"
#include "unwind/instruction.h"

#include <stdlib.h>
#include <string.h>

enum {
	INSTRUCTIONS_MAX = 4096, /* on all ways together */
	WAYS_MAX = 256,
	WINDOW = 512, /* bytes of code that are read at once */
	LENGTH_MAX = 15,
	FIRST_BYTES = 16, /* by which code is known again */
	FRAME_MAX = 1 << 20,
	PLACES = 512,
};

enum fp_state { FP_AS_IT_WAS, FP_KNOWN, FP_LOST };

/* A way through the code, so far. */
struct way {
	u64 pc;
	enum fp_state fp;
	s64 fp_up; /* where it leads, as `to.up` */
	struct unwind_followed to;
};

struct place {
	u64 pc; /* 0: none was followed */
	u8 code[FIRST_BYTES];
	bool is_found;
	struct unwind_followed to;
};

struct unwind_follower {
	struct place places[PLACES]; /* by pc */
	u32 way_count;
	struct way ways[WAYS_MAX];
	u64 begin; /* of the window */
	u32 bytes;
	u8 window[WINDOW];
};

void unwind_follower_free(struct unwind_follower *follower)
{
	free(follower);
}

/* ---- code ---------------------------------------------------------------------------------- */

/* As much as is there: code may end with its page. */
static bool read_window(struct unwind_follower *follower, const struct mem *code, u64 pc)
{
	follower->begin = pc;
	follower->bytes = WINDOW;
	while (!mem_peek(code, pc, follower->window, follower->bytes)) {
		follower->bytes /= 2;
		if (!follower->bytes)
			return false;
	}
	return true;
}

static bool instruction_at(struct unwind_follower *follower, const struct mem *code, u64 pc,
			   struct instruction *out)
{
	u64 at = pc - follower->begin;

	if (at >= follower->bytes || follower->bytes - at < LENGTH_MAX) {
		if (!read_window(follower, code, pc))
			return false;
		at = 0;
	}
	return instruction_read(follower->window + at, follower->bytes - at, pc, out);
}

/* Of what goes nowhere only this goes back. */
static bool is_return(const struct unwind_follower *follower, u64 pc)
{
	u8 first = follower->window[pc - follower->begin];

	return first == 0xc3 || first == 0xc2 || first == 0xf3;
}

/* ---- a way --------------------------------------------------------------------------------- */

enum going { GOES_ON, GIVES_BACK, IS_LOST };

static void pop(struct way *way, u8 reg)
{
	if (reg == UNWIND_FP)
		way->fp = FP_LOST;
	if (reg < UNWIND_REGISTERS && way->to.up >= 0)
		way->to.saved[reg] = (s32)way->to.up + 1;
	way->to.up += 8;
}

static enum going unframe(struct way *way, s64 amount)
{
	if (way->fp == FP_LOST)
		return IS_LOST;
	if (way->fp == FP_AS_IT_WAS) {
		way->to = (struct unwind_followed){ .from_fp = true, .up = amount };
		return GOES_ON;
	}
	way->to.up = way->fp_up + amount;
	return GOES_ON;
}

static enum going leave(struct way *way)
{
	if (unframe(way, 0) == IS_LOST)
		return IS_LOST;
	pop(way, UNWIND_FP);
	return GOES_ON;
}

static enum going go(struct way *way, const struct instruction *instruction)
{
	switch (instruction->kind) {
	case INSTRUCTION_PUSH:
		way->to.up -= 8;
		return GOES_ON;
	case INSTRUCTION_POP:
		pop(way, instruction->reg);
		return GOES_ON;
	case INSTRUCTION_ADD:
		way->to.up += instruction->amount;
		return GOES_ON;
	case INSTRUCTION_UNFRAME:
		return unframe(way, instruction->amount);
	case INSTRUCTION_LEAVE:
		return leave(way);
	case INSTRUCTION_FRAME:
		way->fp = FP_KNOWN;
		way->fp_up = way->to.up + instruction->amount;
		return GOES_ON;
	case INSTRUCTION_LOSE_FP:
	case INSTRUCTION_CLEAR:
		way->fp = FP_LOST;
		return GOES_ON;
	case INSTRUCTION_LOSE:
	case INSTRUCTION_UNCOPY:
		return IS_LOST;
	default:
		return GOES_ON;
	}
}

/* ---- all ways ------------------------------------------------------------------------------ */

/* A way that goes on at `pc`, unless one does already. */
static void branch(struct unwind_follower *follower, const struct way *way, u64 pc)
{
	for (u32 i = 0; i < follower->way_count; i++)
		if (follower->ways[i].pc == pc)
			return;
	if (follower->way_count == WAYS_MAX)
		return;
	follower->ways[follower->way_count] = *way;
	follower->ways[follower->way_count++].pc = pc;
}

/* Up to where it gives the frame back, or meets another one; branches lead elsewhere, too. */
static enum going go_along(struct unwind_follower *follower, const struct mem *code, struct way way,
			   u32 *left, struct unwind_followed *out)
{
	while ((*left)--) {
		struct instruction instruction = { 0 };
		if (!instruction_at(follower, code, way.pc, &instruction))
			return IS_LOST;
		bool is_back = instruction.kind == INSTRUCTION_JUMP && !instruction.target;
		if (instruction.kind == INSTRUCTION_RETURN && !is_return(follower, way.pc))
			return IS_LOST;
		if (is_back || instruction.kind == INSTRUCTION_RETURN) {
			*out = way.to;
			return GIVES_BACK;
		}
		if (instruction.kind == INSTRUCTION_BRANCH || instruction.kind == INSTRUCTION_JUMP)
			branch(follower, &way, instruction.target);
		if (instruction.kind == INSTRUCTION_JUMP || go(&way, &instruction) == IS_LOST ||
		    way.to.up > FRAME_MAX || way.to.up < -FRAME_MAX)
			return IS_LOST;
		way.pc += instruction.length;
	}
	return IS_LOST;
}

static bool follow(struct unwind_follower *follower, const struct mem *code, struct place *place)
{
	u32 left = INSTRUCTIONS_MAX;

	follower->bytes = 0;
	follower->ways[0] = (struct way){ .pc = place->pc };
	follower->way_count = 1;
	for (u32 i = 0; i < follower->way_count && left; i++)
		if (go_along(follower, code, follower->ways[i], &left, &place->to) == GIVES_BACK)
			return true;
	return false;
}

const struct unwind_followed *unwind_follow(struct unwind_follower **follower,
					    const struct mem *code, u64 pc)
{
	u8 first[FIRST_BYTES];

	if (!*follower)
		*follower = calloc(1, sizeof **follower);
	if (!*follower || !mem_peek(code, pc, first, sizeof first))
		return NULL;
	struct place *place = &(*follower)->places[table_hash(&pc, sizeof pc) % PLACES];
	if (place->pc != pc || memcmp(place->code, first, sizeof first)) {
		*place = (struct place){ .pc = pc };
		memcpy(place->code, first, sizeof first);
		place->is_found = follow(*follower, code, place);
	}
	return place->is_found ? &place->to : NULL;
}
