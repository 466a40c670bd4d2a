/* SPDX-License-Identifier: Apache-2.0
 * text.c - any bytes become one line of UTF-8 and can be turned back. */
#include "check.h"

#include "base/rng.h"
#include "export/built.h"
#include "base/text.h"

static void each_kind_of_byte(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		u32 length;
		char separator;
		const char *text;
	} rows[] = {
		{ "Array#map", 9, ';', "Array#map" },
		{ "a;b", 3, ';', "a\\x3bb" },
		{ "a;b", 3, 0, "a;b" },
		{ "a\nb\r\t", 5, ';', "a\\nb\\x0d\\x09" },
		{ "a\0b", 3, ';', "a\\x00b" },
		{ "\x1b[2J\x7f", 5, 0, "\\x1b[2J\\x7f" },
		{ "\xc2\x9b"
		  "1m",
		  4, 0, "\\xc2\\x9b1m" }, /* C1 CSI */
		{ "gr\xc3\xbc\xc3\x9f", 6, ';', "gr\xc3\xbc\xc3\x9f" },
		{ "\xd7\xa9\xd7\x9c", 4, ';', "\xd7\xa9\xd7\x9c" }, /* Hebrew is text */
		{ "\xe2\x80\xae"
		  "evil",
		  7, 0, "\\xe2\\x80\\xaeevil" }, /* an override is not */
		{ "\xe2\x81\xa6", 3, 0, "\\xe2\\x81\\xa6" },
		{ "\xe2\x80\xa8", 3, 0, "\\xe2\\x80\\xa8" },
		{ "\xf0\x9f\x98\x80", 4, 0, "\xf0\x9f\x98\x80" },
		{ "\xff"
		  "a",
		  2, 0, "\\xffa" },
		{ "\xc0\xaf", 2, 0, "\\xc0\\xaf" }, /* overlong */
		{ "\xe0\x80\xaf", 3, 0, "\\xe0\\x80\\xaf" },
		{ "\xed\xa0\x80", 3, 0, "\\xed\\xa0\\x80" },          /* surrogate */
		{ "\xf4\x90\x80\x80", 4, 0, "\\xf4\\x90\\x80\\x80" }, /* above U+10FFFF */
		{ "\xe2\x82", 2, 0, "\\xe2\\x82" },                   /* cut */
		{ "C:\\dir", 6, 0, "C:\\dir" },
		{ "\\n \\x41 \\", 9, 0, "\\x5cn \\x5cx41 \\" },
		{ "", 0, 0, "" },
	};
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct str text = { 0 };
		text_add_safe(&text, rows[i].bytes, rows[i].length, rows[i].separator);
		assert_string_equal(text.text, rows[i].text);
		str_free(&text);
	}
}

static void random_bytes_come_back(void **state)
{
	(void)state;
	static const char likely[] = "\\nx41;\n\xc3\xbc\xe2\x80\xae\xff";
	struct rng rng = { 3 };
	struct names names;
	assert_true(names_init(&names));
	for (u32 round = 0; round < 5000; round++) {
		char bytes[24];
		u32 length = (u32)rng_below(&rng, sizeof bytes);
		for (u32 i = 0; i < length; i++)
			bytes[i] = rng_below(&rng, 3) ? likely[rng_below(&rng, sizeof likely - 1)] :
							(char)rng_u64(&rng);
		struct str text = { 0 };
		str_clear(&text);
		text_add_safe(&text, bytes, length, ';');
		assert_null(strpbrk(text.text, ";\n\r"));
		u32 back = built_string(&names, text.text, text.length);
		assert_int_equal(names.strings.at[back].length, length);
		assert_memory_equal(names.strings.at[back].text, bytes, length);
		str_free(&text);
	}
	names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_byte),
		cmocka_unit_test(random_bytes_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
