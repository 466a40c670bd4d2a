/* SPDX-License-Identifier: Apache-2.0
 * compact.c - a profile whose names are those that it needs.
 *
 * The names are made anew of what the entries reach, and replace the old ones when they are whole: out of memory, the
 * profile stays as it is. */
#include "profile/profile.h"

#include <stdlib.h>

enum { WORDS = 6 };

/* New numbers by old ones, + 1; 0: not known, or for a stack that it is not reached. */
struct compacting {
	const struct names *from;
	struct names to;
	u32 *string_of, *function_of, *location_of, *stack_of;
	const char *word[WORDS]; /* of word_of() */
};

static u32 string(struct compacting *c, u32 old)
{
	const struct name_string *text = &c->from->strings.at[old];

	if (!c->string_of[old])
		c->string_of[old] = names_string(&c->to, text->text, text->length) + 1;
	return c->string_of[old] - 1;
}

static u32 function(struct compacting *c, u32 old)
{
	struct name_function row = c->from->functions.at[old];

	if (!c->function_of[old]) {
		row.name = string(c, row.name);
		row.path = string(c, row.path);
		row.language = string(c, row.language);
		row.image = string(c, row.image);
		c->function_of[old] = names_function(&c->to, &row) + 1;
	}
	return c->function_of[old] - 1;
}

static u32 location(struct compacting *c, u32 old)
{
	struct name_location row = c->from->locations.at[old];

	if (!c->location_of[old]) {
		row.function = function(c, row.function);
		c->location_of[old] = names_location(&c->to, &row) + 1;
	}
	return c->location_of[old] - 1;
}

/* An outer stack's number is below its own. */
static void compact_stacks(struct compacting *c, const struct profile *profile)
{
	const struct name_stack *stacks = c->from->stacks.at;
	u32 *new = c->stack_of;

	for (u32 i = 0; i < profile->entries.count; i++)
		for (u32 s = profile->entries.at[i].stack; s && !new[s]; s = stacks[s].outer)
			new[s] = 1;
	new[0] = 1;
	for (u32 i = 1; i < c->from->stacks.count && !c->to.bad; i++)
		if (new[i])
			new[i] = names_stack(&c->to, new[stacks[i].outer] - 1,
					     location(c, stacks[i].location)) +
				 1;
}

/* Texts of the profile that may be those of a string. */
static const char **word_of(struct profile *profile, u32 nth)
{
	const char **words[WORDS] = { &profile->title,      &profile->command,
				      &profile->mode,       &profile->weight_type,
				      &profile->count_type, &profile->count_unit };

	return words[nth];
}

/* Strings of what is no stack; they are looked up again when nothing can fail any more. */
static void compact_texts(struct compacting *c, struct profile *profile)
{
	for (u32 i = 0; i < profile->processes.count; i++)
		string(c, profile->processes.at[i].name);
	for (u32 i = 0; i < profile->threads.count; i++)
		string(c, profile->threads.at[i].name);
	for (u32 i = 0; i < profile->mappings.count; i++) {
		string(c, profile->mappings.at[i].path);
		string(c, profile->mappings.at[i].build_id);
	}
	for (u32 i = 0; i < profile->sources.count; i++)
		if (c->string_of[profile->sources.at[i].path])
			string(c, profile->sources.at[i].text);
	for (u32 i = 0; i < WORDS; i++) {
		const char *word = *word_of(profile, i);
		u32 number = word ? names_text(&c->to, word) : 0; /* which may move the strings */
		c->word[i] = word ? c->to.strings.at[number].text : NULL;
	}
}

static void renumber(struct compacting *c, struct profile *profile)
{
	u32 sources = 0;

	for (u32 i = 0; i < profile->entries.count; i++)
		profile->entries.at[i].stack = c->stack_of[profile->entries.at[i].stack] - 1;
	for (u32 i = 0; i < profile->processes.count; i++)
		profile->processes.at[i].name = string(c, profile->processes.at[i].name);
	for (u32 i = 0; i < profile->threads.count; i++)
		profile->threads.at[i].name = string(c, profile->threads.at[i].name);
	for (u32 i = 0; i < profile->mappings.count; i++) {
		struct profile_mapping *mapping = &profile->mappings.at[i];
		mapping->path = string(c, mapping->path);
		mapping->build_id = string(c, mapping->build_id);
	}
	for (u32 i = 0; i < profile->sources.count; i++) {
		struct profile_source source = profile->sources.at[i];
		if (c->string_of[source.path])
			profile->sources.at[sources++] = (struct profile_source){
				string(c, source.path), string(c, source.text)
			};
	}
	profile->sources.count = sources;
	for (u32 i = 0; i < WORDS; i++)
		*word_of(profile, i) = c->word[i];
	table_free(&profile->entry_table); /* they go by numbers that are others now */
	table_free(&profile->thread_table);
	table_free(&profile->source_table);
	vec_free(&profile->thread_keys);
}

void profile_compact(struct profile *profile)
{
	const struct names *from = &profile->names;
	struct compacting c = {
		.from = from,
		.string_of = calloc((size_t)from->strings.count + 1, sizeof(u32)),
		.function_of = calloc((size_t)from->functions.count + 1, sizeof(u32)),
		.location_of = calloc((size_t)from->locations.count + 1, sizeof(u32)),
		.stack_of = calloc((size_t)from->stacks.count + 1, sizeof(u32)),
	};

	if (from->stacks.count && !from->bad && c.string_of && c.function_of && c.location_of &&
	    c.stack_of && names_init(&c.to)) {
		compact_stacks(&c, profile);
		compact_texts(&c, profile);
		if (!c.to.bad) {
			struct names old = profile->names;
			renumber(&c, profile);
			profile->names = c.to;
			c.to = old;
		}
		names_free(&c.to);
	}
	free(c.string_of);
	free(c.function_of);
	free(c.location_of);
	free(c.stack_of);
}
