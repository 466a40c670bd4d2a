/* SPDX-License-Identifier: Apache-2.0
 * html_data.c - the columns of a page: html_encode() of html_page.h; their twin is html/decode.js.
 *
 * Everything is an unsigned LEB128, in columns, because like beside like compresses best:
 *
 *	functions   count; names; paths; images; languages; flags; first lines     (names: texts)
 *	locations   count; functions; lines
 *	nodes       count; pops; locations
 *	processes   count; pids; names
 *	threads     count; processes; tids; names; numbers of entries
 *	entries     count; steps; counts; weights
 *	moments     nanoseconds of a slot; slots; and if there are any: cells of each entry;
 *	            then for each cell its step * 2, + 1 when it has several samples; then
 *	            samples - 2 of those that have
 *	sources     count; paths; bytes of each
 *	changes     0; or, of two profiles, 1 and what the one before has: counts and weights of the entries;
 *	            verdicts of nodes 1 and on; verdicts, then noises of the selfs of the locations, then of
 *	            their totals (enum diff_verdict; millionths of the whole)
 *	texts       bytes; the texts as UTF-8, a newline between two
 *	            the sources as UTF-8, one behind the other
 *
 * Nodes are the stacks in preorder: node i is one deeper than node i - 1, less `pops`, so
 * that a subtree is a range and a column of mostly zeros says where all of them are.  Node 0
 * is the root and is not listed.  Entries come by thread, and in it by node; a step is the
 * distance from the one before.  Nothing is pruned.
 *
 * Moments say when: a cell is an entry's samples in one slot of time.  By entry, because the
 * cells of one stack lie at distances of one size: a seventh less is left of them than by slot.
 * Few have a second sample, so a bit says which: as small as a column of counts, and a third
 * less to read. */
#include "base/cleanup.h"
#include "base/text.h"
#include "base/uleb.h"
#include "export/html_page.h"
#include "export/text_table.h"
#include "profile/preorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FLUSH_AT = 64 * 1024,
	SLOTS_MOST = 2000, /* a window is hardly wider in pixels */
};

struct encoding {
	const struct profile *profile;
	const struct html_comparison *comparison; /* or NULL */
	const struct sink *sink;
	struct text_table texts;
	struct str buffer;
	struct preorder order;
	u32 *rank_of;       /* by entry of the profile: where it stands in the file */
	struct str sources; /* safe, one behind the other */
	bool bad;
};

static void flush(struct encoding *e)
{
	e->bad |= e->buffer.bad || e->texts.bad;
	if (!e->bad)
		sink_bytes(e->sink, e->buffer.text, e->buffer.length);
	str_clear(&e->buffer);
}

static void put(struct encoding *e, u64 value)
{
	u8 bytes[ULEB_MOST];

	str_add(&e->buffer, bytes, uleb_write(bytes, value));
	if (e->buffer.length >= FLUSH_AT)
		flush(e);
}

/* One column: `value` for each item of a vector. */
#define PUT_COLUMN(e, items, value)                                   \
	for (u32 n = 0; n < (items).count; n++) {                     \
		const __typeof__(*(items).at) *item = &(items).at[n]; \
		put((e), (value));                                    \
	}

static void put_functions(struct encoding *e)
{
	const struct names *names = &e->profile->names;

	put(e, names->functions.count);
	PUT_COLUMN(e, names->functions, text_table_number(&e->texts, item->name));
	PUT_COLUMN(e, names->functions, text_table_number(&e->texts, item->path));
	PUT_COLUMN(e, names->functions, text_table_number(&e->texts, item->image));
	PUT_COLUMN(e, names->functions, text_table_number(&e->texts, item->language));
	PUT_COLUMN(e, names->functions, item->flags);
	PUT_COLUMN(e, names->functions, item->first_line);
	put(e, names->locations.count);
	PUT_COLUMN(e, names->locations, item->function);
	PUT_COLUMN(e, names->locations, item->line);
}

static void put_nodes(struct encoding *e)
{
	const struct name_stack *stacks = e->profile->names.stacks.at;
	u32 count = e->profile->names.stacks.count - 1, depth = 0;

	put(e, count);
	for (u32 i = 0; i < count; i++) {
		put(e, depth + 1 - stacks[e->order.stack_of[i]].depth);
		depth = stacks[e->order.stack_of[i]].depth;
	}
	for (u32 i = 0; i < count; i++)
		put(e, stacks[e->order.stack_of[i]].location);
}

static int compare_entries(const void *a, const void *b, void *encoding)
{
	const struct encoding *e = encoding;
	const struct profile_entry *x = *(const struct profile_entry *const *)a;
	const struct profile_entry *y = *(const struct profile_entry *const *)b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return e->order.node_of[x->stack] < e->order.node_of[y->stack] ?
		       -1 :
		       1; /* equal ones are one entry */
}

