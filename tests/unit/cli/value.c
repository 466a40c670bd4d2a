/* SPDX-License-Identifier: Apache-2.0
 * value.c - words of a command line are read whole or refused, and the refusal helps. */
#include "cli/value.h"
#include "base/clock.h"
#include "check.h"
#include <stdio.h>
#include <string.h>

static void numbers_are_whole_words_in_range(void **state)
{
	static const struct {
		const char *text;
		bool good;
		u32 number;
		const char *says;
	} rows[] = {
		{ "1", true, 1, "" },
		{ "20000", true, 20000, "" },
		{ "007", true, 7, "" },
		{ "0", false, 0, "0 is out of range; give 1 to 20,000" },
		{ "20001", false, 0, "out of range" },
		{ "-5", false, 0, "-5 is out of range" },
		{ "1000000000", false, 0, "out of range" },
		{ "4294967297", false, 0, "out of range" },           /* 1 in 32 bits */
		{ "18446744073709551617", false, 0, "out of range" }, /* 1 in 64 bits */
		{ "", false, 0, "is not a number" },
		{ "-", false, 0, "is not a number" },
		{ "12x", false, 0, "\"12x\" is not a number" },
		{ " 1", false, 0, "is not a number" },
		{ "1.5", false, 0, "is not a number" },
		{ "0x10", false, 0, "is not a number" },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct err err = { 0 };
		u32 number = 0;

		assert_int_equal(value_parse_number(rows[i].text, 1, 20000, &number, &err),
				 rows[i].good);
		assert_int_equal(number, rows[i].number);
		assert_non_null(strstr(err.text, rows[i].says));
	}
}

static void durations_have_units(void **state)
{
	static const struct {
		const char *text;
		u64 ns; /* 0: refused */
	} rows[] = {
		{ "30", 30 * NS_PER_S },
		{ "30s", 30 * NS_PER_S },
		{ "5m", 300 * NS_PER_S },
		{ "5min", 300 * NS_PER_S },
		{ "1h", 3600 * NS_PER_S },
		{ "1.5s", 1500 * NS_PER_MS },
		{ "1.5m", 90 * NS_PER_S },
		{ "200ms", 200 * NS_PER_MS },
		{ "50us", 50 * NS_PER_US },
		{ "0.000000001", 1 },
		{ "0.0000000019", 1 },
		{ "366h", 366 * 3600 * NS_PER_S },
		{ "0", 0 },
		{ "0.0s", 0 },
		{ "0.0000000001", 0 },
		{ "", 0 },
		{ "s", 0 },
		{ ".5", 0 },
		{ "-1", 0 },
		{ "+1", 0 },
		{ "1,5", 0 },
		{ "1e9", 0 },
		{ "nan", 0 },
		{ "inf", 0 },
		{ "5 m", 0 },
		{ "5d", 0 },
		{ "30sec", 0 },
		{ "1..5", 0 },
		{ "8785h", 0 },
		{ "9999999999", 0 },
		{ "99999999999999999999999", 0 },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct err err = { 0 };
		u64 ns = 0;

		assert_int_equal(value_parse_duration(rows[i].text, &ns, &err), rows[i].ns != 0);
		assert_int_equal(ns, rows[i].ns);
		assert_int_equal(err.code, rows[i].ns ? ERR_NONE : ERR_USAGE);
	}
}

static void a_moment_may_be_the_beginning(void **state)
{
	struct err err = { 0 };
	u64 ns = 7;

	(void)state;
	assert_true(value_parse_moment("0", &ns, &err));
	assert_int_equal(ns, 0);
	assert_true(value_parse_moment("0.5s", &ns, &err));
	assert_int_equal(ns, 500 * NS_PER_MS);
	assert_false(value_parse_moment("soon", &ns, &err));
	assert_int_equal(err.code, ERR_USAGE);
}

static void choices_are_by_name_and_near_misses_are_helped(void **state)
{
	struct err err = { 0 };
	char word[32];
	u32 index = 99;
	(void)state;

	assert_true(value_parse_choice("auto", "never,auto,always", &index, &err));
	assert_int_equal(index, 1);
	assert_true(value_parse_choice("always", "never,auto,always", &index, &err));
	assert_int_equal(index, 2);
	assert_false(value_parse_choice("alway", "never,auto,always", &index, &err));
	assert_string_equal(err.text,
			    "\"alway\" is not one of never,auto,always: did you mean \"always\"?");
	assert_false(value_parse_choice("", "never,auto,always", &index, &err));
	assert_false(value_parse_choice("never,auto", "never,auto,always", &index, &err));
	assert_null(strstr(err.text, "mean"));
	assert_int_equal(index, 2);
	assert_true(value_parse_choice("gil", "cpu,gvl|gil|lock,x", &index, &err));
	assert_int_equal(index, 1);
	assert_true(value_parse_choice("x", "cpu,gvl|gil|lock,x", &index, &err));
	assert_int_equal(index, 2);
	assert_false(value_parse_choice("gvl|gil", "cpu,gvl|gil|lock,x", &index, &err));
	assert_true(value_choice("a,bc|d", 1, word));
	assert_string_equal(word, "bc");
	assert_true(value_choice("a,bc", 1, word));
	assert_string_equal(word, "bc");
	assert_false(value_choice("a,bc", 2, word));
}

static void figures_are_for_people(void **state)
{
	char out[32];
	(void)state;

	assert_string_equal(value_grouped(0, out), "0");
	assert_string_equal(value_grouped(999, out), "999");
	assert_string_equal(value_grouped(1000, out), "1,000");
	assert_string_equal(value_grouped(1234567, out), "1,234,567");
	assert_string_equal(value_grouped(UINT64_MAX, out), "18,446,744,073,709,551,615");
	assert_string_equal(value_duration_text(12500 * NS_PER_MS, out), "12.5 s");
	assert_string_equal(value_duration_text(200 * NS_PER_S, out), "3 min 20 s");
	assert_string_equal(value_duration_text(7320 * NS_PER_S, out), "2 h 2 min");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_whole_words_in_range),
		cmocka_unit_test(durations_have_units),
		cmocka_unit_test(a_moment_may_be_the_beginning),
		cmocka_unit_test(choices_are_by_name_and_near_misses_are_helped),
		cmocka_unit_test(figures_are_for_people),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
