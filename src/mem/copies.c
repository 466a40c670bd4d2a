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

static bool add_part(struct copies *copies, const struct read_set *set, enum plan_part part,
		     u8 *bytes)
{
	bool good = true;

	for (u32 i = part_begin(set->part_end, part); good && i < set->part_end[part]; i++)
		good = add_range(copies, &set->ranges.at[i], bytes);
	return good;
}

static bool add_body(struct copies *copies, const struct read_set *set, struct snapshot *into)
{
	return reserve(copies, into, set->part_bytes[PLAN_BODY]) &&
	       add_part(copies, set, PLAN_BODY, into->bytes);
}

enum once_place { ONCE_BEFORE_HEAD, ONCE_WITH_HEAD, ONCE_BEHIND, ONCE_LAST };

static enum once_place once_place(const struct plan_range *range)
{
	return range->leads ? ONCE_WITH_HEAD :
	       range->early ? ONCE_BEFORE_HEAD :
	       range->last  ? ONCE_LAST :
			      ONCE_BEHIND;
}

static bool add_once(struct copies *copies, const struct read_set *set, enum once_place place)
{
	bool good = reserve(copies, &copies->once, set->part_bytes[PLAN_ONCE]);

	for (u32 i = 0; good && i < set->part_end[PLAN_ONCE]; i++)
		if (once_place(&set->ranges.at[i]) == place)
			good = add_range(copies, &set->ranges.at[i], copies->once.bytes);
	return good;
}

static bool add_head(struct copies *copies, const struct read_set *set)
{
	size_t at = (size_t)copies->head_count++ * copies->head_size;

	return add_part(copies, set, PLAN_HEAD, copies->heads.bytes + at);
}

/* The first head: what has a leader comes with it. Before it what `begin` went by to get there, such as which of a
 * thread's stacks is current: read behind the head, that could be what became so meanwhile, and the other's stack
 * would be given for it, or this one's for another. */
static bool add_first_head(struct copies *copies, const struct read_set *set)
{
	bool good = add_once(copies, set, ONCE_BEFORE_HEAD) &&
		    add_once(copies, set, ONCE_WITH_HEAD);

	copies->head_count++;
	for (u32 i = part_begin(set->part_end, PLAN_HEAD); good && i < set->part_end[PLAN_HEAD];
	     i++)
		if (!read_set_leader(set, &set->ranges.at[i]))
			good = add_range(copies, &set->ranges.at[i], copies->heads.bytes);
	return good;
}

static void copy_led_head(struct copies *copies, const struct read_set *set)
{
	for (u32 i = part_begin(set->part_end, PLAN_HEAD); i < set->part_end[PLAN_HEAD]; i++) {
		const struct plan_range *head = &set->ranges.at[i];
		const struct plan_range *leader = read_set_leader(set, head);
		if (leader)
			memcpy(copies->heads.bytes + head->offset,
			       copies->once.bytes + leader->offset + (head->addr - leader->addr),
			       head->len);
	}
}

/* [head] [body 1] [head] [body 2] [head] [body 3...] [head]: each of the first ranges, where the leaf
 * is, has a head right before and behind it; the rest share one. */
static bool add_sandwich(struct copies *copies, const struct read_set *set, struct snapshot *into)
{
	u32 first = part_begin(set->part_end, PLAN_BODY);

	if (!reserve(copies, into, set->part_bytes[PLAN_BODY]))
		return false;
	for (u32 i = first; i < set->part_end[PLAN_BODY]; i++) {
		if (i - first <= SANDWICHED && !add_head(copies, set))
			return false;
		if (!add_range(copies, &set->ranges.at[i], into->bytes))
			return false;
	}
	return add_head(copies, set);
}

static bool begin(struct copies *copies, const struct read_set *set)
{
	copies->head_count = 0;
	copies->head_size = set->part_bytes[PLAN_HEAD];
	vec_clear(&copies->spans);
	return reserve(copies, &copies->heads, (size_t)copies->head_size * (SANDWICHED + 3));
}

/* The walker goes by the very first head: reading the target's memory slows it where it works,
 * and a head that is read behind the body finds it where that made it linger (bench/torn: 4 points).
 * The first copy of the body also brings everything into our caches, so that the sandwiches are
 * quick. */
static bool add_all(struct copies *copies, const struct read_set *set, enum fetch_kind kind)
{
	return begin(copies, set) && add_first_head(copies, set) &&
	       add_body(copies, set, &copies->body[0]) &&
	       (kind != FETCH_TWICE || add_sandwich(copies, set, &copies->body[1])) &&
	       add_once(copies, set, ONCE_BEHIND) && add_once(copies, set, ONCE_LAST);
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
	copies->head_size = set->part_bytes[PLAN_HEAD];
	if (!read_spans(copies, live, list->spans.at, list->spans.count))
		return false;
	copy_led_head(copies, set);
	return true;
}

bool copies_fetch_again(struct copies *copies, const struct mem_live *live,
			const struct read_set *set)
{
	return begin(copies, set) && add_sandwich(copies, set, &copies->again) &&
	       read_spans(copies, live, copies->spans.at, copies->spans.count);
}

/* ---- heads ------------------------------------------------------------------------------- */

void copies_add_head(struct copies *copies, const u8 *bytes)
{
	memcpy(copies->heads.bytes + (size_t)copies->head_count++ * copies->head_size, bytes,
	       copies->head_size);
}

bool copies_keep_first_head(struct copies *copies, bool fetched)
{
	if (!reserve(copies, &copies->first_head, copies->head_size))
		return false;
	if (copies->head_size && fetched)
		memcpy(copies->first_head.bytes, copies->heads.bytes, copies->head_size);
	return true;
}

bool copies_heads_agree(const struct copies *copies, const u8 *bytes, size_t at, u32 len)
{
	for (u32 i = 0; i < copies->head_count; i++)
		if (!bytes_are_same(bytes, copies->heads.bytes + (size_t)i * copies->head_size + at,
				    len))
			return false;
	return true;
}

void copies_free(struct copies *copies)
{
	free(copies->once.bytes);
	free(copies->heads.bytes);
	free(copies->first_head.bytes);
	free(copies->again.bytes);
	for (u32 i = 0; i < COUNT_OF(copies->body); i++)
		free(copies->body[i].bytes);
	vec_free(&copies->spans);
	*copies = (struct copies){ 0 };
}
