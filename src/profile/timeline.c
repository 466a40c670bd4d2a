/* SPDX-License-Identifier: Apache-2.0
 * timeline.c - see timeline.h.
 *
 * Cells are added as they come and put in order when there are many of them; that is
 * O(log n) a sample, and most samples find the last cell to be theirs. */
#include "profile/timeline.h"

#include <stdlib.h>

enum { SLOT_NS_LEAST = 1 << 20 }; /* a millisecond */

static int by_slot_and_entry(const void *a, const void *b)
{
	const struct timeline_cell *x = a, *y = b;
	u64 left = (u64)x->slot << 32 | x->entry, right = (u64)y->slot << 32 | y->entry;

	return left < right ? -1 : left > right;
}

void timeline_settle(struct timeline *timeline)
{
	struct timeline_cell *cells = timeline->cells.at;
	u32 kept = 0;

	if (timeline->settled == timeline->cells.count)
		return;
	qsort(cells, timeline->cells.count, sizeof *cells, by_slot_and_entry);
	for (u32 i = 1; i < timeline->cells.count; i++) {
		if (by_slot_and_entry(&cells[kept], &cells[i]) == 0)
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
	while (timeline->cells.count > timeline->cells_most / 2)
		widen(timeline);
}

void timeline_add(struct timeline *timeline, u64 time_ns, u32 entry)
{
	if (!timeline->cells_most || entry == UINT32_MAX)
		return;
	if (!timeline->slot_ns)
		timeline->slot_ns = SLOT_NS_LEAST;
	while (time_ns / timeline->slot_ns >= UINT32_MAX)
		widen(timeline);
	struct timeline_cell cell = { (u32)(time_ns / timeline->slot_ns), entry, 1 };
	if (timeline->cells.count) {
		struct timeline_cell *last = &timeline->cells.at[timeline->cells.count - 1];
		if (last->slot == cell.slot && last->entry == entry) {
			last->count++;
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

void timeline_narrow(struct timeline *timeline, u32 slots_most)
{
	timeline_settle(timeline);
	while (timeline_slots(timeline) > slots_most)
		widen(timeline);
}

void timeline_free(struct timeline *timeline)
{
	vec_free(&timeline->cells);
	*timeline = (struct timeline){ 0 };
}
