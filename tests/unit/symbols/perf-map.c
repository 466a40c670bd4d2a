/* SPDX-License-Identifier: Apache-2.0
 * perf-map.c - perf maps: code that was made anew, lines that are none, and files that nobody meant well with. */
#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

static struct symbols *read_text(const char *text)
{
	int fd = memfd_create("perf-map", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	struct symbols *symbols = symbols_of_perf_map(fd);
	close(fd);
	assert_non_null(symbols);
	return symbols;
}

static void is_named(const struct symbols *symbols, u64 address, const char *name)
{
	struct symbol symbol;

	assert_true(symbols_find(symbols, address, &symbol));
	assert_string_equal(symbol.name, name);
}

static void lines_are_functions(void **state)
{
	struct symbols *symbols = read_text("1000 10 one\n2000 20 LazyCompile:~two /app/x.js:12\n");
	struct symbol symbol;
	(void)state;

	is_named(symbols, 0x1000, "one");
	is_named(symbols, 0x100f, "one");
	is_named(symbols, 0x201f, "LazyCompile:~two /app/x.js:12");
	assert_false(symbols_find(symbols, 0x1010, &symbol));
	assert_false(symbols_find(symbols, 0xfff, &symbol));
	symbols_free(symbols);
}

static void the_last_of_an_address_holds(void **state)
{
	struct symbols *symbols = read_text("1000 10 old\n3000 10 other\n1000 20 new\n");
	(void)state;

	is_named(symbols, 0x1000, "new");
	is_named(symbols, 0x101f, "new");
	is_named(symbols, 0x3000, "other");
	symbols_free(symbols);
}

static void what_is_no_line_is_passed_by(void **state)
{
	struct symbols *symbols = read_text(
		"\n1000\n1000 10\n1000 10 \nzz 10 x\n0 10 x\n1000 0 x\n"
		"ffffffffffffffff 10 x\n1000 ffffffffff x\n5000 10 good\n6000 10 cut off");
	struct symbol symbol;
	(void)state;

	is_named(symbols, 0x5000, "good");
	assert_false(symbols_find(symbols, 0x1000, &symbol));
	assert_false(symbols_find(symbols, 0x6000, &symbol)); /* it is still being written */
	symbols_free(symbols);
}

/* Two gigabytes of nothing: bounded, and soon over. */
static void a_sparse_file_is_no_trap(void **state)
{
	int fd = memfd_create("perf-map", MFD_CLOEXEC);
	struct symbol symbol;
	(void)state;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1000 10 one\n", 12), 12);
	assert_int_equal(ftruncate(fd, (off_t)2 << 30), 0);
	struct symbols *symbols = symbols_of_perf_map(fd);
	close(fd);
	assert_non_null(symbols);
	assert_true(symbols_find(symbols, 0x1000, &symbol));
	symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_functions),
		cmocka_unit_test(the_last_of_an_address_holds),
		cmocka_unit_test(what_is_no_line_is_passed_by),
		cmocka_unit_test(a_sparse_file_is_no_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
