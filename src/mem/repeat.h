/* SPDX-License-Identifier: Apache-2.0
 * repeat.h - what a walk took behind its leaf, as pieces of the plan's snapshots (plan.h).
 *
 * Callers stay where they are while the leaf runs, and walkers take them with mem_read.  So where all the bytes of
 * the last believed walk are there again, walking them once more would give the same frames. */
#pragma once
#include "base/vec.h"
#include "base/types.h"

struct repeat_piece {
	u64 addr;
	u32 part; /* enum plan_part */
	u32 offset, len;
};

typedef VEC(struct repeat_piece) repeat_pieces;

/* Pieces in the order of reading become pieces in the order of the snapshots, joined where not more than so many bytes lie
 * between them. */
void repeat_join(repeat_pieces *pieces, u32 gap);
