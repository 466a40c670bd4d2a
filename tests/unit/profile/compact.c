/* SPDX-License-Identifier: Apache-2.0
 * compact.c - what no entry reaches is gone, and what it reaches says what it said. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "profile/profile.h"
#include "sample/failing_memory.h"

enum { FUNCTIONS = 50, KEPT = 3 };

static u32 call(struct profile *profile, u32 outer, u32 number)
{
	struct names *names = &profile->names;
	char name[32], path[32];

	snprintf(name, sizeof name, "f%u", number);
	snprintf(path, sizeof path, "/app/%u.rb", number);
	struct name_function function = { .name = names_text(names, name),
					  .path = names_text(names, path),
					  .language = names_text(names, "ruby"),
					  .first_line = number };
	struct name_location location = { .function = names_function(names, &function),
					  .line = number + 1 };

	return names_stack(names, outer, names_location(names, &location));
}

static const char *text_of(const struct profile *profile, u32 string)
{
	return profile->names.strings.at[string].text;
}

/* Two frames each, of a program of many functions; the last KEPT are sampled. */
static void fill(struct profile *profile)
{
	assert_true(profile_init(profile));
	struct names *names = &profile->names;
	u32 process = profile_process(profile, 1, 1, "program");
	u32 thread = profile_thread(profile, process, 7, 0, "worker");
	struct profile_mapping mapping = { .start = 1,
					   .end = 2,
					   .path = names_text(names, "/lib/x.so"),
					   .build_id = names_text(names, "c0ffee") };
	profile->title = text_of(profile, names_text(names, "the title"));
	profile->weight_type = text_of(profile, names_text(names, "delay"));
	profile->count_type = text_of(profile, names_text(names, "alloc_space"));
	profile->count_unit = text_of(profile, names_text(names, "bytes"));
	for (u32 i = 0; i < FUNCTIONS; i++) {
		char path[32], text[32];
		u32 stack = call(profile, call(profile, 0, i / 10), i);
		if (i >= FUNCTIONS - KEPT)
			profile_add(profile, thread, stack, i, 0);
		snprintf(path, sizeof path, "/app/%u.rb", i);
		snprintf(text, sizeof text, "# file %u", i);
		profile_add_source(profile, names_text(names, path), names_text(names, text));
	}
	profile_add(profile, thread, 0, 1, 0); /* the empty one */
	assert_true(vec_push(&profile->mappings, mapping));
	assert_false(profile->bad || names->bad);
}

static void check_frame(const struct profile *profile, const struct name_stack *stack, u32 number)
{
	const struct name_location *location = &profile->names.locations.at[stack->location];
	const struct name_function *function = &profile->names.functions.at[location->function];
	char name[32], path[32];

	snprintf(name, sizeof name, "f%u", number);
	snprintf(path, sizeof path, "/app/%u.rb", number);
	assert_string_equal(text_of(profile, function->name), name);
	assert_string_equal(text_of(profile, function->path), path);
	assert_string_equal(text_of(profile, function->language), "ruby");
	assert_int_equal(function->first_line, number);
	assert_int_equal(location->line, number + 1);
}

static void check_same(const struct profile *profile)
{
	const struct name_stack *stacks = profile->names.stacks.at;

	assert_int_equal(profile->entries.count, KEPT + 1);
	for (u32 i = 0; i < KEPT; i++) {
		const struct name_stack *leaf = &stacks[profile->entries.at[i].stack];
		u32 number = FUNCTIONS - KEPT + i;
		check_frame(profile, leaf, number);
		check_frame(profile, &stacks[leaf->outer], number / 10);
		assert_int_equal(stacks[leaf->outer].outer, 0);
		assert_int_equal(profile->entries.at[i].weight, number);
	}
	assert_int_equal(profile->entries.at[KEPT].stack, 0);
	assert_string_equal(text_of(profile, profile->processes.at[0].name), "program");
	assert_string_equal(text_of(profile, profile->threads.at[0].name), "worker");
	assert_string_equal(text_of(profile, profile->mappings.at[0].path), "/lib/x.so");
	assert_string_equal(text_of(profile, profile->mappings.at[0].build_id), "c0ffee");
	assert_string_equal(profile->title, "the title");
	assert_string_equal(profile->weight_type, "delay");
	assert_string_equal(profile->count_type, "alloc_space");
	assert_string_equal(profile->count_unit, "bytes");
	assert_string_equal(profile->command, "");
	assert_string_equal(profile->mode, "cpu");
}

static void what_is_reached_stays_as_it_was(void **state)
{
	struct profile profile;

	(void)state;
	fill(&profile);
	check_same(&profile);
	profile_compact(&profile);
	check_same(&profile);
	assert_int_equal(profile.names.functions.count, 1 + 1 + KEPT);
	assert_int_equal(profile.names.locations.count, 1 + 1 + KEPT);
	assert_int_equal(profile.names.stacks.count, 1 + 1 + KEPT);
	assert_int_equal(profile.sources.count, 1 + KEPT);
	for (u32 i = 0; i < profile.sources.count; i++)
		assert_memory_equal(text_of(&profile, profile.sources.at[i].text), "# file ", 7);
	profile_free(&profile);
}

static void without_memory_nothing_is_changed(void **state)
{
	bool whole = false;

	(void)state;
	for (long nth = 0; !whole && nth < 1000; nth++) {
		struct profile profile;
		fill(&profile);
		failing_memory_after(nth);
		profile_compact(&profile);
		failing_memory_after(-1);
		check_same(&profile);
		assert_false(profile.bad || profile.names.bad);
		whole = profile.names.functions.count < FUNCTIONS;
		assert_int_equal(profile.sources.count, whole ? 1 + KEPT : FUNCTIONS);
		profile_free(&profile);
	}
	assert_true(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_reached_stays_as_it_was),
		cmocka_unit_test(without_memory_nothing_is_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
