/* SPDX-License-Identifier: Apache-2.0
 * suggest.c - "did you mean" finds the slip of a finger and stays silent on a guess. */
#include "cli/suggest.h"
#include "check.h"
#include "cli/commands.h"
#include <string.h>

static void distance_counts_letters(void **state)
{
	static const struct {
		const char *a, *b;
		u32 distance;
	} rows[] = {
		{ "", "", 0 },         { "dump", "dump", 0 },
		{ "", "dump", 4 },     { "dmup", "dump", 1 },
		{ "dmp", "dump", 1 },  { "dumpp", "dump", 1 },
		{ "damp", "dump", 1 }, { "recrod", "record", 1 },
		{ "abc", "xyz", 3 },   { "kitten", "sitting", 3 },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(suggest_distance(rows[i].a, rows[i].b), rows[i].distance);
		assert_int_equal(suggest_distance(rows[i].b, rows[i].a), rows[i].distance);
	}
}

static void long_words_stay_in_bounds(void **state)
{
	char a[4096], b[4096];
	(void)state;

	memset(a, 'a', sizeof a);
	memset(b, 'b', sizeof b);
	a[sizeof a - 1] = b[sizeof b - 1] = 0;
	assert_int_equal(suggest_distance(a, b), 32);
}

static void commands_are_found_by_their_slips(void **state)
{
	(void)state;
	assert_string_equal(command_nearest("recrod"), "record");
	assert_string_equal(command_nearest("snapshto"), "snapshot");
	assert_string_equal(command_nearest("dum"), "dump");
	assert_string_equal(command_nearest("docter"), "doctor");
	assert_null(command_nearest("frobnicate"));
	assert_null(command_nearest(""));
	assert_null(command_nearest("ab"));
	assert_ptr_equal(command_named("snapshot"), command_named("dump"));
	assert_null(command_named("dum"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance_counts_letters),
		cmocka_unit_test(long_words_stay_in_bounds),
		cmocka_unit_test(commands_are_found_by_their_slips),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
