/* SPDX-License-Identifier: Apache-2.0
 * repeat.h - what a walk took, as pieces of the plan's snapshots (plan.h).
 *
 * A walk goes by what it reads, and by nothing else.  So where all the bytes that the last believed walk took are there again,
 * walking them once more would give the same frames.  Mostly the callers stay, whatever the leaf does; and while the leaf is in
 * one function, all stays but the word that says where in it (mem_place). */
#pragma once
#include "base/vec.h"
#include "base/types.h"

struct repeat_piece {
	u64 addr;
	u32 part; /* enum plan_part */
	u32 offset, len;
};

typedef VEC(struct repeat_piece) repeat_pieces;

/* All zero: nothing was taken. */
struct repeat {
	repeat_pieces leaf;        /* until the walk had its leaf, but for the place */
	struct repeat_piece place; /* len 0: none */
	repeat_pieces behind;      /* and then */
	repeat_pieces joined;      /* `behind`, with what lies between */
};

void repeat_free(struct repeat *repeat);
void repeat_clear(struct repeat *repeat);
/* One more that was taken. False when out of memory. */
bool repeat_take(repeat_pieces *pieces, const struct repeat_piece *piece);
/* The pieces of `behind` in the order of the snapshots, and the same with what lies between: callers' own words, such as locals,
 * mostly stay, too, and it makes a few comparisons of one a frame. */
void repeat_join_behind(struct repeat *repeat);
