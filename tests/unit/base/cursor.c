/* SPDX-License-Identifier: Apache-2.0
 * cursor.c - reading past the end yields zeros and stays bad. */
#include "base/cursor.h"
#include "base/uleb.h"
#include "check.h"

static void words_are_little_endian_and_in_order(void **state)
{
	static const u8 bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct cursor c = cursor_make(bytes, sizeof bytes);
	(void)state;

	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u16(&c), 0x0302);
	assert_int_equal(cursor_u32(&c), 0x07060504);
	assert_true(cursor_u64(&c) == 0x0f0e0d0c0b0a0908);
	assert_false(c.bad);
	assert_int_equal(cursor_left(&c), 0);
}

static void past_the_end_is_zero_and_stays_bad(void **state)
{
	static const u8 bytes[] = { 0xff, 0xff, 0xff, 0xff, 0xff };
	struct cursor c = cursor_make(bytes, sizeof bytes);
	(void)state;

	assert_int_equal(cursor_u32(&c), 0xffffffff);
	assert_int_equal(cursor_u32(&c), 0);
	assert_true(c.bad);
	/* One byte is left, but what it means is not known any more. */
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(cursor_u8(&c), 0);
	assert_null(cursor_take(&c, 1));
	assert_string_equal(cursor_text(&c), "");
	assert_int_equal(cursor_uleb(&c), 0);
	assert_int_equal(cursor_sleb(&c), 0);
}

static void a_length_near_the_end_of_the_address_space_does_not_wrap(void **state)
{
	static const u8 bytes[] = { 1, 2, 3, 4 };
	struct cursor c = cursor_make(bytes, sizeof bytes);
	(void)state;

	assert_null(cursor_take(&c, SIZE_MAX));
	assert_true(c.bad);
}

static void uleb(const u8 *bytes, size_t length, u64 want, bool bad)
{
	struct cursor c = cursor_make(bytes, length);

	assert_true(cursor_uleb(&c) == want);
	assert_int_equal(c.bad, bad);
	if (!bad)
		assert_int_equal(cursor_left(&c), 0);
}

static void sleb(const u8 *bytes, size_t length, s64 want)
{
	struct cursor c = cursor_make(bytes, length);

	assert_true(cursor_sleb(&c) == want);
	assert_false(c.bad);
	assert_int_equal(cursor_left(&c), 0);
}

#define BYTES(...) (const u8[]){ __VA_ARGS__ }, sizeof((const u8[]){ __VA_ARGS__ })

/* The examples of DWARF 5, 7.6, and the extremes. */
static void leb128_as_dwarf_has_it(void **state)
{
	(void)state;

	uleb(BYTES(2), 2, false);
	uleb(BYTES(0x7f), 127, false);
	uleb(BYTES(0x80, 1), 128, false);
	uleb(BYTES(0x81, 1), 129, false);
	uleb(BYTES(0xb9, 0x64), 12857, false);
	uleb(BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), UINT64_MAX, false);
	sleb(BYTES(2), 2);
	sleb(BYTES(0x7e), -2);
	sleb(BYTES(0xff, 0), 127);
	sleb(BYTES(0x81, 0x7f), -127);
	sleb(BYTES(0x80, 0x7f), -128);
	sleb(BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f), INT64_MIN);
}

static void leb128_without_an_end_is_bad(void **state)
{
	u8 endless[64];
	(void)state;

	memset(endless, 0x80, sizeof endless);
	uleb(endless, 3, 0, true);
	uleb(endless, sizeof endless, 0, true);
	struct cursor c = cursor_make(endless, sizeof endless);
	assert_int_equal(cursor_sleb(&c), 0);
	assert_true(c.bad);
}

static void text_must_end_inside_the_bytes(void **state)
{
	static const char bytes[] = { 'a', 'b', 0, 0, 'c', 'd' };
	struct cursor c = cursor_make(bytes, sizeof bytes);
	(void)state;

	assert_string_equal(cursor_text(&c), "ab");
	assert_string_equal(cursor_text(&c), "");
	assert_false(c.bad);
	assert_string_equal(cursor_text(&c), "");
	assert_true(c.bad);
}

static void a_copy_that_fails_is_zeroed(void **state)
{
	static const u8 bytes[] = { 1, 2 };
	struct cursor c = cursor_make(bytes, sizeof bytes);
	u8 out[4] = { 9, 9, 9, 9 };
	(void)state;

	cursor_copy(&c, out, sizeof out);
	assert_memory_equal(out, "\0\0\0\0", 4);
	assert_true(c.bad);
}

static void what_uleb_wrote_is_read(void **state)
{
	(void)state;
	for (u32 bit = 0; bit < 64; bit++) {
		for (u64 value = (1ull << bit) - 1; value <= (1ull << bit) + 1; value++) {
			u8 bytes[ULEB_MOST];
			u32 length = uleb_write(bytes, value);
			struct cursor c = cursor_make(bytes, length);
			assert_in_range(length, 1, ULEB_MOST);
			assert_true(cursor_uleb(&c) == value);
			assert_false(c.bad);
			assert_int_equal(cursor_left(&c), 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_little_endian_and_in_order),
		cmocka_unit_test(past_the_end_is_zero_and_stays_bad),
		cmocka_unit_test(what_uleb_wrote_is_read),
		cmocka_unit_test(a_length_near_the_end_of_the_address_space_does_not_wrap),
		cmocka_unit_test(leb128_as_dwarf_has_it),
		cmocka_unit_test(leb128_without_an_end_is_bad),
		cmocka_unit_test(text_must_end_inside_the_bytes),
		cmocka_unit_test(a_copy_that_fails_is_zeroed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
