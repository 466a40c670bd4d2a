/* SPDX-License-Identifier: Apache-2.0
 * perf-map.c - perf maps: code that was made anew, lines that are none, and files that nobody meant well with. */
#include "symbols/perf_map.h"

#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

static struct perf_map *made_of(int fd)
{
	struct perf_map *map = perf_map_new();

	assert_non_null(map);
	assert_true(perf_map_read(map, fd));
	return map;
}

static struct perf_map *read_text(const char *text)
{
	int fd = memfd_create("perf-map", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	struct perf_map *map = made_of(fd);
	close(fd);
	return map;
}

static void is_named(const struct perf_map *map, u64 address, const char *name)
{
	struct symbol symbol;

	assert_true(perf_map_find(map, address, &symbol));
	assert_string_equal(symbol.name, name);
}

static void lines_are_functions(void **state)
{
	struct perf_map *map = read_text("1000 10 one\n2000 20 LazyCompile:~two /app/x.js:12\n");
	struct symbol symbol;
	(void)state;

	is_named(map, 0x1000, "one");
	is_named(map, 0x100f, "one");
	is_named(map, 0x201f, "LazyCompile:~two /app/x.js:12");
	assert_false(perf_map_find(map, 0x1010, &symbol));
	assert_false(perf_map_find(map, 0xfff, &symbol));
	perf_map_free(map);
}

static void the_last_of_an_address_holds(void **state)
{
	struct perf_map *map = read_text("1000 10 old\n3000 10 other\n1000 20 new\n");
	(void)state;

	is_named(map, 0x1000, "new");
	is_named(map, 0x101f, "new");
	is_named(map, 0x3000, "other");
	perf_map_free(map);
}

/* Code that was thrown away, and its place used for another, in part or as a whole. */
static void what_is_made_in_its_place_hides_it(void **state)
{
	struct perf_map *map = read_text("1000 100 old\n1080 20 old_inside\n10c0 100 old_behind\n"
					 "1040 60 new\n1060 10 newest\n2000 100 big\n"
					 "1fe0 30 new_in_front\n");
	struct symbol symbol;
	(void)state;

	is_named(map, 0x1000, "old");
	is_named(map, 0x1040, "new");
	is_named(map, 0x1065, "newest");
	is_named(map, 0x1080, "new");
	is_named(map, 0x109f, "new");
	is_named(map, 0x10a0, "old");
	is_named(map, 0x10c0, "old_behind");
	is_named(map, 0x2000, "new_in_front");
	assert_false(perf_map_find(map, 0x2010, &symbol)); /* what is left of it nobody runs */
	perf_map_free(map);
}

static void append(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void what_is_appended_is_read_alone(void **state)
{
	int fd = memfd_create("perf-map", MFD_CLOEXEC);
	struct symbol symbol;
	(void)state;

	assert_true(fd >= 0);
	append(fd, "1000 10 one\n3000 10 three\n2000 10 t");
	struct perf_map *map = made_of(fd);
	assert_false(perf_map_find(map, 0x2000, &symbol));
	/* what stands in front is not looked at again */
	assert_int_equal(pwrite(fd, "4", 1, 0), 1);
	append(fd, "wo\n3000 10 anew\n0800 10 first\n");
	assert_true(perf_map_read(map, fd));
	is_named(map, 0x800, "first");
	is_named(map, 0x1000, "one");
	is_named(map, 0x2000, "two");
	is_named(map, 0x3000, "anew");
	assert_true(perf_map_read(map, fd));
	is_named(map, 0x3000, "anew");
	/* shorter: it is another's */
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	append(fd, "5000 10 five\n");
	assert_true(perf_map_read(map, fd));
	is_named(map, 0x5000, "five");
	assert_false(perf_map_find(map, 0x1000, &symbol));
	close(fd);
	/* and so is another file */
	fd = memfd_create("perf-map", MFD_CLOEXEC);
	append(fd, "6000 10 a function with a longer name\n");
	assert_true(perf_map_read(map, fd));
	is_named(map, 0x6000, "a function with a longer name");
	assert_false(perf_map_find(map, 0x5000, &symbol));
	perf_map_free(map);
	close(fd);
}

static void what_is_no_line_is_passed_by(void **state)
{
	struct perf_map *map = read_text(
		"\n1000\n1000 10\n1000 10 \nzz 10 x\n0 10 x\n1000 0 x\n"
		"ffffffffffffffff 10 x\n1000 ffffffffff x\n5000 10 good\n6000 10 cut off");
	struct symbol symbol;
	(void)state;

	is_named(map, 0x5000, "good");
	assert_false(perf_map_find(map, 0x1000, &symbol));
	assert_false(perf_map_find(map, 0x6000, &symbol)); /* it is still being written */
	perf_map_free(map);
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
	struct perf_map *map = made_of(fd);
	close(fd);
	assert_true(perf_map_find(map, 0x1000, &symbol));
	perf_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_functions),
		cmocka_unit_test(the_last_of_an_address_holds),
		cmocka_unit_test(what_is_made_in_its_place_hides_it),
		cmocka_unit_test(what_is_appended_is_read_alone),
		cmocka_unit_test(what_is_no_line_is_passed_by),
		cmocka_unit_test(a_sparse_file_is_no_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
