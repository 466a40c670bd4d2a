/* SPDX-License-Identifier: Apache-2.0
 * audit-compare.c - stacks made by hand: which are impossible, and how far two profiles are apart. */
#include "session/audit_compare.h"
#include "base/rng.h"
#include "check.h"
#include <string.h>

static struct names names;

/* "main a c": the stack with these functions, root first; "!" is the mark [moving]. */
static u32 stack_of(const char *text)
{
	char copy[64];
	u32 stack = 0;

	strcpy(copy, text);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
		struct name_function function = { .name = names_text(&names, word),
						  .language = names_text(&names, "ruby") };
		struct name_location location = { .function = names_function(&names, &function) };

		stack = names_stack(&names, stack,
				    strcmp(word, "!") ? names_location(&names, &location) :
							names_mark(&names, MARK_MOVING));
	}
	return stack;
}

static void count(audit_stacks *stacks, const char *text, u32 times)
{
	u32 stack = stack_of(text);

	for (u32 i = 0; i < times; i++)
		assert_true(audit_count(stacks, stack));
}

static void free_stacks(audit_stacks stacks[AUDIT_SIDES])
{
	vec_free(&stacks[AUDIT_STOPPED]);
	vec_free(&stacks[AUDIT_UNSTOPPED]);
}

static int setup(void **state)
{
	(void)state;
	return names_init(&names) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	names_free(&names);
	return 0;
}

static void a_pair_that_nobody_stopped_showed_is_impossible(void **state)
{
	audit_stacks stacks[AUDIT_SIDES] = { 0 };
	u64 impossible[AUDIT_SIDES];
	(void)state;

	count(&stacks[AUDIT_STOPPED], "main a c", 10);
	count(&stacks[AUDIT_STOPPED], "main b", 5);
	count(&stacks[AUDIT_UNSTOPPED], "main a c", 8);
	count(&stacks[AUDIT_UNSTOPPED], "main a", 1);   /* an outer part of a proven one */
	count(&stacks[AUDIT_UNSTOPPED], "main b !", 2); /* marks stand on anything */
	assert_true(audit_find_impossible(&names, stacks, impossible));
	assert_int_equal(impossible[AUDIT_UNSTOPPED], 0);
	assert_int_equal(impossible[AUDIT_STOPPED], 0);

	count(&stacks[AUDIT_UNSTOPPED], "main b c", 3);
	count(&stacks[AUDIT_UNSTOPPED], "main b c d", 4); /* whatever stands on it, too */
	count(&stacks[AUDIT_UNSTOPPED], "a c", 5);        /* a has never been a root */
	assert_true(audit_find_impossible(&names, stacks, impossible));
	assert_int_equal(impossible[AUDIT_UNSTOPPED], 12);
	assert_int_equal(impossible[AUDIT_STOPPED], 0);

	/* What one stopped sample alone showed is how much chance does. */
	count(&stacks[AUDIT_STOPPED], "main b c", 1);
	assert_true(audit_find_impossible(&names, stacks, impossible));
	assert_int_equal(impossible[AUDIT_UNSTOPPED], 9);
	assert_int_equal(impossible[AUDIT_STOPPED], 1);
	free_stacks(stacks);
}

static void deep_recursion_is_linear(void **state)
{
	audit_stacks stacks[AUDIT_SIDES] = { 0 };
	u64 impossible[AUDIT_SIDES];
	u32 leaf = stack_of("main");
	struct name_location location = names.locations.at[names.stacks.at[stack_of("r")].location];
	(void)state;

	for (u32 i = 0; i < 100000; i++) {
		leaf = names_stack(&names, leaf, names_location(&names, &location));
		assert_true(audit_count(&stacks[i % AUDIT_SIDES], leaf));
	}
	assert_true(audit_find_impossible(&names, stacks, impossible));
	assert_int_equal(impossible[AUDIT_UNSTOPPED], 0);
	free_stacks(stacks);
}

static void distance_is_half_the_sum_of_differences(void **state)
{
	audit_stacks stacks[AUDIT_SIDES] = { 0 };
	double distance, noise;
	(void)state;

	assert_true(audit_find_distance(&names, stacks, 1, &distance, &noise));
	assert_true(distance == 1 && noise == 1);
	count(&stacks[AUDIT_STOPPED], "main a c", 60);
	count(&stacks[AUDIT_STOPPED], "main b", 40);
	count(&stacks[AUDIT_UNSTOPPED], "main b c", 100); /* the same leaf by another way */
	count(&stacks[AUDIT_UNSTOPPED], "main b", 60);
	count(&stacks[AUDIT_UNSTOPPED], "main b !", 40);
	assert_true(audit_find_distance(&names, stacks, 1, &distance, &noise));
	/* c: 0.6 and 0.5; b: 0.4 and 0.3; [moving]: 0 and 0.2 */
	assert_float_equal(distance, 0.2, 1e-9);
	assert_true(noise > 0.01 && noise < 0.2);
	free_stacks(stacks);
}

/* A fixed seed each time, so that this is arithmetic: of 200 pairs drawn from one program about
 * 190 are within the noise; of pairs 10 points apart almost none. */
static u32 within_noise(double shift)
{
	struct rng rng = { 42 };
	u32 within = 0;

	for (u32 trial = 0; trial < 200; trial++) {
		audit_stacks stacks[AUDIT_SIDES] = { 0 };
		double distance, noise;

		for (u32 i = 0; i < 4000; i++) {
			double share = 0.5 + (i % AUDIT_SIDES == AUDIT_UNSTOPPED ? shift : 0);
			bool is_a = (double)rng_below(&rng, 1 << 20) / (1 << 20) < share;

			count(&stacks[i % AUDIT_SIDES], is_a ? "main a" : "main b", 1);
		}
		assert_true(audit_find_distance(&names, stacks, rng_u64(&rng), &distance, &noise));
		within += distance <= noise;
		free_stacks(stacks);
	}
	return within;
}

static void noise_is_what_chance_does_nineteen_times_of_twenty(void **state)
{
	(void)state;
	assert_in_range(within_noise(0), 180, 199);
	assert_in_range(within_noise(0.1), 0, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pair_that_nobody_stopped_showed_is_impossible,
						setup, teardown),
		cmocka_unit_test_setup_teardown(deep_recursion_is_linear, setup, teardown),
		cmocka_unit_test_setup_teardown(distance_is_half_the_sum_of_differences, setup,
						teardown),
		cmocka_unit_test_setup_teardown(noise_is_what_chance_does_nineteen_times_of_twenty,
						setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
