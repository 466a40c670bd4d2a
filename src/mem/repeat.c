/* SPDX-License-Identifier: Apache-2.0
 * repeat.c - see repeat.h. */
#include "mem/repeat.h"

static int by_offset(const void *a, const void *b)
{
	const struct repeat_piece *x = a, *y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Ranges that lie next to each other in a snapshot need not do so in the target. */
static bool are_near(const struct repeat_piece *a, const struct repeat_piece *b, u32 gap)
{
	return a->part == b->part && b->offset <= a->offset + a->len + gap &&
	       b->addr - a->addr == b->offset - a->offset;
}

void repeat_join(repeat_pieces *pieces, u32 gap)
{
	u32 kept = 0;

	if (pieces->count)
		qsort(pieces->at, pieces->count, sizeof *pieces->at, by_offset);
	for (u32 i = 0; i < pieces->count; i++) {
		const struct repeat_piece *piece = &pieces->at[i];
		struct repeat_piece *before = kept ? &pieces->at[kept - 1] : NULL;
		if (before && are_near(before, piece, gap)) {
			u32 end = piece->offset + piece->len;
			if (end > before->offset + before->len)
				before->len = end - before->offset;
		} else {
			pieces->at[kept++] = *piece;
		}
	}
	pieces->count = kept;
}
