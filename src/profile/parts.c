/* SPDX-License-Identifier: Apache-2.0
 * parts.c - locations of machine code become what they are made of.
 *
 * Many parts of a location that is in many stacks would be their product: frames are given out of a budget. A location
 * that it is too small for stays whole. */
#include "profile/profile.h"

#include <stdio.h>
#include <string.h>

/* An address of optimised C++ is a few frames, of all stacks on the average. */
enum { FRAMES_FREE = 1 << 16, FRAMES_PER_STACK = 8 };

/* The rows of a location; count 0: it has none. */
struct part_rows {
	u32 first, count;
};

struct taking_apart {
	struct profile *profile;
	VEC(struct part_rows) rows; /* by location */
	u64 budget;                 /* frames */
	u64 left_whole;             /* stacks that it was too small for */
};

/* Of rows of one location that are not one behind the other, the first ones count. */
static bool find_rows(struct taking_apart *t)
{
	const struct profile *profile = t->profile;
	u32 count = profile->names.locations.count;

	for (u32 i = 0, next; i < profile->parts.count; i = next) {
		u32 location = profile->parts.at[i].location;
		for (next = i; next < profile->parts.count &&
			       profile->parts.at[next].location == location &&
			       profile->parts.at[next].part < count;)
			next++;
		if (next == i) {
			next++;
			continue;
		}
		if (location >= count)
			continue;
		if (!vec_reach(&t->rows, location))
			return false;
		if (!t->rows.at[location].count)
			t->rows.at[location] = (struct part_rows){ i, next - i };
	}
	return true;
}

/* A stack of the location, or of its parts, on top of `outer`. */
static u32 put_on(struct taking_apart *t, u32 outer, u32 location)
{
	struct names *names = &t->profile->names;
	struct part_rows rows = { 0 };
	u32 stack = outer;

	if (location < t->rows.count)
		rows = t->rows.at[location];
	if (rows.count > t->budget) {
		t->left_whole++;
		rows.count = 0;
	}
	t->budget -= rows.count;
	if (!rows.count)
		return names_stack(names, outer, location);
	for (u32 i = 0; i < rows.count; i++)
		stack = names_stack(names, stack, t->profile->parts.at[rows.first + i].part);
	return stack;
}

static void say_left_whole(struct profile *profile, u64 count)
{
	char *warning = profile->quality.warning;
	size_t room = sizeof profile->quality.warning, used = strlen(warning);

	snprintf(
		warning + used, room - used,
		"%s%llu stacks are without their inlined functions: they would be implausibly many",
		used ? "; " : "", (unsigned long long)count);
}

void profile_take_apart(struct profile *profile)
{
	u32 count = profile->parts.count ? profile->names.stacks.count : 0;
	VEC(u32) to = { 0 };
	struct taking_apart t = { .profile = profile,
				  .budget = FRAMES_FREE + (u64)count * FRAMES_PER_STACK };

	if (count && (!vec_grow(&to, count) || !find_rows(&t))) {
		profile->bad = true;
		count = 0;
	}
	for (u32 i = 0; i < count; i++) { /* a stack is behind its outer one */
		struct name_stack stack = profile->names.stacks.at[i];
		to.at[i] = i ? put_on(&t, to.at[stack.outer], stack.location) : 0;
	}
	for (u32 i = 0; count && i < profile->entries.count; i++)
		profile->entries.at[i].stack = to.at[profile->entries.at[i].stack];
	if (count)
		table_free(&profile->entry_table); /* it goes by stacks */
	if (t.left_whole)
		say_left_whole(profile, t.left_whole);
	vec_clear(&profile->parts);
	if (count)
		profile_compact(profile); /* the stacks that were taken apart */
	vec_free(&to);
	vec_free(&t.rows);
}
