/* SPDX-License-Identifier: Apache-2.0
 * read_set.c - see read_set.h. */
#include "mem/read_set.h"

#include "base/table.h"

#include <string.h>

enum {
	PAGE = 4096,
	/* Room for a stack that is some frames deeper next time, within pages already read. */
	SLACK = 256,
	RANGES_MAX = 256,
	LEAD_BYTES_MAX = 1024,
	SPARE_MAX = 1024,
};

/* A further iovec costs 0.32 us, as much as copying some 6 KB: what is this near is joined. The
 * body is copied twice and compared. */
static const u32 join_gap[PLAN_PARTS] = {
	[PLAN_ONCE] = 4096, [PLAN_HEAD] = 1024, [PLAN_BODY] = 1024
};

void read_set_free(struct read_set *set)
{
	vec_free(&set->ranges);
	repeat_free(&set->taken);
	vec_free(&set->fetch.spans);
	free(set->proven);
	*set = (struct read_set){ 0 };
}

/* What was put together of the ranges as they lay. */
static void forget_derived(struct read_set *set)
{
	vec_clear(&set->fetch.spans);
	memset(set->served, 0, sizeof set->served); /* no read is empty */
}

void read_set_clear(struct read_set *set)
{
	vec_clear(&set->ranges);
	forget_derived(set);
	set->same = 0;
	set->layout = set->layout_whole = set->proven_layout = 0;
	set->leaf_layout = set->behind_layout = 0;
	set->head_bytes = set->body_bytes = set->bytes = 0;
	memset(set->part_end, 0, sizeof set->part_end);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* How many of the part begin at `addr` or before. */
static u32 count_up_to(const struct plan_range *ranges, u32 begin, u32 end, u64 addr)
{
	u32 low = begin, high = end;

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		if (ranges[ranges[middle].sorted].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low - begin;
}

struct plan_range *range_seek(struct plan_range *ranges, const u32 part_end[], u32 *hint,
			      enum plan_part part, u64 addr, u32 len)
{
	u32 begin = part_begin(part_end, part), end = part_end[part], next = *hint + 1;

	if (next >= begin && next < end && range_holds(&ranges[next], addr, len)) {
		*hint = next;
		return &ranges[next];
	}
	/* One that leads may reach over others, but not far. */
	for (u32 n = count_up_to(ranges, begin, end, addr); n > 0; n--) {
		u32 i = ranges[begin + n - 1].sorted;
		if (range_holds(&ranges[i], addr, len)) {
			*hint = i;
			return &ranges[i];
		}
		if (addr - ranges[i].addr >= LEAD_BYTES_MAX)
			break;
	}
	return NULL;
}

u32 read_set_head(const struct read_set *set, struct mem_span *spans, u32 room, u8 *bytes,
		  u32 bytes_room, u32 *used)
{
	u32 count = 0, at = 0;

	for (u32 i = part_begin(set->part_end, PLAN_HEAD); i < set->part_end[PLAN_HEAD]; i++) {
		const struct plan_range *range = &set->ranges.at[i];
		if (count == room || range->len > bytes_room - at)
			return 0;
		spans[count++] = (struct mem_span){ range->addr, bytes + at, range->len };
		at += range->len;
	}
	*used = at;
	return count;
}

/* ---- learning ------------------------------------------------------------------------------ */

static int by_address(const void *a, const void *b)
{
	const struct plan_range *x = a, *y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* By part; what the walk takes first is nearest to the leaf and changes fastest: read it right behind the
 * head that says how deep the stack is. */
static int by_first_touch(const void *a, const void *b)
{
	const struct plan_range *x = a, *y = b;

	if (x->part == y->part && x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return by_address(a, b);
}

/* Of one part and order, near, and without a page between them that was never read: it may not be mapped. */
static bool can_join(const struct plan_range *a, const struct plan_range *b)
{
	u64 end = a->addr + a->len;

	return a->part == b->part && a->last == b->last && b->addr <= end + join_gap[a->part] &&
	       b->addr / PAGE <= (end - 1) / PAGE + 1;
}

/* What lies near a head is read with it: one range instead of two. */
static void add_leads(struct read_set *set)
{
	for (u32 i = 0; i < set->ranges.count; i++) {
		struct plan_range *once = &set->ranges.at[i];
		if (once->part != PLAN_ONCE)
			continue;
		once->leads = false;
		if (once->last)
			continue;
		for (u32 k = 0; k < set->ranges.count; k++) {
			const struct plan_range *head = &set->ranges.at[k];
			u64 low = head->addr < once->addr ? head->addr : once->addr;
			u64 once_end = once->addr + once->len, end = head->addr + head->len;
			u64 high = end > once_end ? end : once_end;
			if (head->part != PLAN_HEAD || high - low > LEAD_BYTES_MAX)
				continue;
			once->leads = true;
			once->addr = low;
			once->len = (u32)(high - low);
		}
	}
}

/* Of the ranges from `begin` to `end`. */
static u64 layout_of(const struct read_set *set, u64 layout, u32 begin, u32 end)
{
	for (u32 i = begin; i < end; i++) {
		const struct plan_range *range = &set->ranges.at[i];
		u64 words[] = { layout, range->addr, range->len, range->part, range->offset };
		layout = table_hash(words, sizeof words);
	}
	return layout;
}

/* The range of `once` that covers this head; NULL: none. */
static const struct plan_range *leader_of(const struct read_set *set, const struct plan_range *head)
{
	for (u32 i = 0; i < set->part_end[PLAN_ONCE]; i++) {
		const struct plan_range *range = &set->ranges.at[i];
		if (range->leads && head->addr - range->addr < range->len)
			return range;
	}
	return NULL;
}

static enum fetch_turn turn_of(const struct read_set *set, const struct plan_range *range)
{
	switch (range->part) {
	case PLAN_HEAD:
		return leader_of(set, range) ? TURN_LED : TURN_HEAD;
	case PLAN_BODY:
		return TURN_BODY;
	default:
		return range->leads ? TURN_LEADING :
		       range->early ? TURN_EARLY :
		       range->last  ? TURN_LAST :
				      TURN_BEHIND;
	}
}

/* Where the ranges of a turn lie in a snapshot, behind those of the turns before. */
static void place_turn(struct read_set *set, enum fetch_turn turn)
{
	for (u32 i = 0; i < set->ranges.count; i++) {
		struct plan_range *range = &set->ranges.at[i];
		if (range->turn != turn)
			continue;
		range->offset = set->bytes;
		set->bytes += range->len;
	}
}

static void place_all(struct read_set *set)
{
	for (u32 i = 0; i < set->ranges.count; i++)
		set->ranges.at[i].turn = turn_of(set, &set->ranges.at[i]);
	set->bytes = 0;
	for (enum fetch_turn turn = 0; turn < TURN_LED; turn++) {
		place_turn(set, turn);
		if (turn == TURN_HEAD)
			set->head_bytes = set->bytes;
		else if (turn == TURN_BODY)
			set->body_bytes = set->bytes;
	}
	for (u32 i = 0; i < set->ranges.count; i++) {
		struct plan_range *range = &set->ranges.at[i];
		if (range->turn != TURN_LED)
			continue;
		const struct plan_range *leader = leader_of(set, range);
		range->offset = leader->offset + (u32)(range->addr - leader->addr);
	}
}

static void note_layout(struct read_set *set)
{
	u32 head = part_begin(set->part_end, PLAN_HEAD);
	u64 layout = layout_of(set, 1, head, set->ranges.count);

	if (layout != set->layout)
		set->same = 0;
	set->layout = layout;
	set->layout_whole = layout_of(set, layout, 0, head);
}

struct place {
	u64 addr;
	u32 number;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void sort_part(struct read_set *set, enum plan_part part)
{
	struct place places[RANGES_MAX];
	u32 begin = part_begin(set->part_end, part), count = set->part_end[part] - begin;

	for (u32 i = 0; i < count; i++)
		places[i] = (struct place){ set->ranges.at[begin + i].addr, begin + i };
	if (count)
		qsort(places, count, sizeof *places, by_place);
	for (u32 i = 0; i < count; i++)
		set->ranges.at[begin + i].sorted = places[i].number;
}

/* Joined where near, in the order of reading, with offsets. */
void read_set_arrange(struct read_set *set)
{
	u32 kept = 0;

	forget_derived(set);
	if (set->ranges.count)
		qsort(set->ranges.at, set->ranges.count, sizeof *set->ranges.at, by_address);
	for (u32 i = 0; i < set->ranges.count; i++) {
		struct plan_range *range = &set->ranges.at[i];
		struct plan_range *before = kept ? &set->ranges.at[kept - 1] : NULL;
		if (before && can_join(before, range)) {
			u64 end = range->addr + range->len;
			if (end > before->addr + before->len)
				before->len = (u32)(end - before->addr);
			if (range->low <= range->high)
				range_touch(&before->low, &before->high, range->low,
					    (u32)(range->high - range->low));
			if (range->first < before->first)
				before->first = range->first;
			before->early |= range->early;
		} else if (kept < RANGES_MAX) {
			set->ranges.at[kept++] = *range;
		}
	}
	set->ranges.count = kept;
	add_leads(set);
	if (kept)
		qsort(set->ranges.at, kept, sizeof *set->ranges.at, by_first_touch);
	memset(set->part_end, 0, sizeof set->part_end);
	for (u32 i = 0; i < kept; i++)
		set->part_end[set->ranges.at[i].part] = i + 1;
	for (u32 part = 1; part < PLAN_PARTS; part++)
		if (!set->part_end[part])
			set->part_end[part] = set->part_end[part - 1];
	for (u32 part = 0; part < PLAN_PARTS; part++)
		sort_part(set, part);
	place_all(set);
	note_layout(set);
}

/* What was touched, with slack, but never into a page that was not read.  What is little is no stack, but one frame of those that
 * are objects: no other lies beside it. */
static struct plan_range range_around(u64 low, u64 high, enum plan_part part)
{
	u64 from = low & ~(u64)(PAGE - 1), to = (high + PAGE - 1) & ~(u64)(PAGE - 1);
	u64 slack = part != PLAN_BODY ? 0 : high - low < SLACK ? high - low : SLACK;
	u64 start = low - from > slack ? low - slack : from;
	u64 end = to - high > slack ? high + slack : to;

	return (struct plan_range){ .addr = part == PLAN_BODY ? start : low,
				    .len = (u32)((part == PLAN_BODY ? end : high) -
						 (part == PLAN_BODY ? start : low)),
				    .part = part,
				    .low = low,
				    .high = high };
}

void read_set_add(struct read_set *set, u64 low, u64 high, enum plan_part part, u32 first,
		  enum range_order order)
{
	struct plan_range range = range_around(low, high, part);

	range.first = first;
	range.early = order == RANGE_EARLY;
	range.last = order == RANGE_LAST;
	if (!vec_push(&set->ranges, range))
		return; /* out of memory: it stays unplanned, which is slow and right */
}

/* Nothing was touched of what is empty. */
static struct plan_range touched_part(const struct plan_range *range)
{
	struct plan_range part = *range;

	if (range->low < range->high)
		part = range_around(range->low, range->high, range->part);
	else
		part.len = 0;
	part.first = range->first;
	part.early = range->early;
	part.last = range->last;
	part.low = 1;
	part.high = 0;
	return part;
}

/* Is all in use, but for what costs less to read than to arrange anew? */
static bool is_in_use(const struct read_set *set)
{
	for (u32 i = 0; i < set->ranges.count; i++) {
		const struct plan_range *range = &set->ranges.at[i];
		u32 used = touched_part(range).len;
		if (!used || used + SPARE_MAX < range->len)
			return false;
	}
	return true;
}

void read_set_trim(struct read_set *set)
{
	bool stays = is_in_use(set);
	u32 kept = 0;

	for (u32 i = 0; i < set->ranges.count; i++) {
		struct plan_range *range = &set->ranges.at[i];
		struct plan_range part = touched_part(range);
		if (stays)
			range->low = part.low, range->high = part.high;
		else if (part.len)
			set->ranges.at[kept++] = part;
	}
	set->walks = 0;
	set->trims++;
	if (stays)
		return;
	set->ranges.count = kept;
	read_set_arrange(set);
}
