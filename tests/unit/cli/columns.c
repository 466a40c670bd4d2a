/* SPDX-License-Identifier: Apache-2.0
 * columns.c - labels that fit, and widths. */
#include "check.h"

#include <string.h>
#include <unistd.h>

#include "cli/columns.h"

static void check_put(const char *label, u32 columns, const char *expected)
{
	struct str text = { 0 };
	struct out out;

	str_add_text(&text, label);
	out_open_memory(&out);
	columns_put(&out, &text, columns);
	assert_int_equal(out.used, strlen(expected));
	assert_memory_equal(out.buffer, expected, out.used);
	assert_true(out_close(&out, NULL));
	str_free(&text);
}

static void a_label_loses_its_end(void **state)
{
	(void)state;
	columns_begin();
	check_put("Foo#bar", 7, "Foo#bar\n");
	check_put("Foo#bar", 6, "Foo...\n");
	check_put("Foo#bar", 3, "...\n");
	check_put("Foo#bar", 0, "...\n");
	check_put("", 0, "\n");
	check_put("\u00e9t\u00e9s", 4, "\u00e9t\u00e9s\n");
	check_put("\u00e9t\u00e9s-", 4, "\u00e9...\n"); /* whole characters */
}

static void characters_have_the_columns_that_a_terminal_gives_them(void **state)
{
	static const struct {
		const char *text;
		u32 columns;
	} rows[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "\u00e9t\u00e9", 3 },
		{ "\u65e5\u672c", 4 }, /* wide */
		{ "e\u0301", 1 },      /* an accent that stands for itself */
		{ "a\xff\xfe", 3 },    /* no UTF-8: a question mark each */
		{ "a\x1b[2Jb", 6 },    /* nor is a control character printed */
	};

	(void)state;
	columns_begin();
	for (u32 i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal(columns_of(rows[i].text, strlen(rows[i].text)), rows[i].columns);
	check_put("\u65e5\u672c\u8a9e", 6, "\u65e5\u672c\u8a9e\n");
	check_put("\u65e5\u672c\u8a9e", 5, "\u65e5...\n");
	check_put("\u65e5\u672c\u8a9e", 4, "...\n"); /* half of one does not fit */
}

static void a_pipe_is_wide(void **state)
{
	(void)state;
	int kept = dup(STDOUT_FILENO), ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
	u32 columns = columns_of_output();
	dup2(kept, STDOUT_FILENO);
	close(kept);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(columns, COLUMNS_NO_TERMINAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_label_loses_its_end),
		cmocka_unit_test(characters_have_the_columns_that_a_terminal_gives_them),
		cmocka_unit_test(a_pipe_is_wide),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
