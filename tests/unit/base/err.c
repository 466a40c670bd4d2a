/* SPDX-License-Identifier: Apache-2.0
 * err.c - messages read from the outside in, and are cut, never overrun. */
#include "base/err.h"
#include "check.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void set_returns_false_and_fills(void **state)
{
	struct err err = { .errnum = 7 };
	(void)state;

	assert_false(err_set(&err, ERR_BAD_DATA, "record %d of %s", 3, "x.so"));
	assert_int_equal(err.code, ERR_BAD_DATA);
	assert_int_equal(err.errnum, 0);
	assert_string_equal(err.text, "record 3 of x.so");
}

static void context_goes_in_front_and_advice_behind(void **state)
{
	struct err err;
	(void)state;

	err_set(&err, ERR_NOT_MINE, "no VM found");
	assert_false(err_wrap(&err, "libruby.so.%s", "3.4"));
	assert_false(err_wrap(&err, "attach"));
	assert_false(err_hint(&err, "try sonde %s", "doctor"));
	assert_string_equal(err.text, "attach: libruby.so.3.4: no VM found: try sonde doctor");
	assert_int_equal(err.code, ERR_NOT_MINE);
}

static void errno_decides_the_code(void **state)
{
	static const struct {
		int errnum;
		enum err_code code;
	} rows[] = {
		{ EPERM, ERR_PERMISSION }, { EACCES, ERR_PERMISSION }, { ESRCH, ERR_NO_PROCESS },
		{ ENOMEM, ERR_NO_MEMORY }, { ENOSPC, ERR_SYSTEM },     { ENOENT, ERR_SYSTEM },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct err err;
		char want[200];
		assert_false(err_sys(&err, rows[i].errnum, "open %s", "f"));
		assert_int_equal(err.code, rows[i].code);
		assert_int_equal(err.errnum, rows[i].errnum);
		snprintf(want, sizeof want, "open f: %s", strerror(rows[i].errnum));
		assert_string_equal(err.text, want);
	}
	struct err err;
	assert_false(err_no_memory(&err));
	assert_int_equal(err.code, ERR_NO_MEMORY);
}

static void what_does_not_fit_is_cut(void **state)
{
	struct {
		struct err err;
		char guard[16];
	} box;
	char huge[2000];
	(void)state;

	memset(huge, 'x', sizeof huge - 1);
	huge[sizeof huge - 1] = 0;
	memset(box.guard, 0x5a, sizeof box.guard);
	for (size_t length = sizeof box.err.text - 6; length < sizeof box.err.text + 6; length++) {
		err_set(&box.err, ERR_SYSTEM, "%.*s", (int)length, huge);
		err_hint(&box.err, "advice");
		assert_true(strlen(box.err.text) < sizeof box.err.text);
		err_sys(&box.err, EIO, "%.*s", (int)length, huge);
		assert_true(strlen(box.err.text) < sizeof box.err.text);
		err_wrap(&box.err, "%s", huge);
		assert_true(strlen(box.err.text) < sizeof box.err.text);
	}
	for (size_t i = 0; i < sizeof box.guard; i++)
		assert_int_equal(box.guard[i], 0x5a);
}

static void nobody_has_to_listen(void **state)
{
	(void)state;

	assert_false(err_set(NULL, ERR_USAGE, "x"));
	assert_false(err_sys(NULL, EIO, "x"));
	assert_false(err_wrap(NULL, "x"));
	assert_false(err_hint(NULL, "x"));
	assert_false(err_no_memory(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_returns_false_and_fills),
		cmocka_unit_test(context_goes_in_front_and_advice_behind),
		cmocka_unit_test(errno_decides_the_code),
		cmocka_unit_test(what_does_not_fit_is_cut),
		cmocka_unit_test(nobody_has_to_listen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
