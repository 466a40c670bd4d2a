/* SPDX-License-Identifier: Apache-2.0
 * cache.c - tables that are kept: the same as compiled ones, whatever lies in the folder. */
#include "check.h"

#include "base/cleanup.h"
#include "elf/image.h"
#include "unwind/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct world {
	char home[64], folder[128], file[512]; /* the cache's, and the first file in it */
	struct image *image;
	struct unwind_table wanted; /* as compiled */
	struct unwind_cache cache;
};

static struct image *open_self(void)
{
	struct image *image = image_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self",
					 NULL);

	assert_non_null(image);
	return image;
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof *w);
	struct unwind_report report;

	assert_non_null(w);
	snprintf(w->home, sizeof w->home, "/tmp/sonde-cache-XXXXXX");
	assert_non_null(mkdtemp(w->home));
	snprintf(w->folder, sizeof w->folder, "%s/sonde/unwind", w->home);
	setenv("XDG_CACHE_HOME", w->home, 1);
	w->image = open_self();
	assert_true(unwind_compile(w->image, &w->wanted, &report, NULL));
	unwind_cache_open(&w->cache);
	assert_true(w->cache.dir_fd > 0);
	*state = w;
	return 0;
}

/* How many files there are; the first one's name. */
static u32 count_files(struct world *w)
{
	DIR *dir = opendir(w->folder);
	struct dirent *entry;
	u32 count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			snprintf(w->file, sizeof w->file, "%s/%s", w->folder, entry->d_name);
			count++;
		}
	closedir(dir);
	return count;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	char text[160];

	while (count_files(w))
		assert_int_equal(unlink(w->file), 0);
	rmdir(w->folder);
	snprintf(text, sizeof text, "%s/sonde", w->home);
	rmdir(text);
	rmdir(w->home);
	unwind_cache_close(&w->cache);
	unwind_table_free(&w->wanted);
	image_close(w->image);
	free(w);
	return 0;
}

static void compile_and_compare(struct world *w)
{
	struct unwind_table table = { 0 };

	assert_true(unwind_cache_compile(&w->cache, w->image, &table, NULL));
	assert_int_equal(table.count, w->wanted.count);
	assert_memory_equal(table.words, w->wanted.words, 4 * (size_t)table.count);
	unwind_table_free(&table);
}

static void make_old(const char *path)
{
	static const struct timespec long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
}

static bool is_old(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_mtim.tv_sec == 1000;
}

static void a_table_is_kept_and_found_again(void **state)
{
	struct world *w = *state;

	compile_and_compare(w);
	assert_int_equal(count_files(w), 1);
	make_old(w->file);
	compile_and_compare(w);
	assert_int_equal(count_files(w), 1);
	assert_false(is_old(w->file)); /* it was of use */
}

static void what_is_damaged_is_compiled_again(void **state)
{
	struct world *w = *state;

	compile_and_compare(w);
	assert_int_equal(count_files(w), 1);
	for (u32 at = 0; at < 200; at += 7) {
		AUTO_CLOSE int fd = open(w->file, O_RDWR | O_CLOEXEC);
		u8 byte;
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		compile_and_compare(w);
	}
	assert_int_equal(truncate(w->file, 100), 0);
	compile_and_compare(w);
	assert_int_equal(truncate(w->file, 0), 0);
	compile_and_compare(w);
	assert_int_equal(count_files(w), 1);
	/* a link in its place is not followed, and a FIFO not waited for */
	assert_int_equal(unlink(w->file), 0);
	assert_int_equal(symlink("/dev/zero", w->file), 0);
	compile_and_compare(w);
	assert_int_equal(unlink(w->file), 0);
	assert_int_equal(mkfifo(w->file, 0600), 0);
	compile_and_compare(w);
}

static void a_folder_that_others_write_to_is_not_used(void **state)
{
	struct world *w = *state;
	struct unwind_cache other;

	assert_int_equal(chmod(w->folder, 0777), 0);
	unwind_cache_open(&other);
	assert_true(other.dir_fd < 0);
	compile_and_compare(
		&(struct world){ .image = w->image, .wanted = w->wanted, .cache = other });
	assert_int_equal(count_files(w), 0);
	unwind_cache_close(&other);
}

static void what_was_not_used_for_longest_makes_room(void **state)
{
	struct world *w = *state;
	char path[256];

	for (u32 i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%032u", w->folder, i);
		AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(ftruncate(fd, 100 << 20), 0); /* with nothing in it */
		struct timespec used[2] = { { .tv_sec = 2000 + i }, { .tv_sec = 2000 + i } };
		assert_int_equal(futimens(fd, used), 0);
	}
	compile_and_compare(w);
	assert_int_equal(count_files(w), 3);
	snprintf(path, sizeof path, "%s/%032u", w->folder, 0);
	assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_table_is_kept_and_found_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_damaged_is_compiled_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_folder_that_others_write_to_is_not_used, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_was_not_used_for_longest_makes_room, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
