/* SPDX-License-Identifier: Apache-2.0
 * html_data.c - see html_data.h; its twin is html/decode.js.
 *
 * Everything is an unsigned LEB128, in columns, because like beside like compresses best:
 *
 *	functions   count; names; paths; languages; flags; first lines     (names: texts)
 *	locations   count; functions; lines
 *	nodes       count; pops; locations
 *	processes   count; pids; names
 *	threads     count; processes; tids; names; numbers of entries
 *	entries     count; steps; counts; weights
 *	texts       bytes; the texts as UTF-8, a newline between two
 *
 * Nodes are the stacks in preorder: node i is one deeper than node i - 1, less `pops`, so
 * that a subtree is a range and a column of mostly zeros says where all of them are.  Node 0
 * is the root and is not listed.  Entries come by thread, and in it by node; a step is the
 * distance from the one before.  Nothing is pruned. */
#include "export/html_data.h"

#include "base/cleanup.h"
#include "export/text_table.h"
#include "profile/preorder.h"

#include <stdlib.h>

enum { FLUSH_AT = 64 * 1024 };

struct encoding {
	const struct profile *profile;
	const struct sink *sink;
	struct text_table texts;
	struct str buffer;
	struct preorder order;
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
	u8 bytes[10];
	u32 length = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[length++] = (u8)(value | 0x80);
	bytes[length++] = (u8)value;
	str_add(&e->buffer, bytes, length);
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
	PUT_COLUMN(e, names->functions,
		   text_table_number(&e->texts, item->path ? item->path : item->image));
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
}

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
}

bool html_encode(const struct profile *profile, const struct sink *sink)
{
	struct encoding e = { .profile = profile, .sink = sink };

	e.bad = !profile->names.stacks.count || !text_table_init(&e.texts, &profile->names) ||
		!preorder_make(&e.order, &profile->names);
	if (!e.bad) {
		put_functions(&e);
		put_nodes(&e);
		put_threads(&e);
		put_entries(&e);
		put_texts(&e);
		flush(&e);
	}
	text_table_free(&e.texts);
	str_free(&e.buffer);
	preorder_free(&e.order);
	return !e.bad;
}
