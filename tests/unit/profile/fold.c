/* SPDX-License-Identifier: Apache-2.0
 * fold.c - self and total, against the sums made the slow way. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "profile/fold.h"
#include "sample/failing_memory.h"

struct made {
	struct profile profile;
	u32 thread, other;
};

static void made_begin(struct made *made)
{
	assert_true(profile_init(&made->profile));
	u32 process = profile_process(&made->profile, 1, 1, "p");
	made->thread = profile_thread(&made->profile, process, 1, 0, "one");
	made->other = profile_thread(&made->profile, process, 2, 1, "two");
}

static u32 call(struct made *made, u32 outer, const char *name, const char *language, u32 line)
{
	struct names *names = &made->profile.names;
	struct name_function function = { .name = names_text(names, name),
					  .language = names_text(names, language) };
	struct name_location location = { .function = names_function(names, &function),
					  .line = line };

	return names_stack(names, outer, names_location(names, &location));
}

static const struct fold_value *row_named(const struct fold *fold, const struct made *made,
					  const char *name)
{
	const struct names *names = &made->profile.names;

	for (u32 i = 1; i < names->functions.count; i++)
		if (!strcmp(names->strings.at[names->functions.at[i].name].text, name))
			return &fold->row[i];
	fail_msg("no function %s", name);
	return NULL;
}

/* By lines: the row of a function's line, or without one of the line that called it. */
static const struct fold_value *line_of(const struct fold *fold, const struct made *made,
					const char *name, u32 line, u32 site)
{
	const struct names *names = &made->profile.names;

	for (u32 i = 0; i < fold->keys.count; i++) {
		const struct name_location *location = &names->locations.at[fold->keys.at[i].item];
		u32 string = names->functions.at[location->function].name;
		if (!strcmp(names->strings.at[string].text, name) && location->line == line &&
		    names->locations.at[fold->keys.at[i].site].line == site)
			return &fold->row[i];
	}
	fail_msg("no line %s:%u", name, line);
	return NULL;
}

static void recursion_counts_once(void **state)
{
	(void)state;
	struct made made;
	struct fold fold;
	made_begin(&made);
	u32 main = call(&made, 0, "main", "ruby", 1), a = call(&made, main, "a", "ruby", 2);
	u32 again = call(&made, call(&made, a, "b", "ruby", 3), "a", "ruby", 4);
	profile_add(&made.profile, made.thread, again, 70, 0);
	profile_add(&made.profile, made.thread, a, 20, 0);
	profile_add(&made.profile, made.other, main, 10, 0);
	assert_true(fold_make(&fold, &made.profile, FOLD_FUNCTIONS, false));
	assert_int_equal(fold.node[0].total, 100);
	assert_int_equal(fold.node[0].total_samples, 3);
	assert_int_equal(row_named(&fold, &made, "a")->self, 90);
	assert_int_equal(row_named(&fold, &made, "a")->total, 90);
	assert_int_equal(row_named(&fold, &made, "b")->total, 70);
	assert_int_equal(row_named(&fold, &made, "b")->self, 0);
	assert_int_equal(row_named(&fold, &made, "main")->total, 100);
	fold_free(&fold);
	assert_true(fold_make(&fold, &made.profile, FOLD_FUNCTIONS, true));
	assert_int_equal(fold.node[0].total, 100);
	assert_int_equal(fold.row[fold.first_thread + made.thread].total, 90);
	assert_int_equal(fold.row[fold.first_thread + made.other].total, 10);
	assert_int_equal(row_named(&fold, &made, "main")->self, 10);
	assert_int_equal(row_named(&fold, &made, "main")->total, 100);
	fold_free(&fold);
	profile_free(&made.profile);
}

/* Lines are apart by function and line; addresses are not. Frames of one language are one. */
static void keys_are_lines_and_languages(void **state)
{
	(void)state;
	struct made made;
	struct fold fold;
	made_begin(&made);
	u32 one = call(&made, 0, "f", "ruby", 1), two = call(&made, 0, "f", "ruby", 2);
	struct name_location moved = made.profile.names.locations.at[1];
	moved.address = 99;
	u32 same = names_stack(&made.profile.names, 0, names_location(&made.profile.names, &moved));
	u32 native = call(&made, call(&made, one, "g", "ruby", 7), "memcpy", "native", 0);
	profile_add(&made.profile, made.thread, one, 1, 0);
	profile_add(&made.profile, made.thread, same, 2, 0);
	profile_add(&made.profile, made.thread, two, 4, 0);
	profile_add(&made.profile, made.thread, native, 8, 0);
	u32 elsewhere = call(&made, two, "memcpy", "native", 0);
	profile_add(&made.profile, made.thread, elsewhere, 16, 0);
	assert_true(fold_make(&fold, &made.profile, FOLD_LINES, false));
	assert_int_equal(line_of(&fold, &made, "f", 1, 0)->self, 3);
	assert_int_equal(line_of(&fold, &made, "f", 1, 0)->total, 11);
	assert_int_equal(line_of(&fold, &made, "f", 2, 0)->self, 4);
	assert_int_equal(line_of(&fold, &made, "memcpy", 0, 7)->self, 8);
	assert_int_equal(line_of(&fold, &made, "memcpy", 0, 2)->self, 16);
	fold_free(&fold);
	assert_true(fold_make(&fold, &made.profile, FOLD_LANGUAGES, false));
	assert_int_equal(fold.tree.stacks.count, 3); /* none, ruby, native in ruby */
	assert_int_equal(fold.row[names_text(&made.profile.names, "native")].self, 24);
	assert_int_equal(fold.row[names_text(&made.profile.names, "ruby")].total, 31);
	fold_free(&fold);
	profile_free(&made.profile);
}