static void put_threads(struct encoding *e)
{
	const struct profile *profile = e->profile;
	AUTO_FREE u32 *entries = calloc(profile->threads.count + 1, sizeof *entries);

	if (!entries) {
		e->bad = true;
		return;
	}
	for (u32 i = 0; i < profile->entries.count; i++)
		entries[profile->entries.at[i].thread]++;
	put(e, profile->processes.count);
	PUT_COLUMN(e, profile->processes, item->pid);
	PUT_COLUMN(e, profile->processes, text_table_number(&e->texts, item->name));
	put(e, profile->threads.count);
	PUT_COLUMN(e, profile->threads, item->process);
	PUT_COLUMN(e, profile->threads, item->tid);
	PUT_COLUMN(e, profile->threads, text_table_number(&e->texts, item->name));
	for (u32 i = 0; i < profile->threads.count; i++)
		put(e, entries[i]);
}

static void put_entries(struct encoding *e)
{
	const struct profile *profile = e->profile;
	u32 count = profile->entries.count;
	AUTO_FREE const struct profile_entry **sorted = calloc(count + 1, sizeof *sorted);

	if (!sorted) {
		e->bad = true;
		return;
	}
	for (u32 i = 0; i < count; i++)
		sorted[i] = &profile->entries.at[i];
	qsort_r(sorted, count, sizeof *sorted, compare_entries, e);
	put(e, count);
	for (u32 i = 0, before = 0; i < count; i++) {
		if (i && sorted[i]->thread != sorted[i - 1]->thread)
			before = 0;
		put(e, e->order.node_of[sorted[i]->stack] - before);
		before = e->order.node_of[sorted[i]->stack];
	}
	for (u32 i = 0; i < count; i++)
		put(e, sorted[i]->count);
	for (u32 i = 0; i < count; i++)
		put(e, sorted[i]->weight);
	for (u32 i = 0; i < count; i++)
		e->rank_of[sorted[i] - profile->entries.at] = i;
}

/* ---- when ---- */

/* Cells of a settled timeline by rank, in it by slot; cells that came to be equal are one.
 * `first` has a place for each rank and one more: where its cells begin, at the end where they end. */
static struct timeline_cell *cells_by_rank(struct encoding *e, const struct timeline *timeline,
					   u32 shift, u32 *first)
{
	u32 entries = e->profile->entries.count, kept = 0;
	AUTO_FREE u32 *fill = calloc(entries + 1, sizeof *fill);
	struct timeline_cell *cells = calloc(timeline->cells.count + 1, sizeof *cells);

	if (!fill || !cells) {
		e->bad = true;
		return cells;
	}
	for (u32 i = 0; i < timeline->cells.count; i++)
		fill[e->rank_of[timeline->cells.at[i].entry] + 1]++;
	for (u32 i = 0; i < entries; i++)
		fill[i + 1] += fill[i];
	for (u32 i = 0; i < timeline->cells.count; i++) {
		struct timeline_cell cell = timeline->cells.at[i];
		cell.slot = (u32)((u64)cell.slot >> shift);
		cells[fill[e->rank_of[cell.entry]]++] = cell;
	}
	for (u32 rank = 0, i = 0; rank < entries; rank++) {
		first[rank] = kept;
		for (; i < fill[rank]; i++) {
			if (kept > first[rank] && cells[kept - 1].slot == cells[i].slot)
				cells[kept - 1].count += cells[i].count;
			else
				cells[kept++] = cells[i];
		}
	}
	first[entries] = kept;
	return cells;
}

static void put_cells(struct encoding *e, const struct timeline_cell *cells, const u32 *first)
{
	u32 entries = e->profile->entries.count;

	for (u32 rank = 0; rank < entries; rank++)
		put(e, first[rank + 1] - first[rank]);
	for (u32 rank = 0; rank < entries; rank++) {
		for (u32 i = first[rank], before = 0; i < first[rank + 1]; i++) {
			put(e, (u64)(cells[i].slot - before) << 1 | (cells[i].count > 1));
			before = cells[i].slot;
		}
	}
	for (u32 i = 0; i < first[entries]; i++)
		if (cells[i].count > 1)
			put(e, cells[i].count - 2);
}

/* Sorted, without touching the profile's own. */
static bool copy_timeline(struct timeline *copy, const struct timeline *timeline)
{
	*copy = *timeline;
	copy->cells.at = calloc(timeline->cells.count + 1, sizeof *copy->cells.at);
	copy->cells.room = timeline->cells.count + 1;
	if (!copy->cells.at)
		return false;
	if (timeline->cells.count)
		memcpy(copy->cells.at, timeline->cells.at,
		       timeline->cells.count * sizeof *copy->cells.at);
	timeline_settle(copy);
	return true;
}

/* As long as the recording, not as its last sample is late; 0: there are no samples with a time. */
static u64 slots_of(const struct timeline *timeline, u64 duration_ns)
{
	u64 slots = timeline_slots(timeline);
	u64 all = slots ? duration_ns / timeline->slot_ns + !!(duration_ns % timeline->slot_ns) : 0;

	return all > slots ? all : slots;
}

