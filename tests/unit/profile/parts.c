/* SPDX-License-Identifier: Apache-2.0
 * parts.c - locations become what they are made of, and samples stay where they were. */
#include "check.h"

#include <string.h>

#include "profile/profile.h"

static u32 location(struct names *names, const char *name, u32 line)
{
	struct name_function function = { .name = names_text(names, name) };
	struct name_location at = { .function = names_function(names, &function), .line = line };

	return names_location(names, &at);
}

/* Root first, as "main:1;work:2". */
static void check_stack(const struct profile *profile, u32 stack, const char *const *names,
			u32 count)
{
	for (; count; count--) {
		assert_int_not_equal(stack, 0);
		const struct name_stack *at = &profile->names.stacks.at[stack];
		u32 function = profile->names.locations.at[at->location].function;
		u32 name = profile->names.functions.at[function].name;
		assert_string_equal(profile->names.strings.at[name].text, names[count - 1]);
		stack = at->outer;
	}
	assert_int_equal(stack, 0);
}

static void entries_have_the_parts_of_their_locations(void **state)
{
	static const char *const leaf[] = { "main", "work", "inlined", "leaf" };
	static const char *const shorter[] = { "main", "work", "inlined" };
	struct profile profile;

	(void)state;
	assert_true(profile_init(&profile));
	struct names *names = &profile.names;
	u32 main_at = location(names, "main", 1), unknown = location(names, "[lib]", 2);
	u32 leaf_at = location(names, "leaf", 3);
	u32 under = names_stack(names, names_stack(names, 0, main_at), unknown);
	u32 over = names_stack(names, under, leaf_at);
	u32 thread = profile_thread(&profile, profile_process(&profile, 1, 1, "p"), 1, 1, "t");
	u32 deep = profile_add(&profile, thread, over, 10, 0);
	u32 flat = profile_add(&profile, thread, under, 20, 0);
	vec_push(&profile.parts, (struct profile_part){ unknown, location(names, "work", 7) });
	vec_push(&profile.parts, (struct profile_part){ unknown, location(names, "inlined", 8) });
	profile_take_apart(&profile);
	assert_false(profile.bad);
	assert_int_equal(profile.parts.count, 0);
	check_stack(&profile, profile.entries.at[deep].stack, leaf, 4);
	check_stack(&profile, profile.entries.at[flat].stack, shorter, 3);
	assert_int_equal(profile_total_count(&profile), 2);
	assert_int_equal(profile_total_weight(&profile), 30);
	profile_free(&profile);
}

static void parts_of_nothing_are_passed_over(void **state)
{
	static const char *const alone[] = { "main" };
	struct profile profile;

	(void)state;
	assert_true(profile_init(&profile));
	u32 at = location(&profile.names, "main", 1);
	u32 thread = profile_thread(&profile, profile_process(&profile, 1, 1, "p"), 1, 1, "t");
	u32 entry = profile_add(&profile, thread, names_stack(&profile.names, 0, at), 1, 0);
	vec_push(&profile.parts, (struct profile_part){ 1000, at });
	vec_push(&profile.parts, (struct profile_part){ at, 1000 });
	profile_take_apart(&profile);
	check_stack(&profile, profile.entries.at[entry].stack, alone, 1);
	profile_free(&profile);
}

/* A location of many parts, in many stacks, is not their product. */
static void implausibly_many_stay_whole(void **state)
{
	enum { DEEP = 2000, PARTS = 2000 };
	struct profile profile;
	u32 stack = 0;

	(void)state;
	assert_true(profile_init(&profile));
	u32 at = location(&profile.names, "many", 1), part = location(&profile.names, "part", 1);
	for (u32 i = 0; i < DEEP; i++)
		stack = names_stack(&profile.names, stack, at);
	for (u32 i = 0; i < PARTS; i++)
		vec_push(&profile.parts, (struct profile_part){ at, part });
	u32 thread = profile_thread(&profile, profile_process(&profile, 1, 1, "p"), 1, 1, "t");
	u32 entry = profile_add(&profile, thread, stack, 5, 0);
	profile_take_apart(&profile);
	assert_false(profile.bad);
	assert_true(profile.names.stacks.count < 100000);
	assert_true(profile.names.stacks.at[profile.entries.at[entry].stack].depth > PARTS);
	assert_non_null(strstr(profile.quality.warning, "inlined"));
	assert_int_equal(profile_total_weight(&profile), 5);
	profile_free(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_have_the_parts_of_their_locations),
		cmocka_unit_test(parts_of_nothing_are_passed_over),
		cmocka_unit_test(implausibly_many_stay_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
