/* SPDX-License-Identifier: Apache-2.0
 * python-repr.c - texts, floats and paths; what Python's repr() says of each. */
#include "unit/memory.h"

#include "runtimes/python/repr.h"
#include "runtimes/python/strings.h"
#include "runtimes/python/versions.h"

#include <math.h>

static void floats(void **unused)
{
	static const struct {
		double value;
		const char *wanted;
	} rows[] = {
		{ 0.0, "0.0" },
		{ -0.0, "-0.0" },
		{ 1.0, "1.0" },
		{ -2.5, "-2.5" },
		{ 0.1, "0.1" },
		{ 0.30000000000000004, "0.30000000000000004" },
		{ 100.0, "100.0" },
		{ 1e15, "1000000000000000.0" },
		{ 9007199254740993.0, "9007199254740992.0" },
		{ 9999999999999998.0, "9999999999999998.0" },
		{ 1e16, "1e+16" },
		{ -1.5e100, "-1.5e+100" },
		{ 1e22, "1e+22" },
		{ 0.0001, "0.0001" },
		{ 0.00012345, "0.00012345" },
		{ 1e-5, "1e-05" },
		{ 1e-300, "1e-300" },
		{ 5e-324, "5e-324" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ INFINITY, "inf" },
		{ -INFINITY, "-inf" },
		{ NAN, "nan" },
	};
	struct str out = { 0 };

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		str_clear(&out);
		python_repr_float(rows[i].value, &out);
		assert_string_equal(out.text, rows[i].wanted);
	}
	str_free(&out);
}

static void texts(void **unused)
{
	static const struct {
		const char *text, *wanted, *ascii;
	} rows[] = {
		{ "", "''", "''" },
		{ "a'b\"\n", "'a\\'b\"\\n'", "'a\\'b\"\\n'" },
		{ "a'b", "\"a'b\"", "\"a'b\"" },
		{ "caf\xc3\xa9", "'caf\xc3\xa9'", "'caf\\xe9'" },
		{ "\xc2\x85\xc2\xa0\xc2\xad", "'\\x85\\xa0\\xad'", "'\\x85\\xa0\\xad'" },
		{ "\xe2\x82\xac\xe2\x80\xa8", "'\xe2\x82\xac\\u2028'", "'\\u20ac\\u2028'" },
		{ "\xf0\x9f\x98\x80", "'\xf0\x9f\x98\x80'", "'\\U0001f600'" },
		{ "x\xed\xb2\x80y", "'x\\udc80y'", "'x\\udc80y'" },
		{ "\x7f\x01\\", "'\\x7f\\x01\\\\'", "'\\x7f\\x01\\\\'" },
		{ "cut \xe2\x82", "'cut \\xe2\\x82'", "'cut \\xe2\\x82'" },
	};
	struct str out = { 0 };

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		str_clear(&out);
		python_repr_text(rows[i].text, (u32)strlen(rows[i].text), false, &out);
		assert_string_equal(out.text, rows[i].wanted);
		str_clear(&out);
		python_repr_text(rows[i].text, (u32)strlen(rows[i].text), true, &out);
		assert_string_equal(out.text, rows[i].ascii);
	}
	str_clear(&out);
	python_repr_bytes("\x00z\xff'", 4, &out);
	assert_string_equal(out.text, "\"\\x00z\\xff'\"");
	str_free(&out);
}

/* A str of two bytes each, as os.fsdecode() makes it of a name that is not UTF-8. */
static void a_path_has_its_bytes_again(void **unused)
{
	static const u16 characters[] = { '/', 0xdc80, 0xdcff, 0x20ac, 0xd800, 'x' };
	static const char path[] = "/\x80\xff\xe2\x82\xac\xed\xa0\x80x";
	struct python_state state = { .version = 0x030b07f0 };
	struct memory memory;
	struct str out = { 0 };
	u64 string = 0x100100;

	(void)unused;
	memory_init(&memory, 0x100000, 0x1000);
	assert_true(python_versions_find(&state));
	memory_put_u64(&memory, string + state.at.string_length, COUNT_OF(characters));
	memory_put_u32(&memory, string + state.at.string_state,
		       (2u | 8u) << state.string_kind_shift);
	memory_put(&memory, string + state.at.string_compact, characters, sizeof characters);
	str_add_text(&out, "in ");
	assert_true(python_read_path(&memory.mem, &state, string, &out));
	assert_int_equal(out.length, 3 + sizeof path - 1);
	assert_memory_equal(out.text + 3, path, sizeof path);
	str_free(&out);
	free(memory.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floats),
		cmocka_unit_test(texts),
		cmocka_unit_test(a_path_has_its_bytes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
