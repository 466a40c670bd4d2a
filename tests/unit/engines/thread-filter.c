/* SPDX-License-Identifier: Apache-2.0
 * thread-filter.c - which threads pass, and which are listed for a user who asked in vain. */
#include "engines/thread_filter.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "check.h"

static struct engine_thread thread(u32 tid, const char *name, bool wanted)
{
	struct engine_thread made = { .tid = tid, .wanted = wanted };

	snprintf(made.name, sizeof made.name, "%s", name);
	return made;
}

static void note(seen_threads *seen, u32 tid, const char *name, bool wanted)
{
	struct engine_thread made = thread(tid, name, wanted);

	thread_filter_note(seen, &made);
}

static void numbers_are_of_either_namespace_and_names_are_whole(void **state)
{
	static const struct {
		struct engine_options options;
		u32 tid, inner_tid;
		const char *name;
		bool passes;
	} rows[] = {
		{ { 0 }, 7, 1, "worker", true },
		{ { .tid = 7 }, 7, 1, "worker", true },
		{ { .tid = 1 }, 7, 1, "worker", true },
		{ { .tid = 2 }, 7, 1, "worker", false },
		{ { .thread_name = "worker" }, 7, 0, "worker", true },
		{ { .thread_name = "work" }, 7, 0, "worker", false },
		{ { .thread_name = "worker" }, 7, 0, "", false },
	};

	(void)state;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(thread_filter_passes(&rows[i].options, rows[i].tid,
						      rows[i].inner_tid, rows[i].name),
				 rows[i].passes);
		assert_int_equal(thread_filter_is_set(&rows[i].options), i > 0);
	}
}

/* 32 times "é" is 64 bytes: 31 of them fit. */
static void a_long_name_is_cut_between_characters_on_both_sides(void **state)
{
	static const char e[] = "\xc3\xa9";
	char name[65] = "", shifted[66] = "x", cut[64], longer[100];
	struct engine_options options = { .thread_name = name };

	(void)state;
	for (u32 i = 0; i < 32; i++)
		memcpy(name + 2 * i, e, 2);
	memcpy(shifted + 1, name, 64);
	assert_int_equal(utf8_cut(name, 64, 63), 62);
	assert_int_equal(utf8_cut(name, 64, 64), 64);
	assert_int_equal(utf8_cut(shifted, 65, 63), 63);
	assert_int_equal(utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
	assert_int_equal(utf8_cut("a\xf0\x9f\x98\x80", 5, 4), 1);
	assert_int_equal(utf8_cut("ab", 2, 0), 0);
	snprintf(cut, sizeof cut, "%.62s", name);
	assert_true(thread_filter_passes(&options, 7, 0, cut));
	assert_false(thread_filter_passes(&options, 7, 0, "another"));
	/* ASCII, too */
	memset(longer, 'w', 99);
	longer[99] = 0;
	options.thread_name = longer;
	snprintf(cut, sizeof cut, "%.63s", longer);
	assert_true(thread_filter_passes(&options, 7, 0, cut));
	cut[62] = 0;
	assert_false(thread_filter_passes(&options, 7, 0, cut));
}

static void one_that_is_seen_again_has_its_last_name(void **state)
{
	seen_threads seen = { 0 };
	struct engine_thread out[4];

	(void)state;
	note(&seen, 5, "python3", false);
	note(&seen, 5, "MainThread", true);
	note(&seen, 5, "later", false);
	/* those on no native thread are told by their names */
	note(&seen, 0, "fiber a", false);
	note(&seen, 0, "fiber b", false);
	note(&seen, 0, "fiber a", false);
	assert_int_equal(thread_filter_list(&seen, out, COUNT_OF(out)), 3);
	assert_string_equal(out[0].name, "later");
	assert_true(out[0].wanted);
	assert_string_equal(out[1].name, "fiber a");
	assert_string_equal(out[2].name, "fiber b");
	vec_free(&seen);
}

static void those_that_are_wanted_come_first_and_always_find_room(void **state)
{
	seen_threads seen = { 0 };
	struct engine_thread out[2];
	char name[16];

	(void)state;
	for (u32 i = 1; i <= 3000; i++) {
		snprintf(name, sizeof name, "t%u", i);
		note(&seen, i, name, i == 2000);
	}
	assert_in_range(thread_filter_list(&seen, out, COUNT_OF(out)), 100, 2999);
	assert_int_equal(out[0].tid, 2000);
	assert_int_equal(out[1].tid, 1);
	vec_free(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_of_either_namespace_and_names_are_whole),
		cmocka_unit_test(a_long_name_is_cut_between_characters_on_both_sides),
		cmocka_unit_test(one_that_is_seen_again_has_its_last_name),
		cmocka_unit_test(those_that_are_wanted_come_first_and_always_find_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
