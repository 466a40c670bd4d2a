/* SPDX-License-Identifier: Apache-2.0
 * kernel-history.c - which code lay where, and when. */
#include "check.h"

#include <unistd.h>

#include "engines/kernel/history.h"

enum { AT = 0x10000, END = 0x30000, PAGE = 0x1000 };

static struct target target;
static struct unwind_files files;
static struct unwind_space space;

static int open_space(void **unused)
{
	(void)unused;
	target_init(&target, 0);
	unwind_space_init(&space, &target, &files);
	return target_open(&target, (u32)getpid(), NULL) && unwind_space_fill(&space) ? 0 : -1;
}

static int close_space(void **unused)
{
	(void)unused;
	unwind_space_free(&space);
	target_close(&target);
	unwind_files_free(&files);
	return 0;
}

/* This program's own code, as if it were mapped there. */
static struct mapping own_code(u64 start)
{
	const struct mapping *own = target_mapping_at(&target, (u64)(uintptr_t)&own_code);
	struct mapping moved = *own;

	moved.start = start;
	moved.end = start + (own->end - own->start);
	return moved;
}

static const char *own_path(void)
{
	return mapping_path(&target, target_mapping_at(&target, (u64)(uintptr_t)&own_code));
}

static const struct unwind_file *file_at(struct history *history, u64 address, u64 time_ns)
{
	const struct unwind_range *range = history_at(history, &space, address, time_ns);

	return range ? range->file : NULL;
}

/* Of a file that is known, and is not this program. */
static struct unwind_range known(u64 start, u64 end)
{
	const struct unwind_file *own = unwind_space_at(&space, (u64)(uintptr_t)&own_code)->file;
	struct unwind_range range = { .start = start, .end = end, .base = start };

	for (u32 i = 0; i < space.ranges.count && !range.file; i++)
		if (space.ranges.at[i].file != own)
			range.file = space.ranges.at[i].file;
	assert_non_null(range.file);
	range.inode = range.file->inode;
	range.device = range.file->device;
	return range;
}

static void what_lay_there_is_what_was_told_last(void **unused)
{
	struct history history = { 0 };
	struct mapping code = own_code(AT), anonymous = { .start = AT, .end = AT + PAGE };
	const struct unwind_file *own = unwind_space_at(&space, (u64)(uintptr_t)&own_code)->file;

	(void)unused;
	assert_null(history_at(&history, &space, AT, 1000));
	history_note(&history, &code, own_path(), 1000);
	assert_null(history_at(&history, &space, AT, 999));
	assert_null(history_at(&history, &space, AT - 1, 1000));
	assert_null(history_at(&history, &space, code.end, 1000));
	assert_ptr_equal(file_at(&history, AT, 1000), own);
	assert_ptr_equal(file_at(&history, code.end - 1, UINT64_MAX), own);
	u64 bias = history_at(&history, &space, AT, 1000)->bias;
	const struct unwind_range *now = unwind_space_at(&space, (u64)(uintptr_t)&own_code);
	assert_true(bias - AT == now->bias - now->start);
	/* nothing that can be read, in place of its first page; the others are there still */
	history_note(&history, &anonymous, "", 2000);
	assert_null(history_at(&history, &space, AT, 2000));
	assert_ptr_equal(file_at(&history, AT + PAGE, 2000), own);
	assert_ptr_equal(file_at(&history, AT, 1999), own);
	/* and back: that it is the same as before the last does not make it the last */
	history_note(&history, &code, own_path(), 3000);
	assert_ptr_equal(file_at(&history, AT, 3000), own);
	/* a change of what may be done with it is none */
	for (u64 i = 0; i < 1000; i++)
		history_note(&history, &code, own_path(), 4000 + i);
	assert_int_equal(history.all.count, 3);
	history_free(&history);
}

static void what_is_gone_was_there_before_all_that_was_told(void **unused)
{
	struct history history = { 0 };
	struct unwind_range gone = known(AT, END), nameless = { .start = 1, .end = 2 };
	struct mapping code = own_code(AT);

	(void)unused;
	history_note(&history, &code, own_path(), 1000);
	history_note_gone(&history, &gone);
	assert_ptr_equal(file_at(&history, AT, 999), gone.file);
	assert_ptr_not_equal(file_at(&history, AT, 1000), gone.file);
	history_note_gone(&history, &gone);
	history_note_gone(&history, &nameless);
	assert_int_equal(history.all.count, 2);
	/* what was told is known to have come then */
	struct unwind_range own = history.all.at[1].range;
	assert_true(history.all.at[1].is_known);
	history_note_gone(&history, &own);
	assert_int_equal(history.all.count, 2);
	history_free(&history);
}

static void of_before_it_begins_nothing_is_known(void **unused)
{
	struct history history = { 0 }, copy = { 0 };
	struct unwind_range gone = known(AT, END), second = known(END, END + PAGE);
	struct mapping code = own_code(AT);

	(void)unused;
	history_note_gone(&history, &gone);
	history_begin(&history, 5000);
	assert_null(history_at(&history, &space, AT, 4000));
	assert_null(history_at(&history, &space, AT, 6000));
	history_note_gone(&history, &second);
	assert_null(history_at(&history, &space, END, 4999));
	assert_ptr_equal(file_at(&history, END, 5000), second.file);
	history_note(&history, &code, own_path(), 6000);
	/* a fork has what was there then */
	assert_true(history_copy(&copy, &history, 5999));
	assert_null(history_at(&copy, &space, END, 4999));
	assert_ptr_equal(file_at(&copy, END, 5000), second.file);
	assert_null(history_at(&copy, &space, AT, 7000));
	assert_non_null(history_at(&history, &space, AT, 7000));
	history_free(&copy);
	history_free(&history);
}

static void who_maps_without_end_is_not_kept_without_end(void **unused)
{
	struct history history = { 0 };
	struct mapping code = own_code(AT);
	u64 size = code.end - code.start;

	(void)unused;
	for (u64 i = 1; i <= 100000; i++) {
		code.start = AT + i * size;
		code.end = code.start + size;
		history_note(&history, &code, own_path(), i);
	}
	assert_true(history.all.count <= 1024);
	assert_true(history.paths.count <= 512 << 10);
	for (u64 i = 100000; i > 99600; i--)
		assert_non_null(history_at(&history, &space, AT + i * size, i));
	history_free(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lay_there_is_what_was_told_last),
		cmocka_unit_test(what_is_gone_was_there_before_all_that_was_told),
		cmocka_unit_test(of_before_it_begins_nothing_is_known),
		cmocka_unit_test(who_maps_without_end_is_not_kept_without_end),
	};

	return cmocka_run_group_tests(tests, open_space, close_space);
}
