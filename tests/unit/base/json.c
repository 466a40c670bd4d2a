/* SPDX-License-Identifier: Apache-2.0
 * json.c - whatever the bytes are, what comes out is JSON. */
#include "base/json.h"
#include "check.h"
#include "cli/say.h"
#include "base/utf8.h"
#include <string.h>

static void text_is(struct out *out, const char *wanted)
{
	assert_int_equal(out->used, strlen(wanted));
	assert_memory_equal(out->buffer, wanted, out->used);
	assert_true(out_close(out, NULL));
}

static void nesting_and_commas(void **state)
{
	struct out out;
	(void)state;

	out_open_memory(&out);
	struct json json = json_make(&out);
	json_object(&json, NULL);
	json_number(&json, "pid", 42);
	json_array(&json, "empty");
	json_end(&json);
	json_array(&json, "list");
	json_text(&json, NULL, "a");
	json_null(&json, NULL);
	json_object(&json, NULL);
	json_bool(&json, "x", true);
	json_real(&json, "y", 0.5);
	json_real(&json, "z", __builtin_nan(""));
	json_end(&json);
	json_end(&json);
	json_end(&json);
	text_is(&out,
		"{\n  \"pid\": 42,\n  \"empty\": [],\n  \"list\": [\n    \"a\",\n    null,\n"
		"    {\n      \"x\": true,\n      \"y\": 0.500000,\n      \"z\": null\n    }\n"
		"  ]\n}\n");
}

static void flat_containers_and_exact_fractions(void **state)
{
	struct out out;
	(void)state;

	out_open_memory(&out);
	struct json json = json_make(&out);
	json_object(&json, NULL);
	json_array(&json, "rows");
	json_flat(&json);
	json_object(&json, NULL);
	json_flat(&json); /* it is already */
	json_number(&json, "a", UINT64_MAX);
	json_number(&json, "b", 0);
	json_end(&json);
	json_literal(&json, NULL, "-1");
	json_end(&json);
	json_array(&json, "fixed");
	json_fixed(&json, NULL, 0, 6);
	json_fixed(&json, NULL, 1, 6);
	json_fixed(&json, NULL, 1234500000, 6);
	json_fixed(&json, NULL, 1234, 0);
	json_fixed(&json, NULL, 5000000, 6);
	json_fixed(&json, NULL, UINT64_MAX, 19);
	json_end(&json);
	json_end(&json);
	text_is(&out,
		"{\n  \"rows\": [{\"a\": 18446744073709551615,\"b\": 0},-1],\n  \"fixed\": [\n"
		"    0,\n    0.000001,\n    1234.5,\n    1234,\n    5,\n"
		"    1.8446744073709551615\n  ]\n}\n");
}

#define REPLACED "\xef\xbf\xbd"

static void strings_are_escaped(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *wanted;
	} rows[] = {
		{ "plain", 5, "\"plain\"" },
		{ "", 0, "\"\"" },
		{ "a\"b\\c", 5, "\"a\\\"b\\\\c\"" },
		{ "\n\t\x1b\x7f", 4, "\"\\u000a\\u0009\\u001b\\u007f\"" },
		{ "a\0b", 3, "\"a\\u0000b\"" },
		{ "\xc3\xa9", 2, "\"\xc3\xa9\"" },
		{ "\xf0\x9f\x92\x8e", 4, "\"\xf0\x9f\x92\x8e\"" },
		{ "x\xff"
		  "y",
		  3, "\"x" REPLACED "y\"" },
		{ "\xc3", 1, "\"" REPLACED "\"" },                           /* cut short */
		{ "\xc0\xaf", 2, "\"" REPLACED REPLACED "\"" },              /* overlong "/" */
		{ "\xed\xa0\x80", 3, "\"" REPLACED REPLACED REPLACED "\"" }, /* a surrogate */
		{ "\xf4\x90\x80\x80", 4, "\"" REPLACED REPLACED REPLACED REPLACED "\"" },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct out out;

		out_open_memory(&out);
		struct json json = json_make(&out);
		json_bytes(&json, NULL, rows[i].bytes, rows[i].length);
		text_is(&out, rows[i].wanted);
	}
}

/* Against the definition: a code point encoded by hand is well-formed exactly when it is no
 * surrogate and not past the end. */
static void every_code_point_is_judged_right(void **state)
{
	(void)state;
	for (u32 c = 0x80; c < 0x120000; c++) {
		char text[4];
		u32 length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		bool good = (c < 0xd800 || c > 0xdfff) && c < 0x110000;

		for (u32 i = length - 1, rest = c; i > 0; i--, rest >>= 6)
			text[i] = (char)(0x80 | (rest & 0x3f));
		text[0] = (char)((length == 2 ? 0xc0 :
				  length == 3 ? 0xe0 :
						0xf0) |
				 c >> 6 * (length - 1));
		assert_int_equal(utf8_length(text, length), good ? length : 0);
		assert_int_equal(utf8_length(text, length - 1), 0);
	}
	for (u32 c = 0; c < 0x80; c++)
		assert_int_equal(utf8_length(&(char){ (char)c }, 1), 1);
}

static void names_cannot_move_the_cursor(void **state)
{
	static const char hostile[] = "a\x1b[2Jb\n\xff\xc2\x9b\xc3\xa9";
	struct out out;
	(void)state;

	out_open_memory(&out);
	say_foreign(&out, hostile, sizeof hostile - 1);
	text_is(&out, "a\\x1b[2Jb\\n\\xff\\xc2\\x9b\xc3\xa9");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nesting_and_commas),
		cmocka_unit_test(flat_containers_and_exact_fractions),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(every_code_point_is_judged_right),
		cmocka_unit_test(names_cannot_move_the_cursor),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
