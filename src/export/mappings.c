/* SPDX-License-Identifier: Apache-2.0
 * mappings.c - see mappings.h.
 *
 * Mappings of one file overlap when several processes have it.  They are cut to ranges that do not, so that one
 * look by halving finds the only one that can hold an address. */
#include "export/mappings.h"

#include <stdlib.h>

static int by_path_and_begin(const void *a, const void *b)
{
	const struct mapping_range *x = a, *y = b;

	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* What a range before it has is taken from each. */
static void cut(struct mapping_ranges *ranges)
{
	u32 kept = 0;

	for (u32 i = 0; i < ranges->count; i++) {
		struct mapping_range range = ranges->at[i];
		const struct mapping_range *last = kept ? &ranges->at[kept - 1] : NULL;
		if (last && last->path == range.path && last->end > range.begin)
			range.begin = last->end;
		if (range.begin < range.end)
			ranges->at[kept++] = range;
	}
	ranges->count = kept;
}

bool mapping_ranges_make(struct mapping_ranges *ranges, const struct profile *profile)
{
	u32 count = profile->mappings.count;

	*ranges = (struct mapping_ranges){ .at = calloc((size_t)count + 1, sizeof *ranges->at) };
	if (!ranges->at)
		return false;
	for (u32 i = 0; i < count; i++) {
		const struct profile_mapping *m = &profile->mappings.at[i];
		u64 size = m->end > m->start ? m->end - m->start : 0;
		u64 end = size < UINT64_MAX - m->offset ? m->offset + size : UINT64_MAX;
		if (m->path)
			ranges->at[ranges->count++] = (struct mapping_range){ m->offset, end,
									      m->path, i };
	}
	qsort(ranges->at, ranges->count, sizeof *ranges->at, by_path_and_begin);
	cut(ranges);
	return true;
}

void mapping_ranges_free(struct mapping_ranges *ranges)
{
	free(ranges->at);
	*ranges = (struct mapping_ranges){ 0 };
}

u32 mapping_ranges_find(const struct mapping_ranges *ranges, const struct names *names,
			const struct name_location *location)
{
	u32 image = names->functions.at[location->function].image;
	u32 behind = vec_first_not(ranges, one,
				   one->path < image ||
					   (one->path == image && one->begin <= location->address));
	const struct mapping_range *found = behind ? &ranges->at[behind - 1] : NULL;
	return image && found && found->path == image && location->address < found->end ?
		       found->number + 1 :
		       0;
}