static void put_moments(struct encoding *e)
{
	AUTO_FREE u32 *first = calloc(e->profile->entries.count + 1, sizeof *first);
	struct timeline copy;
	u32 shift = 0;

	e->bad |= !copy_timeline(&copy, &e->profile->timeline) || !first;
	if (!e->bad) {
		u64 slots = slots_of(&copy, e->profile->duration_ns);
		/* all halvings at once are one pass, not a sort for each */
		while (slots && ((slots - 1) >> shift) >= SLOTS_MOST)
			shift++;
		put(e, copy.slot_ns << shift);
		put(e, slots ? ((slots - 1) >> shift) + 1 : 0);
		AUTO_FREE struct timeline_cell *cells = slots ? cells_by_rank(e, &copy, shift,
									      first) :
								NULL;
		if (slots && !e->bad)
			put_cells(e, cells, first);
	}
	timeline_free(&copy);
}

/* ---- source ---- */

/* Lines, tabs and backslashes stay; whatever else is no text is said as in a name: no source
 * may look like what it is not. */
static void add_source(struct str *out, const struct name_string *text)
{
	const char *at = text->text, *end = at + text->length;

	while (at < end) {
		const char *stop = at;
		while (stop < end && !(*stop && strchr("\n\t\\", *stop)) &&
		       memcmp(stop, "\r\n", 2) != 0)
			stop++;
		text_add_safe(out, at, (size_t)(stop - at), 0);
		if (stop < end && *stop != '\r')
			str_add(out, stop, 1);
		at = stop + (stop < end);
	}
}

static void put_sources(struct encoding *e)
{
	const struct profile *profile = e->profile;

	put(e, profile->sources.count);
	PUT_COLUMN(e, profile->sources, text_table_number(&e->texts, item->path));
	for (u32 i = 0; i < profile->sources.count; i++) {
		u32 before = e->sources.length;
		add_source(&e->sources, &profile->names.strings.at[profile->sources.at[i].text]);
		put(e, e->sources.length - before);
	}
	e->bad |= e->sources.bad;
}

/* ---- what changed ---- */

static void put_row_changes(struct encoding *e, bool total)
{
	const struct diff *diff = e->comparison->diff;
	u32 count = diff->names.locations.count;

	for (u32 i = 0; i < count; i++)
		put(e, (total ? diff->row[i].total : diff->row[i].self).verdict);
	for (u32 i = 0; i < count; i++)
		put(e,
		    (u64)llround(1e6 *
				 fmin(1, (total ? diff->row[i].total : diff->row[i].self).error)));
}

static void put_changes(struct encoding *e)
{
	u32 entries = e->profile->entries.count;
	AUTO_FREE const struct profile_entry **was = calloc(entries + 1, sizeof *was);

	put(e, e->comparison ? 1 : 0);
	e->bad |= !was;
	if (!e->comparison || !was)
		return;
	for (u32 i = 0; i < entries; i++)
		was[e->rank_of[i]] = &e->comparison->was[i];
	for (u32 i = 0; i < entries; i++)
		put(e, was[i]->count);
	for (u32 i = 0; i < entries; i++)
		put(e, was[i]->weight);
	for (u32 i = 0; i < e->order.count; i++)
		put(e, e->comparison->diff->node[e->order.stack_of[i]].total.verdict);
	put_row_changes(e, false);
	put_row_changes(e, true);
}

/* ---- the whole ---- */

static void put_texts(struct encoding *e)
{
	const struct names *texts = &e->texts.texts;
	u64 length = texts->strings.count - 1;

	for (u32 i = 0; i < texts->strings.count; i++)
		length += texts->strings.at[i].length;
	put(e, length);
	for (u32 i = 0; i < texts->strings.count; i++) {
		str_add(&e->buffer, "\n", i > 0);
		str_add(&e->buffer, texts->strings.at[i].text, texts->strings.at[i].length);
		if (e->buffer.length >= FLUSH_AT)
			flush(e);
	}
	if (e->sources.length)
		str_add(&e->buffer, e->sources.text, e->sources.length);
}

bool html_encode(const struct html_page *page, const struct sink *sink)
{
	const struct profile *profile = page->profile;
	struct encoding e = { .profile = profile, .comparison = page->comparison, .sink = sink };

	e.rank_of = calloc(profile->entries.count + 1, sizeof *e.rank_of);
	e.bad = !e.rank_of || !profile->names.stacks.count ||
		!text_table_init(&e.texts, &profile->names) ||
		!preorder_make(&e.order, &profile->names);
	if (!e.bad) {
		put_functions(&e);
		put_nodes(&e);
		put_threads(&e);
		put_entries(&e);
		if (!e.bad)
			put_moments(&e);
		put_sources(&e);
		put_changes(&e);
		put_texts(&e);
		flush(&e);
	}
	text_table_free(&e.texts);
	str_free(&e.buffer);
	str_free(&e.sources);
	free(e.rank_of);
	preorder_free(&e.order);
	return !e.bad;
}
