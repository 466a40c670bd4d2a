/* SPDX-License-Identifier: Apache-2.0
 * copies.c - see copies.h. */
#include "mem/copies.h"

#include "mem/bytes.h"

#include <string.h>

enum { SANDWICHED = 2 /* ranges with heads of their own around them */ };

static bool reserve(struct copies *copies, struct snapshot *snapshot, size_t size)
{
	if (snapshot->bytes && size <= snapshot->room)
		return true;
	size += !size; /* what has no head is copied, too */
	u8 *bytes = realloc(snapshot->bytes, size + size / 2);
	if (!bytes)
		return false;
	copies->grown++;
	snapshot->bytes = bytes;
	snapshot->room = size + size / 2;
	return true;
}

/* ---- what to fetch ------------------------------------------------------------------------- */

static bool add_range(struct copies *copies, const struct plan_range *range, u8 *bytes)
{
	return vec_push(&copies->spans,
			(struct mem_span){ range->addr, bytes + range->offset, range->len });
}

static bool add_turn(struct copies *copies, const struct read_set *set, enum fetch_turn turn)
{
	bool good = true;

	for (u32 i = 0; good && i < set->ranges.count; i++)
		if (set->ranges.at[i].turn == turn)
			good = add_range(copies, &set->ranges.at[i], copies->first.bytes);
	return good;
}

/* The first head has before it what `begin` went by to get there, such as which of a thread's stacks is current: read behind
 * the head, that could be what became so meanwhile, and the other's stack would be given for it, or this one's for another. */
static bool add_turns(struct copies *copies, const struct read_set *set, enum fetch_turn from,
		      enum fetch_turn to)
{
	bool good = true;

	for (enum fetch_turn turn = from; good && turn <= to; turn++)
		good = add_turn(copies, set, turn);
	return good;
}

static bool add_further_head(struct copies *copies, const struct read_set *set)
{
	u8 *bytes = copies->heads.bytes + (size_t)copies->head_count++ * copies->head_bytes;
	bool good = true;

	for (u32 i = part_begin(set->part_end, PLAN_HEAD); good && i < set->part_end[PLAN_HEAD];
	     i++)
		good = add_range(copies, &set->ranges.at[i], bytes);
	return good;
}

/* [head] [body 1] [head] [body 2] [head] [body 3...] [head]: each of the first ranges, where the leaf
 * is, has a head right before and behind it; the rest share one. */
static bool add_sandwich(struct copies *copies, const struct read_set *set, struct snapshot *into)
{
	u32 first = part_begin(set->part_end, PLAN_BODY);

	if (!reserve(copies, into, set->body_bytes) ||
	    !reserve(copies, &copies->heads, (size_t)copies->head_bytes * (SANDWICHED + 2)))
		return false;
	for (u32 i = first; i < set->part_end[PLAN_BODY]; i++) {
		if (i - first <= SANDWICHED && !add_further_head(copies, set))
			return false;
		if (!add_range(copies, &set->ranges.at[i], into->bytes))
			return false;
	}
	return add_further_head(copies, set);
}

static void begin(struct copies *copies, const struct read_set *set)
{
	copies->head_count = 0;
	copies->head_bytes = set->head_bytes;
	vec_clear(&copies->spans);
}

/* The walker goes by the very first head: reading the target's memory slows it where it works,
 * and a head that is read behind the body finds it where that made it linger (bench/torn: 4 points).
 * The first copy of the body also brings everything into our caches, so that the sandwiches are
 * quick. */
static bool add_all(struct copies *copies, const struct read_set *set, enum fetch_kind kind)
{
	begin(copies, set);
	return reserve(copies, &copies->first, set->bytes) &&
	       add_turns(copies, set, TURN_EARLY, TURN_BODY) &&
	       (kind != FETCH_TWICE || add_sandwich(copies, set, &copies->second)) &&
	       add_turns(copies, set, TURN_BEHIND, TURN_LAST);
}

/* ---- fetching ---------------------------------------------------------------------------- */

static bool list_is_ready(const struct copies *copies, const struct fetch_list *list,
			  enum fetch_kind kind)
{
	return list->spans.count && list->copies == copies && list->grown == copies->grown &&
	       list->kind == kind;
}

static bool list_make(struct copies *copies, struct read_set *set, enum fetch_kind kind)
{
	struct fetch_list *list = &set->fetch;

	if (!add_all(copies, set, kind) || !vec_copy(&list->spans, &copies->spans))
		return false;
	list->copies = copies;
	list->grown = copies->grown;
	list->kind = kind;
	list->head_count = copies->head_count;
	return true;
}

static bool read_spans(struct copies *copies, const struct mem_live *live,
		       const struct mem_span *spans, u32 count)
{
	u64 before = live->calls;
	u32 done = mem_live_readv(live, spans, count);

	copies->calls += live->calls - before;
	copies->ranges += count;
	return done == count;
}

bool copies_fetch(struct copies *copies, const struct mem_live *live, struct read_set *set,
		  enum fetch_kind kind)
{
	const struct fetch_list *list = &set->fetch;

	if (!list_is_ready(copies, list, kind) && !list_make(copies, set, kind))
		return false;
	copies->head_count = list->head_count;
	copies->head_bytes = set->head_bytes;
	return read_spans(copies, live, list->spans.at, list->spans.count);
}

bool copies_fetch_again(struct copies *copies, const struct mem_live *live,
			const struct read_set *set)
{
	begin(copies, set);
	return add_sandwich(copies, set, &copies->again) &&
	       read_spans(copies, live, copies->spans.at, copies->spans.count);
}

/* ---- heads ------------------------------------------------------------------------------- */

bool copies_heads_agree(const struct copies *copies, const u8 *bytes, size_t at, u32 len)
{
	for (u32 i = 0; i < copies->head_count; i++)
		if (!bytes_are_same(bytes,
				    copies->heads.bytes + (size_t)i * copies->head_bytes + at, len))
			return false;
	return true;
}

void copies_free(struct copies *copies)
{
	free(copies->first.bytes);
	free(copies->second.bytes);
	free(copies->again.bytes);
	free(copies->heads.bytes);
	vec_free(&copies->spans);
	*copies = (struct copies){ 0 };
}
