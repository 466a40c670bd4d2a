/* SPDX-License-Identifier: Apache-2.0
 * repeat.c - see repeat.h. */
#include "mem/repeat.h"

enum { BETWEEN_MAX = 256 };

void repeat_free(struct repeat *repeat)
{
	vec_free(&repeat->leaf);
	vec_free(&repeat->behind);
	vec_free(&repeat->joined);
}

void repeat_clear(struct repeat *repeat)
{
	vec_clear(&repeat->leaf);
	vec_clear(&repeat->behind);
	vec_clear(&repeat->joined);
	repeat->place.len = 0;
}

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
	return a->part == b->part && b->offset - a->offset <= a->len + gap &&
	       b->addr - a->addr == b->offset - a->offset;
}

/* True when `before` is both from here on. */
static bool join(struct repeat_piece *before, const struct repeat_piece *piece, u32 gap)
{
	u32 end = piece->offset + piece->len;

	if (!are_near(before, piece, gap))
		return false;
	if (end > before->offset + before->len)
		before->len = end - before->offset;
	return true;
}

bool repeat_take(repeat_pieces *pieces, const struct repeat_piece *piece)
{
	return (pieces->count && join(&pieces->at[pieces->count - 1], piece, 0)) ||
	       vec_push(pieces, *piece);
}

static void join_all(repeat_pieces *pieces, u32 gap)
{
	u32 kept = 0;

	for (u32 i = 0; i < pieces->count; i++)
		if (!kept || !join(&pieces->at[kept - 1], &pieces->at[i], gap))
			pieces->at[kept++] = pieces->at[i];
	pieces->count = kept;
}

void repeat_join_behind(struct repeat *repeat)
{
	repeat_pieces *behind = &repeat->behind;

	if (behind->count)
		qsort(behind->at, behind->count, sizeof *behind->at, by_offset);
	join_all(behind, 0);
	vec_clear(&repeat->joined);
	if (vec_copy(&repeat->joined, behind))
		join_all(&repeat->joined, BETWEEN_MAX);
}
