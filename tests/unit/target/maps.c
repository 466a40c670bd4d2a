/* SPDX-License-Identifier: Apache-2.0
 * maps.c - the text of /proc/PID/maps: names, overlaps, nonsense, pieces. */
#include "target/maps.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

static bool parse(struct maps *maps, const char *text, struct err *err)
{
	size_t taken;

	*maps = (struct maps){ 0 };
	return maps_add_text(maps, text, strlen(text), &taken, err);
}

static const char *path_of(const struct maps *maps, u32 index)
{
	return maps->paths.at + maps->all.at[index].path;
}

static void every_field_is_read(void **state)
{
	struct maps maps;
	(void)state;

	assert_true(
		parse(&maps,
		      "7f12a000-7f12c000 r-xp 00002000 fe:01 1234567    /usr/lib/libruby.so.3.1\n"
		      "7f12c000-7f12d000 rw-s 00000000 103:12345 9      /dev/shm/x\n"
		      "7ffe0000-7fff0000 rw-p 00000000 00:00 0          [stack]\n"
		      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 \n",
		      NULL));
	assert_int_equal(maps.all.count, 4);
	const struct mapping *first = &maps.all.at[0];
	assert_true(first->start == 0x7f12a000 && first->end == 0x7f12c000);
	assert_true(first->offset == 0x2000 && first->inode == 1234567);
	assert_int_equal(first->device, 0xfe << 20 | 1);
	assert_true(first->readable && !first->writable && first->executable && !first->deleted);
	assert_string_equal(path_of(&maps, 0), "/usr/lib/libruby.so.3.1");
	assert_int_equal(maps.all.at[1].device, 0x103 << 20 | 0x12345);
	assert_true(maps.all.at[1].writable && !maps.all.at[1].executable);
	assert_string_equal(path_of(&maps, 2), "[stack]");
	assert_string_equal(path_of(&maps, 3), "");
	assert_false(maps.all.at[3].readable);
	maps_free(&maps);
}

static void names_may_hold_anything(void **state)
{
	struct maps maps;
	(void)state;

	assert_true(parse(&maps,
			  "1000-2000 r--p 00000000 00:01 1 /tmp/a b  c\n"
			  "2000-3000 r--p 00000000 00:01 2 /tmp/new\\012line\n"
			  "3000-4000 r--p 00000000 00:01 3 /tmp/gone (deleted)\n"
			  "4000-5000 r--p 00000000 00:00 0 [anon: (deleted)]\n"
			  "5000-6000 r--p 00000000 00:01 4 (deleted)\n"
			  "6000-7000 r--p 00000000 00:01 5 /tmp/\\01\n",
			  NULL));
	assert_string_equal(path_of(&maps, 0), "/tmp/a b  c");
	assert_string_equal(path_of(&maps, 1), "/tmp/new\nline");
	assert_string_equal(path_of(&maps, 2), "/tmp/gone");
	assert_true(maps.all.at[2].deleted);
	assert_string_equal(path_of(&maps, 3), "[anon: (deleted)]");
	assert_string_equal(path_of(&maps, 4), "(deleted)");
	assert_false(maps.all.at[4].deleted);
	assert_string_equal(path_of(&maps, 5), "/tmp/\\01");
	maps_free(&maps);
}

static void runs_of_one_file_share_its_name(void **state)
{
	struct maps maps;
	(void)state;

	assert_true(parse(&maps,
			  "1000-2000 r--p 00000000 00:01 1 /lib/x\n"
			  "2000-3000 r-xp 00001000 00:01 1 /lib/x\n"
			  "3000-4000 rw-p 00000000 00:00 0 \n"
			  "4000-5000 rw-p 00000000 00:00 0 \n",
			  NULL));
	assert_int_equal(maps.all.at[0].path, maps.all.at[1].path);
	assert_int_equal(maps.all.at[2].path, maps.all.at[3].path);
	assert_int_equal(maps.paths.count, sizeof "/lib/x" + 1);
	maps_free(&maps);
}

/* The process changed its mappings between two pieces of the file. */
static void overlaps_are_cut_and_the_list_stays_sorted(void **state)
{
	struct maps maps;
	(void)state;

	assert_true(parse(&maps,
			  "1000-3000 r--p 00000000 00:01 1 /lib/x\n"
			  "2000-5000 r--p 00001000 00:01 1 /lib/x\n"
			  "1000-2000 r--p 00000000 00:01 1 /lib/x\n"
			  "4000-6000 r--p 00000000 00:00 0 \n",
			  NULL));
	assert_int_equal(maps.all.count, 3);
	assert_true(maps.all.at[1].start == 0x3000 && maps.all.at[1].end == 0x5000);
	assert_int_equal(maps.all.at[1].offset, 0x2000);
	assert_true(maps.all.at[2].start == 0x5000 && maps.all.at[2].offset == 0);
	maps_free(&maps);
}

static void nonsense_is_refused_with_the_line(void **state)
{
	static const char *const lines[] = {
		"\n",
		"hello\n",
		"1000\n",
		"1000-\n",
		"2000-1000 r--p 00000000 00:01 1 /x\n",
		"1000-1000 r--p 00000000 00:01 1 /x\n",
		"1000-2000\n",
		"1000-2000 r\n",
		"1000-2000 r--p\n",
		"1000-2000 r--p 0\n",
		"1000-2000 r--p 0 00\n",
		"1000-2000 r--p 0 00:\n",
		"1000-2000 \xff\xff\xff\xff 0 00:00 0\n",
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(lines); i++) {
		struct err err = { 0 };
		struct maps maps;
		assert_false(parse(&maps, lines[i], &err));
		assert_int_equal(err.code, ERR_BAD_DATA);
		assert_non_null(strstr(err.text, "not a line of a maps file"));
		maps_free(&maps);
	}
}

static void only_whole_lines_are_taken(void **state)
{
	const char text[] = "1000-2000 r--p 00000000 00:01 1 /x\n2000-3000 r--p 0000";
	struct maps maps = { 0 };
	size_t taken;
	(void)state;

	assert_true(maps_add_text(&maps, text, strlen(text), &taken, NULL));
	assert_int_equal(taken, strchr(text, '\n') + 1 - text);
	assert_int_equal(maps.all.count, 1);
	assert_true(maps_add_text(&maps, text, 0, &taken, NULL));
	assert_int_equal(taken, 0);
	maps_free(&maps);
}

/* Each prefix of a line, with its newline at the last byte before a page that faults. */
static void nothing_behind_the_text_is_read(void **state)
{
	const char line[] = "1000-2000 r--p 00000000 00:01 1 /x (deleted)";
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	(void)state;

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	for (size_t length = 0; length < sizeof line; length++) {
		char *text = pages + page - length - 1;
		struct maps maps = { 0 };
		size_t taken;
		memcpy(text, line, length);
		text[length] = '\n';
		bool whole = maps_add_text(&maps, text, length + 1, &taken, NULL);
		assert_int_equal(whole, length >= strlen("1000-2000 r--p 00000000 00:01 "));
		maps_free(&maps);
	}
	munmap(pages, 2 * page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_read),
		cmocka_unit_test(names_may_hold_anything),
		cmocka_unit_test(runs_of_one_file_share_its_name),
		cmocka_unit_test(overlaps_are_cut_and_the_list_stays_sorted),
		cmocka_unit_test(nonsense_is_refused_with_the_line),
		cmocka_unit_test(only_whole_lines_are_taken),
		cmocka_unit_test(nothing_behind_the_text_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
