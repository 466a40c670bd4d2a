/* SPDX-License-Identifier: Apache-2.0
 * parts.c - locations of machine code become what they are made of. */
#include "profile/profile.h"

/* Where the rows of each location begin, + 1; 0: it has none. */
typedef VEC(u32) first_rows;

static bool find_rows(const struct profile *profile, first_rows *first)
{
	u32 count = profile->names.locations.count;

	for (u32 i = profile->parts.count; i-- > 0;) {
		u32 location = profile->parts.at[i].location;
		if (location >= count || profile->parts.at[i].part >= count)
			continue;
		if (!vec_reach(first, location))
			return false;
		first->at[location] = i + 1;
	}
	return true;
}

/* A stack of the location, or of its parts, on top of `outer`. */
static u32 put_on(struct profile *profile, const first_rows *first, u32 outer, u32 location)
{
	u32 row = location < first->count ? first->at[location] : 0;
	u32 stack = outer;

	if (!row)
		return names_stack(&profile->names, outer, location);
	for (row--; row < profile->parts.count && profile->parts.at[row].location == location;
	     row++)
		stack = names_stack(&profile->names, stack, profile->parts.at[row].part);
	return stack;
}

void profile_take_apart(struct profile *profile)
{
	u32 count = profile->parts.count ? profile->names.stacks.count : 0;
	VEC(u32) to = { 0 };
	first_rows first = { 0 };

	if (count && (!vec_grow(&to, count) || !find_rows(profile, &first))) {
		profile->bad = true;
		count = 0;
	}
	for (u32 i = 0; i < count; i++) { /* a stack is behind its outer one */
		struct name_stack stack = profile->names.stacks.at[i];
		to.at[i] = i ? put_on(profile, &first, to.at[stack.outer], stack.location) : 0;
	}
	for (u32 i = 0; count && i < profile->entries.count; i++)
		profile->entries.at[i].stack = to.at[profile->entries.at[i].stack];
	if (count)
		table_free(&profile->entry_table); /* it goes by stacks */
	vec_clear(&profile->parts);
	vec_free(&to);
	vec_free(&first);
}
