/* SPDX-License-Identifier: Apache-2.0
 * str.c - a string grows, stays NUL-terminated, and remembers a failure. */
#include "base/str.h"
#include "check.h"
#include <string.h>

static void pieces_join(void **state)
{
	struct str str = { 0 };
	(void)state;

	str_add(&str, "abc", 2);
	str_add_text(&str, "-");
	str_addf(&str, "%d:%s", 42, "x");
	assert_string_equal(str.text, "ab-42:x");
	assert_int_equal(str.length, 7);
	assert_false(str.bad);
	str_free(&str);
	assert_null(str.text);
}

static void bytes_may_hold_nuls(void **state)
{
	struct str str = { 0 };
	(void)state;

	str_add(&str, "a\0b", 3);
	str_add_text(&str, "c");
	assert_int_equal(str.length, 4);
	assert_memory_equal(str.text, "a\0bc", 5);
	str_free(&str);
}

static void empty_is_a_string_after_the_first_call(void **state)
{
	struct str str = { 0 };
	(void)state;

	str_add_text(&str, "");
	assert_string_equal(str.text, "");
	assert_int_equal(str.length, 0);
	str_free(&str);
	str_clear(&str);
	assert_string_equal(str.text, "");
	str_free(&str);
}

static void clear_keeps_the_buffer_and_forgets_the_failure(void **state)
{
	struct str str = { 0 };
	(void)state;

	str_add_text(&str, "something");
	char *buffer = str.text;
	str.bad = true;
	str_clear(&str);
	assert_ptr_equal(str.text, buffer);
	assert_string_equal(str.text, "");
	assert_false(str.bad);
	str_free(&str);
}

static void it_grows_over_every_boundary(void **state)
{
	struct str str = { 0 };
	(void)state;

	for (u32 i = 0; i < 5000; i++) {
		str_addf(&str, "%c", 'a' + (int)(i % 26));
		assert_int_equal(str.length, i + 1);
		assert_int_equal(str.text[i + 1], 0);
	}
	for (u32 i = 0; i < 5000; i++)
		assert_int_equal(str.text[i], 'a' + i % 26);
	str_free(&str);
}

static void too_much_is_refused_and_nothing_is_lost(void **state)
{
	struct str str = { 0 };
	(void)state;

	str_add_text(&str, "kept");
	str_add(&str, "x", (size_t)INT32_MAX);
	assert_true(str.bad);
	assert_string_equal(str.text, "kept");
	/* Bad stays bad until it is cleared. */
	str_add_text(&str, "more");
	str_addf(&str, "%d", 1);
	assert_string_equal(str.text, "kept");
	str_free(&str);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_join),
		cmocka_unit_test(bytes_may_hold_nuls),
		cmocka_unit_test(empty_is_a_string_after_the_first_call),
		cmocka_unit_test(clear_keeps_the_buffer_and_forgets_the_failure),
		cmocka_unit_test(it_grows_over_every_boundary),
		cmocka_unit_test(too_much_is_refused_and_nothing_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
