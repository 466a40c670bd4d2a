/* SPDX-License-Identifier: Apache-2.0
 * space.c - which file a mapping is of, also when its path or its inode come to mean another. */
#include "check.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/image.h"
#include "target/target.h"
#include "unwind/space.h"

static char path[64];

/* What is an image, and `extra` bytes. */
static void write_file(u32 extra)
{
	char bytes[4096];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	ssize_t got;

	assert_true(from >= 0 && to >= 0);
	while ((got = read(from, bytes, sizeof bytes)) > 0)
		assert_int_equal(write(to, bytes, (size_t)got), got);
	memset(bytes, 0, sizeof bytes);
	assert_int_equal(write(to, bytes, extra), extra);
	close(from);
	close(to);
}

/* As a process that was started now sees it. */
static const struct unwind_file *file_of(struct unwind_files *files, u64 *inode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct target target;
	struct unwind_space space;
	struct stat st;

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	*inode = st.st_ino;
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(at != MAP_FAILED);
	close(fd);
	target_init(&target, 0);
	assert_true(target_open(&target, (u32)getpid(), NULL));
	unwind_space_init(&space, &target, files);
	const struct mapping *mapping = target_mapping_at(&target, (u64)(uintptr_t)at);
	assert_non_null(mapping);
	assert_non_null(unwind_space_at(&space, (u64)(uintptr_t)at));
	const struct unwind_file *file = NULL;
	for (u32 i = files->all.count; i-- > 0 && !file;)
		if (files->all.at[i]->inode == st.st_ino)
			file = files->all.at[i];
	unwind_space_free(&space);
	target_close(&target);
	munmap(at, 4096);
	return file;
}

static void a_file_that_is_written_anew_is_another(void **state)
{
	struct unwind_files files = { 0 };
	u64 inode, again;
	(void)state;

	snprintf(path, sizeof path, "/tmp/sonde-space-%d", (int)getpid());
	write_file(0);
	const struct unwind_file *first = file_of(&files, &inode);
	assert_non_null(first);
	assert_ptr_equal(file_of(&files, &again), first);
	write_file(8);
	const struct unwind_file *second = file_of(&files, &again);
	assert_int_equal(inode, again);
	assert_non_null(second);
	assert_ptr_not_equal(second, first);
	assert_ptr_equal(file_of(&files, &again), second);
	/* the same length, and a time that was put back */
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	write_file(8);
	struct timespec times[] = { st.st_atim, st.st_mtim };
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_ptr_not_equal(file_of(&files, &again), second);
	unlink(path);
	unwind_files_free(&files);
}

/* The first mapping of the test's file to be run, as the kernel tells of it, at an address at which nothing is now. */
static struct mapping gone_mapping(struct unwind_space *space)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct mapping gone = { 0 };

	assert_true(fd >= 0);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(at != MAP_FAILED);
	close(fd);
	assert_true(target_read_maps(space->target, NULL));
	gone = *target_mapping_at(space->target, (u64)(uintptr_t)at);
	munmap(at, 4096);
	assert_true(target_read_maps(space->target, NULL));
	unwind_space_clear(space);
	assert_null(unwind_space_at(space, gone.start));
	struct image_segment segment;
	struct image *image = image_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self",
					 NULL);
	assert_non_null(image);
	for (u32 i = 0; image_segment(image, i, &segment); i++)
		if (segment.type == PT_LOAD && segment.flags & PF_X)
			gone.offset = segment.offset & ~UINT64_C(4095);
	image_close(image);
	return gone;
}

static void what_is_gone_is_what_it_was_or_is_not_known(void **state)
{
	struct unwind_files files = { 0 };
	struct target target;
	struct unwind_space space;
	(void)state;

	snprintf(path, sizeof path, "/tmp/sonde-space-%d", (int)getpid());
	write_file(0);
	target_init(&target, 0);
	assert_true(target_open(&target, (u32)getpid(), NULL));
	unwind_space_init(&space, &target, &files);
	struct mapping gone = gone_mapping(&space);
	u32 known = files.all.count;
	/* nobody has it open, but it is where it was */
	struct unwind_range first = unwind_space_former(&space, &gone, path);
	assert_non_null(first.file);
	assert_true(first.start == gone.start && first.end == gone.end);
	assert_true(first.file->table.count > 0);
	assert_int_equal(files.all.count, known + 1);
	assert_ptr_equal(unwind_space_former(&space, &gone, path).file, first.file);
	/* another file has its name */
	struct mapping other = gone;
	other.inode++;
	assert_null(unwind_space_former(&space, &other, path).file);
	/* it is kept open */
	unlink(path);
	assert_ptr_equal(unwind_space_former(&space, &gone, path).file, first.file);
	/* nothing of it is loaded from there */
	other = gone;
	other.offset = UINT64_C(1) << 40;
	assert_null(unwind_space_former(&space, &other, path).file);
	/* no file at all */
	other.inode = 0;
	assert_null(unwind_space_former(&space, &other, "").file);
	/* written anew, and its time put back */
	write_file(0);
	gone = gone_mapping(&space);
	first = unwind_space_former(&space, &gone, path);
	assert_non_null(first.file);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	write_file(0);
	struct timespec times[] = { st.st_atim, st.st_mtim };
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_ptr_not_equal(unwind_space_former(&space, &gone, path).file, first.file);
	unlink(path);
	unwind_space_free(&space);
	target_close(&target);
	unwind_files_free(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_is_written_anew_is_another),
		cmocka_unit_test(what_is_gone_is_what_it_was_or_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