static void what_weighs_nothing_is_counted(void **state)
{
	(void)state;
	struct made made;
	struct fold fold;
	made_begin(&made);
	profile_add(&made.profile, made.thread, call(&made, 0, "f", "ruby", 1), 0, 0);
	assert_true(fold_make(&fold, &made.profile, FOLD_FUNCTIONS, false));
	assert_true(fold.by_samples);
	assert_int_equal(fold.node[0].total, 1);
	assert_string_equal(fold_unit(&made.profile), "samples");
	fold_free(&fold);
	profile_free(&made.profile);
}

/* Is the function anywhere on the stack? */
static bool passes(const struct names *names, u32 stack, u32 function)
{
	for (; stack; stack = names->stacks.at[stack].outer)
		if (names->locations.at[names->stacks.at[stack].location].function == function)
			return true;
	return false;
}

static void random_profiles_add_up(void **state)
{
	(void)state;
	struct made made;
	struct rng rng = { 5 };
	struct fold fold;
	made_begin(&made);
	for (u32 i = 0; i < 500; i++) {
		u32 stack = 0;
		for (u64 depth = rng_below(&rng, 12); depth > 0; depth--)
			stack = call(&made, stack, (char[]){ (char)('a' + rng_below(&rng, 6)), 0 },
				     "ruby", (u32)rng_below(&rng, 3));
		profile_add(&made.profile, made.thread, stack, rng_below(&rng, 1000), 0);
	}
	assert_true(fold_make(&fold, &made.profile, FOLD_FUNCTIONS, false));
	for (u32 f = 0; f < made.profile.names.functions.count; f++) {
		u64 wanted = 0;
		for (u32 i = 0; i < made.profile.entries.count; i++)
			if (passes(&made.profile.names, made.profile.entries.at[i].stack, f))
				wanted += made.profile.entries.at[i].weight;
		assert_int_equal(fold.row[f].total, wanted);
	}
	assert_int_equal(fold.node[0].total, profile_total_weight(&made.profile));
	fold_free(&fold);
	profile_free(&made.profile);
}

/* Of many threads, each with stacks of its own, and of stacks without samples: no node for what nobody reaches. */
static void only_what_has_samples_is_in_the_tree(void **state)
{
	enum { THREADS = 300, DEEP = 200 };
	(void)state;
	struct made made;
	struct fold fold;
	made_begin(&made);
	for (u32 t = 0; t < THREADS; t++) {
		u32 thread = profile_thread(&made.profile, 0, 10 + t, 0, "w"), stack = 0;
		char name[16];
		snprintf(name, sizeof name, "f%u", t);
		for (u32 i = 0; i < DEEP; i++)
			stack = call(&made, stack, name, "ruby", 1);
		if (t % 2)
			profile_add(&made.profile, thread, stack, 5, 0);
	}
	assert_true(fold_make(&fold, &made.profile, FOLD_FUNCTIONS, false));
	assert_int_equal(fold.tree.stacks.count, 1 + THREADS / 2 * DEEP);
	fold_free(&fold);
	assert_true(fold_make(&fold, &made.profile, FOLD_FUNCTIONS, true));
	assert_int_equal(fold.tree.stacks.count, 1 + THREADS / 2 * (1 + DEEP));
	assert_int_equal(fold.node[0].total, THREADS / 2 * 5);
	fold_free(&fold);
	profile_free(&made.profile);
}

static void without_memory_there_is_no_fold(void **state)
{
	(void)state;
	struct made made;
	made_begin(&made);
	profile_add(&made.profile, made.thread, call(&made, 0, "f", "ruby", 1), 1, 0);
	bool whole = false;
	for (long nth = 0; !whole && nth < 1000; nth++) {
		struct fold fold;
		failing_memory_after(nth);
		whole = fold_make(&fold, &made.profile, FOLD_LINES, false);
		failing_memory_after(-1);
		if (whole)
			fold_free(&fold);
	}
	assert_true(whole);
	profile_free(&made.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(keys_are_lines_and_languages),
		cmocka_unit_test(what_weighs_nothing_is_counted),
		cmocka_unit_test(random_profiles_add_up),
		cmocka_unit_test(only_what_has_samples_is_in_the_tree),
		cmocka_unit_test(without_memory_there_is_no_fold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
