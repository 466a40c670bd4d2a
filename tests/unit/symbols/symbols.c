/* SPDX-License-Identifier: Apache-2.0
 * symbols.c - an address has one name: the plainest of the function around it. */
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elf/image.h"
#include "symbols/parts.h"

static struct symbols *made(const struct symbol *all, u32 count)
{
	struct symbols *symbols = symbols_new();

	assert_non_null(symbols);
	for (u32 i = 0; i < count; i++)
		assert_true(symbols_add(symbols, all[i]));
	symbols_settle(symbols);
	return symbols;
}

static const char *name_at(const struct symbols *symbols, u64 address)
{
	struct symbol found;

	return symbols_find(symbols, address, &found) ? found.name : NULL;
}

static void the_plainest_name_stands(void **unused)
{
	static const struct symbol all[] = {
		{ .name = "__libc_write", .start = 0x100, .end = 0x120 },
		{ .name = "__write", .start = 0x100, .end = 0x120 },
		{ .name = "write", .start = 0x100, .end = 0x120 },
		{ .name = "a", .start = 0x100, .end = 0x200, .is_open = true },
		{ .name = "read", .start = 0x80, .end = 0xa0 },
	};
	struct symbols *symbols = made(all, COUNT_OF(all));

	(void)unused;
	assert_string_equal(name_at(symbols, 0x100), "write");
	assert_string_equal(name_at(symbols, 0x11f), "write");
	assert_null(name_at(symbols, 0x120));
	assert_string_equal(name_at(symbols, 0x9f), "read");
	assert_null(name_at(symbols, 0xa0)); /* between them is nobody's */
	assert_null(name_at(symbols, 0x7e));
	assert_string_equal(name_at(symbols, 0x7f), "read"); /* returned to its first byte */
	assert_string_equal(name_at(symbols, 0xff), "write");
	struct symbol before;
	assert_true(symbols_before(symbols, 0x1000, &before));
	assert_string_equal(before.name, "write");
	assert_false(symbols_before(symbols, 0x7f, &before));
	symbols_free(symbols);
}

static void a_function_may_hold_others(void **unused)
{
	static const struct symbol all[] = {
		{ .name = "outer", .start = 0x100, .end = 0x200 },
		{ .name = "inner", .start = 0x120, .end = 0x130 },
	};
	struct symbols *symbols = made(all, COUNT_OF(all));

	(void)unused;
	assert_string_equal(name_at(symbols, 0x125), "inner");
	assert_string_equal(name_at(symbols, 0x130), "outer");
	assert_string_equal(name_at(symbols, 0x110), "outer");
	symbols_free(symbols);
}

static void without_a_size_it_reaches_to_the_next(void **unused)
{
	static const struct symbol all[] = {
		{ .name = "one", .start = 0x100, .end = 0x1000, .is_open = true },
		{ .name = "two", .start = 0x140, .end = 0x148, .is_open = true },
		{ .name = "three", .start = 0x180, .end = 0x188, .is_open = true },
	};
	struct symbols *symbols = made(all, COUNT_OF(all));

	(void)unused;
	assert_string_equal(name_at(symbols, 0x13f), "one");
	assert_string_equal(name_at(symbols, 0x140), "two");
	assert_string_equal(name_at(symbols, 0x147), "two");
	assert_null(name_at(symbols, 0x148)); /* its section ends there */
	assert_string_equal(name_at(symbols, 0x187), "three");
	assert_null(name_at(symbols, 0x188));
	symbols_free(symbols);
}

/* A file of 20 MB took minutes when each comparison read the names. */
static void names_without_an_end_take_no_time(void **unused)
{
	enum { SYMBOLS = 20000, LENGTH = 20 << 20 };
	struct symbols *symbols = symbols_new();
	char *text = malloc(LENGTH + 1);
	struct symbol found;
	struct timespec begin, end;

	(void)unused;
	assert_non_null(symbols);
	assert_non_null(text);
	memset(text, 'a', LENGTH);
	text[LENGTH] = 0;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (u32 i = 0; i < SYMBOLS; i++)
		assert_true(symbols_add(
			symbols,
			(struct symbol){ .name = text + i % 1000, .start = 0x100, .end = 0x120 }));
	symbols_settle(symbols);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	assert_true(end.tv_sec - begin.tv_sec < 5); /* 10 ms, or minutes */
	assert_int_equal(symbols->all.count, 1);
	assert_true(symbols_find(symbols, 0x110, &found));
	assert_int_equal(found.length, SYMBOL_NAME_MAX);
	free(text);
	symbols_free(symbols);
}

