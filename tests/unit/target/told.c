/* SPDX-License-Identifier: Apache-2.0
 * told.c - what a process that has ended had mapped: its names are found all the same. */
#include "target/told.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "child.h"
#include "elf/image.h"

enum { FILE_A = 7, FILE_B = 8 };

static void tell(struct told *told, u64 start, u64 end, u64 inode, const char *path)
{
	struct mapping mapping = {
		.start = start, .end = end, .offset = 0x1000, .inode = inode, .executable = true
	};

	assert_true(told_mapping(told, &mapping, path, 1));
}

/* One line a mapping, as /proc has them. */
static void assert_maps(const struct maps *maps, const char *expected)
{
	char text[512] = "";

	for (u32 i = 0; i < maps->all.count; i++) {
		const struct mapping *one = &maps->all.at[i];
		size_t length = strlen(text);
		snprintf(text + length, sizeof text - length, "%llx-%llx %llx %s\n",
			 (unsigned long long)one->start, (unsigned long long)one->end,
			 (unsigned long long)one->offset, maps->paths.at + one->path);
	}
	assert_string_equal(text, expected);
}

static void what_is_mapped_takes_the_place_of_what_was(void **state)
{
	struct told told = { 0 };
	(void)state;

	tell(&told, 0x5000, 0x9000, FILE_A, "a");
	tell(&told, 0x1000, 0x2000, FILE_B, "b");
	assert_maps(&told.maps, "1000-2000 1000 b\n5000-9000 1000 a\n");
	tell(&told, 0x6000, 0x7000, FILE_B, "b"); /* inside */
	assert_maps(&told.maps,
		    "1000-2000 1000 b\n5000-6000 1000 a\n6000-7000 1000 b\n7000-9000 3000 a\n");
	tell(&told, 0x5800, 0x8000, FILE_A, "c"); /* over the ends of two, and all of a third */
	assert_maps(&told.maps,
		    "1000-2000 1000 b\n5000-5800 1000 a\n5800-8000 1000 c\n8000-9000 4000 a\n");
	tell(&told, 0x0, 0x10000, FILE_B, "all");
	assert_maps(&told.maps, "0-10000 1000 all\n");
	told_forget(&told);
	assert_int_equal(told.maps.all.count, 0);
}

static void an_exec_leaves_nothing(void **state)
{
	struct told told = { 0 };
	struct target target;
	(void)state;

	target_init(&target, 1);
	assert_false(target_believe(&target, &told, 0)); /* nothing was told */
	tell(&told, 0x5000, 0x9000, FILE_A, "before");
	assert_true(target_believe(&target, &told, 0));
	tell(&told, 0x8000, 0xa000, FILE_B, "more");
	assert_true(target_believe(&target, &told, 0));
	assert_maps(&target.maps, "5000-8000 1000 before\n8000-a000 1000 more\n");
	told_exec(&told, "other", 2);
	tell(&told, 0x1000, 0x2000, FILE_B, "behind");
	assert_true(target_believe(&target, &told, 0));
	assert_maps(&target.maps, "1000-2000 1000 behind\n");
	assert_string_equal(target.comm, "other");
	told_forget(&told);
	target_close(&target);
}

static void another_exec_is_noticed(void **state)
{
	struct told told = { 0 }, now = { 0 };
	(void)state;

	tell(&told, 0x5000, 0x9000, FILE_A, "loader");
	tell(&told, 0x1000, 0x2000, FILE_B, "library");
	tell(&now, 0x5000, 0x9000, FILE_A, "loader"); /* a library that is gone again */
	assert_true(told_is_of(&told, &now.maps));
	told.is_anew = true;
	assert_true(told_is_of(&told, &now.maps));
	now.maps.all.at[0].inode = FILE_B; /* another program at the same address */
	assert_false(told_is_of(&told, &now.maps));
	told_forget(&told);
	assert_true(told_is_of(&told, &now.maps));
	told_forget(&now);
}

/* A program may map and unmap for as long as it likes: what is not whole is not believed. */
static void too_much_is_not_kept(void **state)
{
	struct told told = { 0 };
	struct mapping mapping = { .inode = FILE_A, .executable = true };
	struct target target;
	u32 kept = 0;
	(void)state;

	target_init(&target, 1);
	for (u32 i = 1; i <= 100000; i++) {
		mapping.start = i * 0x1000ull;
		mapping.end = mapping.start + 0x1000;
		kept += told_mapping(&told, &mapping, "x", i);
	}
	assert_in_range(kept, 100, 10000);
	assert_false(target_believe(&target, &told, 0));
	told_exec(&told, "other", 1); /* from here on it is whole again */
	assert_true(told_mapping(&told, &mapping, "x", 2));
	assert_true(target_believe(&target, &told, 0));
	told_forget(&told);
	target_close(&target);
}

static void wait_there(struct child *self)
{
	child_say(self, 'r');
	child_wait(self);
}

static void files_of_one_that_has_ended_are_opened(void **state)
{
	struct child child;
	struct target target;
	struct told told = { 0 };
	struct err err = { 0 };
	u32 files = 0;
	(void)state;

	child_start(&child, wait_there);
	child_hear(&child);
	assert_true(target_open(&target, (u32)child.pid, &err));
	for (u32 i = 0; i < target.maps.all.count; i++) {
		const struct mapping *one = &target.maps.all.at[i];
		if (one->executable && one->inode)
			assert_true(told_mapping(&told, one, mapping_path(&target, one), 1));
	}
	child_end(&child);
	told.is_anew = true;
	assert_true(target_believe(&target, &told, (u32)getpid()));
	for (u32 i = 0; i < target.maps.all.count; i++, files++) {
		struct image *image = target_open_image(&target, &target.maps.all.at[i], &err);
		assert_non_null(image);
		image_close(image);
	}
	assert_true(files >= 2); /* this program, the C library */
	/* its kin has gone, too: ours is the same root */
	target.kin = (u32)child.pid;
	struct image *image = target_open_image(&target, &target.maps.all.at[0], &err);
	assert_non_null(image);
	image_close(image);
	/* and another file at that path is none of its own */
	target.maps.all.at[0].inode++;
	assert_null(target_open_image(&target, &target.maps.all.at[0], &err));
	told_forget(&told);
	target_close(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_mapped_takes_the_place_of_what_was),
		cmocka_unit_test(an_exec_leaves_nothing),
		cmocka_unit_test(another_exec_is_noticed),
		cmocka_unit_test(too_much_is_not_kept),
		cmocka_unit_test(files_of_one_that_has_ended_are_opened),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
