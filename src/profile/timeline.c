/* SPDX-License-Identifier: Apache-2.0
 * timeline.c - see timeline.h.
 *
 * Cells are added as they come and put in order when there are many of them; that is
 * O(log n) a sample, and most samples find the last cell to be theirs. */
#include "profile/timeline.h"

#include <stdlib.h>

enum {
	SLOT_NS_LEAST = 1 << 20, /* a millisecond */
	DIGIT_BITS = 11,
};

static u64 key_of(const struct timeline_cell *cell)
{
	return (u64)cell->slot << 32 | cell->entry;
}

/* One pass of a radix sort: stable, by one digit of the key. */
static void sort_by_digit(const struct timeline_cell *from, struct timeline_cell *to, u32 count,
			  u32 shift)
{
	u32 begin[1 << DIGIT_BITS] = { 0 };

	for (u32 i = 0; i < count; i++)
		begin[key_of(&from[i]) >> shift & (COUNT_OF(begin) - 1)]++;
	for (u32 digit = 0, sum = 0; digit < COUNT_OF(begin); digit++) {
		u32 here = begin[digit];
		begin[digit] = sum;
		sum += here;
	}
	for (u32 i = 0; i < count; i++)
		to[begin[key_of(&from[i]) >> shift & (COUNT_OF(begin) - 1)]++] = from[i];
}

/* By the digits in which keys differ at all. False when out of memory. */
static bool sort(struct timeline *timeline)
{
	u32 count = timeline->cells.count;
	struct timeline_cell *from = timeline->cells.at;
	struct timeline_cell *to = reallocarray(NULL, timeline->cells.room, sizeof *to);
	u64 all = UINT64_MAX, any = 0;

	if (!to)
		return false;
	for (u32 i = 0; i < count; i++) {
		all &= key_of(&from[i]);
		any |= key_of(&from[i]);
	}
	for (u32 shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!((all ^ any) >> shift & ((1u << DIGIT_BITS) - 1)))
			continue;
		sort_by_digit(from, to, count, shift);
		struct timeline_cell *sorted = to;
		to = from;
		from = sorted;
	}
	timeline->cells.at = from;
	free(to);
	return true;
}

void timeline_settle(struct timeline *timeline)
{
	u32 kept = 0;

	if (timeline->settled == timeline->cells.count)
		return;
	if (!sort(timeline)) {
		timeline->bad = true;
		return;
	}
	struct timeline_cell *cells = timeline->cells.at;
	for (u32 i = 1; i < timeline->cells.count; i++) {
		if (key_of(&cells[kept]) == key_of(&cells[i]))
			cells[kept].count += cells[i].count;
		else
			cells[++kept] = cells[i];
	}
	timeline->cells.count = timeline->settled = kept + 1;
}

static void widen(struct timeline *timeline)
{
	timeline->slot_ns *= 2;
	for (u32 i = 0; i < timeline->cells.count; i++)
		timeline->cells.at[i].slot /= 2;
	timeline->settled = 0;
	timeline_settle(timeline);
}

/* Room for as many cells as there are now. */
static void make_room(struct timeline *timeline)
{
	timeline_settle(timeline);
	while (!timeline->bad && timeline->cells.count > timeline->cells_most / 2)
		widen(timeline);
}

void timeline_add(struct timeline *timeline, u64 time_ns, u32 entry)
{
	timeline_add_counted(timeline, time_ns, entry, 1);
}

void timeline_add_counted(struct timeline *timeline, u64 time_ns, u32 entry, u32 count)
{
	if (!timeline->cells_most || entry == UINT32_MAX || timeline->bad)
		return;
	if (!timeline->slot_ns)
		timeline->slot_ns = SLOT_NS_LEAST;
	while (time_ns / timeline->slot_ns >= UINT32_MAX)
		widen(timeline);
	struct timeline_cell cell = { (u32)(time_ns / timeline->slot_ns), entry, count };
	if (timeline->cells.count) {
		struct timeline_cell *last = &timeline->cells.at[timeline->cells.count - 1];
		if (last->slot == cell.slot && last->entry == entry) {
			last->count += count;
			return;
		}
	}
	if (timeline->cells.count >= timeline->cells_most)
		make_room(timeline);
	if (!vec_push(&timeline->cells, cell))
		timeline->bad = true;
}

u32 timeline_slots(const struct timeline *timeline)
{
	u32 most = 0;

	for (u32 i = 0; i < timeline->cells.count; i++)
		if (timeline->cells.at[i].slot >= most)
			most = timeline->cells.at[i].slot + 1;
	return most;
}

void timeline_free(struct timeline *timeline)
{
	vec_free(&timeline->cells);
	*timeline = (struct timeline){ 0 };
}
