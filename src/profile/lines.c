/* SPDX-License-Identifier: Apache-2.0
 * lines.c - see lines.h. */
#include "profile/lines.h"

struct wanted {
	u32 function, line, site;
};

struct owner {
	const struct lines *lines;
	const struct names *names;
};

static bool is_same(const void *arg, u32 item, const void *key)
{
	const struct owner *owner = arg;
	const struct line *known = &owner->lines->at.at[item];
	const struct name_location *location = &owner->names->locations.at[known->location];
	const struct wanted *wanted = key;

	return location->function == wanted->function && location->line == wanted->line &&
	       known->site == wanted->site;
}

static u32 line_of(struct lines *lines, const struct names *names, u32 location, u32 site)
{
	const struct name_location *at = &names->locations.at[location];
	struct wanted wanted = { at->function, at->line, at->line ? 0 : site };
	struct owner owner = { lines, names };
	u64 hash = table_hash(&wanted, sizeof wanted);
	u32 found = table_find(&lines->table, hash, is_same, &owner, &wanted);

	if (found != TABLE_NONE)
		return found;
	if (!vec_push(&lines->at, (struct line){ location, wanted.site }))
		return TABLE_NONE;
	found = lines->at.count - 1;
	if (table_add(&lines->table, hash, found))
		return found;
	lines->at.count--;
	return TABLE_NONE;
}

/* Outer stacks have smaller numbers, so their sites are known. */
bool lines_learn(struct lines *lines, const struct names *names)
{
	for (u32 i = lines->of_stack.count; i < names->stacks.count; i++) {
		const struct name_stack *stack = &names->stacks.at[i];
		u32 site = i ? lines->site_of.at[stack->outer] : 0;
		u32 line = line_of(lines, names, stack->location, site);
		if (line == TABLE_NONE)
			return false;
		if (names->locations.at[stack->location].line)
			site = lines->at.at[line].location;
		if (!vec_push(&lines->site_of, site))
			return false;
		if (!vec_push(&lines->of_stack, line)) {
			lines->site_of.count--;
			return false;
		}
	}
	return true;
}

void lines_forget(struct lines *lines)
{
	vec_clear(&lines->of_stack);
	vec_clear(&lines->site_of);
}

void lines_free(struct lines *lines)
{
	vec_free(&lines->at);
	vec_free(&lines->of_stack);
	vec_free(&lines->site_of);
	table_free(&lines->table);
	*lines = (struct lines){ 0 };
}
