/* SPDX-License-Identifier: Apache-2.0
 * names.c - see names.h.
 *
 * Four arrays, each with a hash index over it.  A stack costs one lookup a frame
 * whatever its depth, because its key is (outer stack, location) and not the list.
 *
 * Out of memory: `bad` is set and 0 is given out.  Nothing is half stored: an item
 * that could not be indexed is taken back. */
#include "sample/names.h"

#include <string.h>

_Static_assert(sizeof(struct name_function) == 24, "hashed as bytes: no padding");
_Static_assert(sizeof(struct name_location) == 32, "hashed as bytes: no padding");

struct string_key {
	const char *text;
	size_t length;
};

struct stack_key {
	u32 outer, location;
};

static bool same_string(const void *owner, u32 item, const void *key)
{
	const struct name_string *string = &((const struct names *)owner)->strings.at[item];
	const struct string_key *wanted = key;

	if (string->length != wanted->length)
		return false;
	return !wanted->length || !memcmp(string->text, wanted->text, wanted->length);
}

static bool same_function(const void *owner, u32 item, const void *key)
{
	return !memcmp(&((const struct names *)owner)->functions.at[item], key,
		       sizeof(struct name_function));
}

static bool same_location(const void *owner, u32 item, const void *key)
{
	return !memcmp(&((const struct names *)owner)->locations.at[item], key,
		       sizeof(struct name_location));
}

static bool same_stack(const void *owner, u32 item, const void *key)
{
	const struct name_stack *stack = &((const struct names *)owner)->stacks.at[item];
	const struct stack_key *wanted = key;

	return stack->outer == wanted->outer && stack->location == wanted->location;
}

/* Indexes the item that was just pushed and gives its number; takes it back when it cannot. */
static u32 names_keep(struct names *names, struct table *table, u64 hash, u32 *count, bool pushed)
{
	if (pushed && table_add(table, hash, *count - 1))
		return *count - 1;
	*count -= pushed;
	names->bad = true;
	return 0;
}

bool names_init(struct names *names)
{
	static const struct name_function unnamed;
	static const struct name_location nowhere;

	*names = (struct names){ 0 };
	names_string(names, "", 0);
	names_function(names, &unnamed);
	names_location(names, &nowhere);
	/* Not in the table: a stack of the one unnamed location is not the empty stack. */
	names->bad |= !vec_push(&names->stacks, (struct name_stack){ 0 });
	if (names->bad)
		names_free(names);
	return !names->bad;
}

void names_free(struct names *names)
{
	bool bad = names->bad;

	arena_free(&names->arena);
	vec_free(&names->strings);
	vec_free(&names->functions);
	vec_free(&names->locations);
	vec_free(&names->stacks);
	vec_free(&names->replaced);
	table_free(&names->string_table);
	table_free(&names->function_table);
	table_free(&names->location_table);
	table_free(&names->stack_table);
	*names = (struct names){ .bad = bad };
}

void names_replace(struct names *names, u32 location, u32 by)
{
	names->locations.at[location] = names->locations.at[by];
	names->bad |= !vec_push(&names->replaced, (struct name_replaced){ location, by });
}

u32 names_string(struct names *names, const char *text, size_t length)
{
	struct string_key key = { text, length };
	u64 hash = table_hash(text, length);
	u32 found = table_find(&names->string_table, hash, same_string, names, &key);

	if (found != TABLE_NONE)
		return found;
	char *copy = length < UINT32_MAX ? arena_copy(&names->arena, text, length) : NULL;
	struct name_string string = { copy, (u32)length };
	bool pushed = copy && vec_push(&names->strings, string);
	return names_keep(names, &names->string_table, hash, &names->strings.count, pushed);
}

u32 names_text(struct names *names, const char *text)
{
	return names_string(names, text, strlen(text));
}

u32 names_function(struct names *names, const struct name_function *function)
{
	u64 hash = table_hash(function, sizeof *function);
	u32 found = table_find(&names->function_table, hash, same_function, names, function);

	if (found != TABLE_NONE)
		return found;
	bool pushed = vec_push(&names->functions, *function);
	return names_keep(names, &names->function_table, hash, &names->functions.count, pushed);
}

u32 names_location(struct names *names, const struct name_location *location)
{
	u64 hash = table_hash(location, sizeof *location);
	u32 found = table_find(&names->location_table, hash, same_location, names, location);

	if (found != TABLE_NONE)
		return found;
	bool pushed = vec_push(&names->locations, *location);
	return names_keep(names, &names->location_table, hash, &names->locations.count, pushed);
}

u32 names_stack(struct names *names, u32 outer, u32 location)
{
	struct stack_key key = { outer, location };
	u64 hash = table_hash(&key, sizeof key);
	u32 found = table_find(&names->stack_table, hash, same_stack, names, &key);

	if (found != TABLE_NONE)
		return found;
	struct name_stack stack = { outer, location, names->stacks.at[outer].depth + 1 };
	bool pushed = vec_push(&names->stacks, stack);
	return names_keep(names, &names->stack_table, hash, &names->stacks.count, pushed);
}
