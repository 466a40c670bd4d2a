/* SPDX-License-Identifier: Apache-2.0
 * history.c - see history.h. */
#include "engines/kernel/history.h"

#include <string.h>

enum { LAID_MOST = 1024, PATHS_MOST = 256 << 10 };

void history_free(struct history *history)
{
	vec_free(&history->all);
	vec_free(&history->paths);
}

void history_begin(struct history *history, u64 time_ns)
{
	vec_clear(&history->all);
	vec_clear(&history->paths);
	history->begin_ns = time_ns;
}

static const char *path_of(const struct history *history, const struct laid *laid)
{
	return history->paths.at + laid->mapping.path;
}

/* Behind all that there are. */
static bool add(struct history *history, struct laid laid, const char *path)
{
	u32 length = (u32)strlen(path) + 1, at = history->paths.count;

	if (!vec_grow(&history->paths, at + length))
		return false;
	memcpy(history->paths.at + at, path, length);
	laid.mapping.path = at;
	if (!vec_push(&history->all, laid))
		return false;
	history->paths.count += length;
	return true;
}

bool history_copy(struct history *to, const struct history *from, u64 until_ns)
{
	to->begin_ns = from->begin_ns;
	for (u32 i = 0; i < from->all.count && from->all.at[i].since_ns <= until_ns; i++)
		if (!add(to, from->all.at[i], path_of(from, &from->all.at[i])))
			return false;
	return true;
}

/* A program may map without end: of what is oldest no samples are to come. */
static void make_room(struct history *history)
{
	struct history kept = { .begin_ns = history->begin_ns };
	bool good = true;

	if (history->all.count < LAID_MOST && history->paths.count < PATHS_MOST)
		return;
	for (u32 i = history->all.count / 2; i < history->all.count && good; i++)
		good = add(&kept, history->all.at[i], path_of(history, &history->all.at[i]));
	history_free(history);
	*history = kept;
}

/* Of up to that time the last one that has any of these addresses. */
static struct laid *last_in(const struct history *history, u64 start, u64 end, u64 time_ns)
{
	for (u32 i = history->all.count; i-- > 0;) {
		struct laid *laid = &history->all.at[i];
		if (laid->since_ns <= time_ns && laid->mapping.start < end &&
		    start < laid->mapping.end)
			return laid;
	}
	return NULL;
}

/* One's protection was changed: who makes code at run time does so all the time. */
static bool is_same(const struct mapping *left, const struct mapping *right)
{
	return left->start == right->start && left->end == right->end &&
	       left->offset == right->offset && left->inode == right->inode;
}

void history_note(struct history *history, const struct mapping *mapping, const char *path,
		  u64 time_ns)
{
	const struct laid *last = last_in(history, mapping->start, mapping->end, UINT64_MAX);

	if (last && is_same(&last->mapping, mapping))
		return;
	make_room(history);
	add(history, (struct laid){ .since_ns = time_ns, .mapping = *mapping }, path);
}

/* Of those that were told, any: it was told then. */
static bool was_noted(const struct history *history, const struct mapping *mapping)
{
	for (u32 i = 0; i < history->all.count; i++)
		if (is_same(&history->all.at[i].mapping, mapping))
			return true;
	return false;
}

void history_note_gone(struct history *history, const struct unwind_range *range)
{
	struct laid laid = { .since_ns = history->begin_ns,
			     .mapping = { .start = range->start,
					  .end = range->end,
					  .offset = range->start - range->base,
					  .inode = range->inode,
					  .device = range->device },
			     .range = *range,
			     .is_known = true };

	if (!range->file || was_noted(history, &laid.mapping))
		return;
	make_room(history);
	if (!add(history, laid, ""))
		return;
	/* it was there before all that were told */
	laid = history->all.at[history->all.count - 1];
	memmove(history->all.at + 1, history->all.at,
		(history->all.count - 1) * sizeof history->all.at[0]);
	history->all.at[0] = laid;
}

const struct unwind_range *history_at(struct history *history, struct unwind_space *space,
				      u64 address, u64 time_ns)
{
	struct laid *laid = last_in(history, address, address + 1, time_ns);

	if (!laid || time_ns < history->begin_ns)
		return NULL;
	if (!laid->is_known)
		laid->range = unwind_space_former(space, &laid->mapping, path_of(history, laid));
	laid->is_known = true;
	return laid->range.file ? &laid->range : NULL;
}