static void nothing_is_found_in_nothing(void **unused)
{
	struct symbols *symbols = made(NULL, 0);

	(void)unused;
	assert_null(name_at(symbols, 0));
	symbols_free(symbols);
	symbols_free(NULL);
}

static void this_programs_functions_are_found(void **unused)
{
	struct err err = { 0 };
	struct image *image = image_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self",
					 &err);
	struct image_symbol mine;

	(void)unused;
	assert_non_null(image);
	assert_true(image_symbol_named(image, "symbols_find", &mine));
	struct symbols *symbols = symbols_of_image(image);
	assert_non_null(symbols);
	assert_string_equal(name_at(symbols, mine.value), "symbols_find");
	assert_string_equal(name_at(symbols, mine.value + mine.size - 1), "symbols_find");
	symbols_free(symbols);
	image_close(image);
}

/* The linkage table lies behind .init, whose _init has no size. */
static void stubs_have_the_names_of_what_they_call(void **unused)
{
	char path[4096];

	(void)unused;
	snprintf(path, sizeof path, "%s/tests/unit/elf/libplt-library.so", getenv("SONDE_BUILD"));
	struct image *image = image_open(open(path, O_RDONLY | O_CLOEXEC), path, NULL);
	assert_non_null(image);
	struct symbols *symbols = symbols_of_image(image);
	struct image_section init, plt;
	struct image_symbol called;
	assert_non_null(symbols);
	assert_true(image_symbol_named(image, "plt_called", &called));
	u64 stub = image_stub_of(image, called.value);
	assert_true(stub != 0);
	assert_string_equal(name_at(symbols, stub), "plt_called@plt");
	assert_string_equal(name_at(symbols, stub + 6), "plt_called@plt");
	assert_true(image_section_named(image, ".init", &init));
	assert_string_equal(name_at(symbols, init.address + init.size - 1), "_init");
	assert_true(image_section_named(image, ".plt", &plt));
	assert_null(name_at(symbols, plt.address)); /* the first one, of the linker */
	symbols_free(symbols);
	image_close(image);
}

/* Either it has addresses, or it says why not. */
static void the_kernel_has_names(void **unused)
{
	struct err err = { 0 };
	struct symbols *symbols = symbols_of_kernel(&err);

	(void)unused;
	if (!symbols) {
		assert_true(err.text[0]);
		return;
	}
	assert_true(symbols->all.count > 1000);
	for (u32 i = 1; i < symbols->all.count; i++)
		assert_true(symbols->all.at[i - 1].start < symbols->all.at[i].start);
	symbols_free(symbols);
}

static void names_are_as_their_authors_wrote_them(void **unused)
{
	static const struct {
		const char *mangled, *plain; /* NULL: it is no such name */
	} all[] = {
		{ "_ZN3foo3barEv", "foo::bar" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_RNvC7mycrate3foo", "mycrate::foo" },
		{ "main", NULL },
		{ "_start", NULL },
		{ "_Z", NULL },
		{ "", NULL },
	};

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(all); i++) {
		char *plain = symbol_demangle(all[i].mangled);
		if (all[i].plain)
			assert_string_equal(plain, all[i].plain);
		else
			assert_null(plain);
		free(plain);
	}
}

/* Of `steps` types, each made of two of the one before: _Z1fI1pIiiES0_IS1_S1_E...Evv. */
static void make_doubling(char *name, u32 steps)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	name += sprintf(name, "_Z1fI1pIiiE");
	for (u32 i = 0; i < steps; i++)
		name += sprintf(name, "S0_IS%c_S%c_E", digits[i + 1], digits[i + 1]);
	strcpy(name, "Evv");
}

/* It was gigabytes of memory, or never at an end. */
static void a_name_that_doubles_itself_stays_as_it_is(void **unused)
{
	char name[512];

	(void)unused;
	make_doubling(name, 5);
	char *plain = symbol_demangle(name);
	assert_non_null(plain);
	assert_memory_equal(plain, "f<p<int, int>, p<p<int, int>, p<int, int> >", 43);
	free(plain);
	make_doubling(name, 34);
	assert_null(symbol_demangle(name));
	assert_null(symbol_demangle("_Z1fI1p"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_plainest_name_stands),
		cmocka_unit_test(a_function_may_hold_others),
		cmocka_unit_test(without_a_size_it_reaches_to_the_next),
		cmocka_unit_test(names_without_an_end_take_no_time),
		cmocka_unit_test(nothing_is_found_in_nothing),
		cmocka_unit_test(this_programs_functions_are_found),
		cmocka_unit_test(stubs_have_the_names_of_what_they_call),
		cmocka_unit_test(the_kernel_has_names),
		cmocka_unit_test(names_are_as_their_authors_wrote_them),
		cmocka_unit_test(a_name_that_doubles_itself_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
