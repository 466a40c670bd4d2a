/* SPDX-License-Identifier: Apache-2.0
 * sample_rows.c - see sample_rows.h.
 *
 * How wide slots have to be is known without trying: two cells of an entry that follow each other
 * stay apart as long as their slots differ in a bit that is not shifted out. */
#include "export/sample_rows.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static int by_entry_and_slot(const void *a, const void *b)
{
	const struct timeline_cell *x = a, *y = b;
	u64 left = (u64)x->entry << 32 | x->slot, right = (u64)y->entry << 32 | y->slot;

	return left < right ? -1 : left > right;
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct sample_row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* A timeline that has lost samples would lose weight: it is not used. */
static bool is_whole(const struct profile *profile, const struct timeline_cell *cells, u32 count)
{
	u32 at = 0;

	if (profile->timeline.bad || !count)
		return false;
	for (u32 i = 0; i < profile->entries.count; i++) {
		u64 sum = 0;
		for (; at < count && cells[at].entry == i; at++)
			sum += cells[at].count;
		if (sum != profile->entries.at[i].count)
			return false;
	}
	return at == count;
}

/* By how many bits slots are to be shifted for at most so many rows. */
static u32 shift_for(const struct timeline_cell *cells, u32 count, u32 entries, u32 most)
{
	u32 apart[33] = { 0 }; /* by length: pairs that stay apart at shifts below it */
	u64 rows = entries;

	for (u32 i = 1; i < count; i++) {
		u32 differ = cells[i].slot ^ cells[i - 1].slot;
		if (cells[i].entry == cells[i - 1].entry && differ)
			apart[32 - (u32)__builtin_clz(differ)]++;
	}
	for (u32 shift = 32; shift > 0; shift--) {
		rows += apart[shift];
		if (rows > most)
			return shift;
	}
	return 0;
}

/* The parts of an entry's weight are differences of two rounded-down running sums, as in
 * profile_share(). */
static void add_cells(struct sample_rows *rows, const struct profile *profile,
		      const struct timeline_cell *cells, u32 count, u32 shift)
{
	u64 samples = 0, paid = 0;

	for (u32 i = 0; i < count; i++) {
		const struct profile_entry *entry = &profile->entries.at[cells[i].entry];
		u64 time_ns = (u64)(cells[i].slot >> shift) * rows->slot_ns;
		bool is_first = !i || cells[i - 1].entry != cells[i].entry;
		struct sample_row *row = is_first ? NULL : &rows->at[rows->count - 1];
		if (is_first)
			samples = paid = 0;
		if (is_first || row->time_ns != time_ns) {
			row = &rows->at[rows->count++];
			*row = (struct sample_row){ .time_ns = time_ns,
						    .stack = entry->stack,
						    .thread = entry->thread };
		}
		samples += cells[i].count;
		u64 due = (u64)((unsigned __int128)entry->weight * samples / entry->count);
		row->count += cells[i].count;
		row->weight += due - paid;
		paid = due;
	}
}

static void add_entries(struct sample_rows *rows, const struct profile *profile)
{
	for (u32 i = 0; i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		rows->at[rows->count++] = (struct sample_row){ .count = entry->count,
							       .weight = entry->weight,
							       .stack = entry->stack,
							       .thread = entry->thread };
	}
}

/* Rows of a thread in one slot are spread evenly, and none comes after the end. */
static void spread(struct sample_rows *rows, u64 duration_ns)
{
	for (u32 i = 0, n; i < rows->count; i += n) {
		const struct sample_row *row = &rows->at[i];
		u64 width = rows->slot_ns;
		for (n = 1; i + n < rows->count && row[n].thread == row->thread &&
			    row[n].time_ns == row->time_ns;)
			n++;
		if (duration_ns > row->time_ns && duration_ns - row->time_ns < width)
			width = duration_ns - row->time_ns;
		for (u32 k = n; k-- > 0;)
			rows->at[i + k].time_ns += (u64)((unsigned __int128)width * (2 * k + 1) /
							 (2 * (u64)n));
	}
}

static bool make_firsts(struct sample_rows *rows, u32 threads)
{
	rows->first = calloc((size_t)threads + 1, sizeof *rows->first);
	if (!rows->first)
		return false;
	for (u32 i = 0; i < rows->count; i++)
		rows->first[rows->at[i].thread + 1]++;
	for (u32 i = 0; i < threads; i++)
		rows->first[i + 1] += rows->first[i];
	return true;
}

bool sample_rows_make(struct sample_rows *rows, const struct profile *profile, u32 most)
{
	const struct timeline *timeline = &profile->timeline;
	u32 count = timeline->cells.count;
	AUTO_FREE struct timeline_cell *cells = calloc((size_t)count + 1, sizeof *cells);

	*rows = (struct sample_rows){ 0 };
	if (!cells)
		return false;
	if (count)
		memcpy(cells, timeline->cells.at, count * sizeof *cells);
	qsort(cells, count, sizeof *cells, by_entry_and_slot);
	bool is_timed = is_whole(profile, cells, count);
	u32 room = is_timed ? count : profile->entries.count;
	rows->at = calloc((size_t)room + 1, sizeof *rows->at);
	if (!rows->at)
		return false;
	if (is_timed) {
		u32 shift = shift_for(cells, count, profile->entries.count, most);
		rows->slot_ns = timeline->slot_ns << shift;
		if (shift == 32) /* all in one: no order is left */
			rows->slot_ns = 0, is_timed = false;
		if (is_timed)
			add_cells(rows, profile, cells, count, shift);
	}
	if (!is_timed)
		add_entries(rows, profile);
	if (rows->count)
		qsort(rows->at, rows->count, sizeof *rows->at, by_thread_and_time);
	if (is_timed)
		spread(rows, profile->duration_ns);
	if (make_firsts(rows, profile->threads.count))
		return true;
	sample_rows_free(rows);
	return false;
}

void sample_rows_free(struct sample_rows *rows)
{
	free(rows->at);
	free(rows->first);
	*rows = (struct sample_rows){ 0 };
}
