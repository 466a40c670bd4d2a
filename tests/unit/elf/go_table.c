/* SPDX-License-Identifier: Apache-2.0
 * go_table.c - the four layouts of Go's table of functions, and what is wrong with one. */
#include "check.h"

#include <string.h>

#include "elf/go_table.h"
#include "go_file.h"

static const u32 magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };

struct rows {
	struct go_row at[8];
	u32 count, most;
};

static bool take_row(void *arg, const struct go_row *row)
{
	struct rows *rows = arg;

	rows->at[rows->count++] = *row;
	return rows->count < rows->most;
}

static void check_functions(const struct go_table *table, bool has_flags)
{
	static const char *const names[] = { "main.main", "runtime.systemstack", "runtime.goexit" };
	struct go_function function;

	assert_int_equal(go_table_count(table), GO_FUNCTIONS);
	for (u32 i = 0; i < GO_FUNCTIONS; i++) {
		assert_true(go_table_function(table, i, &function));
		assert_string_equal(function.name, names[i]);
		assert_true(function.begin == GO_TEXT + go_begin[i]);
		assert_true(function.end == GO_TEXT + go_begin[i + 1]);
		assert_int_equal(function.writes_sp, has_flags && i == 1);
	}
	assert_false(go_table_function(table, GO_FUNCTIONS, &function));
	assert_false(go_table_function(table, UINT32_MAX, &function));
}

static void check_rows(const struct go_table *table)
{
	struct rows rows = { .most = 8 }, one = { .most = 1 };

	go_table_each_row(table, 0, take_row, &rows);
	assert_int_equal(rows.count, 3);
	assert_true(rows.at[0].begin == GO_TEXT && rows.at[0].end == GO_TEXT + 4);
	assert_int_equal(rows.at[0].depth, 0);
	assert_true(rows.at[1].begin == GO_TEXT + 4 && rows.at[1].end == GO_TEXT + 48);
	assert_int_equal(rows.at[1].depth, 24);
	assert_true(rows.at[2].end == GO_TEXT + 64);
	assert_int_equal(rows.at[2].depth, 0);
	go_table_each_row(table, 0, take_row, &one);
	assert_int_equal(one.count, 1);
	go_table_each_row(table, GO_FUNCTIONS, take_row, &one);
	assert_int_equal(one.count, 1);
}

static void every_layout_is_read(void **unused)
{
	(void)unused;
	for (u32 i = 0; i < COUNT_OF(magics); i++) {
		struct go_bytes bytes = go_table_bytes(magics[i], GO_TEXT);
		struct image *image = go_open(&bytes);
		struct err err = { 0 };
		assert_non_null(image);
		struct go_table *table = go_table_open(image, &err);
		assert_non_null(table);
		check_functions(table, i > 0);
		check_rows(table);
		go_table_close(table);
		image_close(image);
	}
}

/* From Go 1.26 on the head has none: it is .text, if a function is where the program is entered. */
static void a_text_that_is_not_told_is_found(void **unused)
{
	struct go_bytes bytes = go_table_bytes(0xfffffff1, 0);
	struct image *image = go_open(&bytes);
	struct go_table *table = go_table_open(image, NULL);

	(void)unused;
	assert_non_null(table);
	check_functions(table, true);
	go_table_close(table);
	image_close(image);
}

static void what_makes_no_sense_is_said(void **unused)
{
	static const struct {
		u32 at;
		u8 value;
	} wrong[] = {
		{ 0, 0xf3 },  /* another magic */
		{ 6, 0 },     /* instructions of no length */
		{ 7, 4 },     /* pointers of four bytes */
		{ 11, 0xff }, /* more functions than there is room for */
		{ 35, 0xff }, /* names, values and functions behind the end */
		{ 59, 0xff }, { 67, 0xff }, { 25, 0x90 }, /* text where there is no code */
	};

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(wrong); i++) {
		struct go_bytes bytes = go_table_bytes(0xfffffff1, GO_TEXT);
		struct err err = { 0 };
		bytes.bytes[wrong[i].at] = wrong[i].value;
		struct image *image = go_open(&bytes);
		struct go_table *table = go_table_open(image, &err);
		if (wrong[i].at == 25) {
			assert_non_null(table); /* by .text */
			go_table_close(table);
		} else {
			assert_null(table);
			assert_int_equal(err.code, ERR_BAD_DATA);
		}
		image_close(image);
	}
}

static void equal_tables_have_equal_digests(void **unused)
{
	struct go_bytes bytes = go_table_bytes(0xfffffff1, GO_TEXT);
	u64 digests[3][2] = { 0 };

	(void)unused;
	for (u32 i = 0; i < 3; i++) {
		bytes.bytes[bytes.used - 1] = i == 2;
		struct image *image = go_open(&bytes);
		assert_true(go_table_digest(image, digests[i]));
		image_close(image);
	}
	assert_memory_equal(digests[0], digests[1], sizeof digests[0]);
	assert_memory_not_equal(digests[0], digests[2], sizeof digests[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_layout_is_read),
		cmocka_unit_test(a_text_that_is_not_told_is_found),
		cmocka_unit_test(what_makes_no_sense_is_said),
		cmocka_unit_test(equal_tables_have_equal_digests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
