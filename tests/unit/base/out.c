/* SPDX-License-Identifier: Apache-2.0
 * out.c - a file appears whole or not at all, and a full disk is told once. */
#include "base/out.h"
#include "check.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/sonde-out-XXXXXX";
static char path[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(directory + sizeof directory - 7, "XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof path, "%s/profile", directory);
	return 0;
}

/* How many names the directory holds. */
static u32 names(const char *where)
{
	DIR *dir = opendir(where);
	u32 count = 0;

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(dir);
	return count;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static void write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_file(const char *name, const char *want)
{
	char text[200] = { 0 };
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof text - 1) >= 0);
	close(fd);
	assert_string_equal(text, want);
}

static void a_file_appears_only_when_it_is_closed(void **state)
{
	struct out out;
	struct err err;
	struct stat st;
	(void)state;

	assert_true(out_open_file(&out, path, &err));
	out_text(&out, "one ");
	outf(&out, "%d", 2);
	out_bytes(&out, "\nx", 2);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(out.written, 7);
	assert_true(out_close(&out, &err));
	assert_file(path, "one 2\nx");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(names(directory), 1);
}

static void an_old_file_stays_until_then(void **state)
{
	struct out out;
	struct err err;
	(void)state;

	write_file(path, "old");
	assert_true(out_open_file(&out, path, &err));
	out_text(&out, "new");
	assert_file(path, "old");
	out_abandon(&out);
	assert_file(path, "old");
	assert_int_equal(names(directory), 1);
	assert_true(out_open_file(&out, path, &err));
	out_text(&out, "new");
	assert_true(out_close(&out, &err));
	assert_file(path, "new");
}

static void large_writes_arrive_whole(void **state)
{
	enum { PIECE = 70 * 1000, PIECES = 40 };
	static u8 piece[PIECE];
	struct out out;
	struct err err;
	struct stat st;
	u64 sum = 0;
	(void)state;

	assert_true(out_open_file(&out, path, &err));
	for (u32 n = 0; n < PIECES; n++) {
		memset(piece, (int)n, sizeof piece);
		/* Above and below the buffer's size in turn. */
		size_t length = n % 2 ? sizeof piece : sizeof piece / 3;
		out_bytes(&out, piece, length);
		outf(&out, "%0*u", 5000, n);
		sum += length + 5000;
	}
	assert_int_equal(out.written, sum);
	assert_true(out_close(&out, &err));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, sum);

	FILE *file = fopen(path, "re");
	assert_non_null(file);
	for (u32 n = 0; n < PIECES; n++) {
		char digits[5001];
		size_t length = n % 2 ? sizeof piece : sizeof piece / 3;
		assert_int_equal(fread(piece, 1, length, file), length);
		for (size_t i = 0; i < length; i++)
			assert_int_equal(piece[i], n);
		assert_int_equal(fread(digits, 1, 5000, file), 5000);
		digits[5000] = 0;
		assert_int_equal(strtoul(digits, NULL, 10), n);
	}
	fclose(file);
}

static void links_are_not_followed(void **state)
{
	struct out out;
	struct err err;
	char target[80];
	(void)state;

	snprintf(target, sizeof target, "%s/victim", directory);
	write_file(target, "precious");
	assert_int_equal(symlink(target, path), 0);
	assert_false(out_open_file(&out, path, &err));
	assert_int_equal(err.code, ERR_USAGE);
	assert_non_null(strstr(err.text, "symbolic link"));
	assert_file(target, "precious");
	unlink(target);
}

/* The link is made after the file was opened: rename() replaces it, and the victim stays. */
static void a_link_made_meanwhile_is_replaced_not_followed(void **state)
{
	struct out out;
	struct err err;
	char target[80];
	struct stat st;
	(void)state;

	snprintf(target, sizeof target, "%s/victim", directory);
	write_file(target, "precious");
	assert_true(out_open_file(&out, path, &err));
	out_text(&out, "mine");
	assert_int_equal(symlink(target, path), 0);
	assert_true(out_close(&out, &err));
	assert_file(target, "precious");
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	unlink(target);
}

/* Somebody who knows our pid has put links where the temporary file will be. */
static void a_temporary_name_that_is_taken_is_not_used(void **state)
{
	struct out out;
	struct err err;
	char trap[96], victim[80];
	(void)state;

	snprintf(victim, sizeof victim, "%s/victim", directory);
	snprintf(trap, sizeof trap, "%s/.sonde-%d-0.partial", directory, (int)getpid());
	write_file(victim, "precious");
	assert_int_equal(symlink(victim, trap), 0);
	assert_true(out_open_file(&out, path, &err));
	out_text(&out, "mine");
	assert_true(out_close(&out, &err));
	assert_file(victim, "precious");
	assert_file(path, "mine");
	unlink(trap);
	unlink(victim);
}

static void what_cannot_be_a_file_is_refused(void **state)
{
	static const struct {
		const char *path, *says;
	} rows[] = {
		{ "", "no file name" },
		{ "/tmp/", "no file name" },
		{ "/tmp", "directory" },
		{ "/no/such/directory/x", "No such file" },
		{ "/proc/sonde.html", "/proc/sonde.html" },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct out out;
		struct err err;
		assert_false(out_open_file(&out, rows[i].path, &err));
		assert_non_null(strstr(err.text, rows[i].says));
	}
	struct out out;
	struct err err;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(out_open_file(&out, path, &err));
	assert_non_null(strstr(err.text, "not a regular file"));
}

static void a_full_device_is_told_at_the_end(void **state)
{
	struct out out;
	struct err err;
	(void)state;

	assert_true(out_open_file(&out, "/dev/full", &err));
	out_text(&out, "x");
	assert_false(out_close(&out, &err));
	assert_int_equal(err.errnum, ENOSPC);
	assert_non_null(strstr(err.text, "/dev/full"));
	assert_int_equal(access("/dev/full", F_OK), 0);
}

static void a_device_is_written_in_place(void **state)
{
	struct out out;
	struct err err;
	struct stat st;
	(void)state;

	assert_true(out_open_file(&out, "/dev/null", &err));
	out_text(&out, "x");
	assert_true(out_close(&out, &err));
	assert_int_equal(lstat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

/* A disk of 64 KiB. */
static void a_full_disk_leaves_the_old_file(void **state)
{
	char disk[80], name[96];
	static u8 bytes[512 * 1024];
	struct out out;
	struct err err;
	(void)state;

	snprintf(disk, sizeof disk, "%s/disk", directory);
	assert_int_equal(mkdir(disk, 0700), 0);
	if (mount("sonde-test", disk, "tmpfs", 0, "size=64k") != 0) {
		rmdir(disk);
		skip();
	}
	snprintf(name, sizeof name, "%s/profile", disk);
	write_file(name, "old");
	bool opened = out_open_file(&out, name, &err);
	out_bytes(&out, bytes, sizeof bytes);
	out_text(&out, "more");
	bool closed = out_close(&out, &err);
	u32 left = names(disk);
	char text[4] = { 0 };
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, 3);
	close(fd);
	umount(disk);
	rmdir(disk);

	assert_true(opened);
	assert_false(closed);
	assert_int_equal(err.errnum, ENOSPC);
	assert_int_equal(left, 1);
	assert_int_equal(n, 3);
	assert_string_equal(text, "old");
}

static void memory_grows_and_reports_nothing(void **state)
{
	struct out out;
	struct err err;
	(void)state;

	out_open_memory(&out);
	for (u32 i = 0; i < 50000; i++)
		outf(&out, "%05u", i);
	out_bytes(&out, "\0\xff", 2);
	assert_int_equal(out.used, 250002);
	assert_int_equal(out.written, 250002);
	assert_memory_equal(out.buffer, "0000000001", 10);
	assert_memory_equal(out.buffer + 249995, "49999\0\xff", 7);
	assert_true(out_close(&out, &err));
	assert_null(out.buffer);
}

static void after_a_failure_nothing_more_is_written(void **state)
{
	struct out out;
	struct err err;
	(void)state;

	out_open_memory(&out);
	out_text(&out, "kept");
	out.errnum = ENOMEM;
	out_text(&out, "lost");
	outf(&out, "%s", "lost");
	assert_int_equal(out.used, 4);
	assert_int_equal(out.written, 4);
	assert_false(out_close(&out, &err));
	assert_int_equal(err.code, ERR_NO_MEMORY);
}

static void a_dash_is_standard_output_and_stays_open(void **state)
{
	int ends[2], before = dup(STDOUT_FILENO);
	char text[16] = { 0 };
	struct out out;
	struct err err;
	(void)state;

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	dup2(ends[1], STDOUT_FILENO);
	bool opened = out_open_file(&out, "-", &err);
	out_text(&out, "to stdout");
	bool closed = out_close(&out, &err);
	bool still_open = fcntl(STDOUT_FILENO, F_GETFD) != -1;
	dup2(before, STDOUT_FILENO);
	close(before);
	ssize_t n = read(ends[0], text, sizeof text - 1);
	close(ends[0]);
	close(ends[1]);

	assert_true(opened && closed && still_open);
	assert_int_equal(n, 9);
	assert_string_equal(text, "to stdout");
}

/* Last in the list: the owner is set for good. */
static void files_belong_to_the_owner_that_was_set(void **state)
{
	struct out out;
	struct err err;
	struct stat st;
	(void)state;

	if (geteuid() != 0)
		skip();
	out_set_owner(12345, 23456);
	assert_true(out_open_file(&out, path, &err));
	assert_true(out_close(&out, &err));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(st.st_gid, 23456);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

struct taken {
	u8 bytes[300000];
	size_t length;
	u32 calls;
};

static void take(void *arg, const void *bytes, size_t length)
{
	struct taken *taken = arg;

	memcpy(taken->bytes + taken->length, bytes, length);
	taken->length += length;
	taken->calls++;
}

static void a_writer_gets_all_of_it_in_large_parts(void **state)
{
	(void)state;
	static struct taken taken;
	static u8 large[100000];
	struct out out;

	memset(large, 7, sizeof large);
	assert_true(out_open_writer(&out, take, &taken));
	for (u32 i = 0; i < 10000; i++)
		outf(&out, "%04u\n", i);
	out_bytes(&out, large, sizeof large);
	out_text(&out, "end");
	assert_int_equal(out.written, 50000 + sizeof large + 3);
	assert_true(out_close(&out, NULL));
	assert_int_equal(taken.length, 50000 + sizeof large + 3);
	assert_in_range(taken.calls, 3, 5);
	assert_memory_equal(taken.bytes, "0000\n0001\n", 10);
	assert_memory_equal(taken.bytes + 50000, large, sizeof large);
	assert_memory_equal(taken.bytes + taken.length - 3, "end", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_writer_gets_all_of_it_in_large_parts),
		TEST(a_file_appears_only_when_it_is_closed),
		TEST(an_old_file_stays_until_then),
		TEST(large_writes_arrive_whole),
		TEST(links_are_not_followed),
		TEST(a_link_made_meanwhile_is_replaced_not_followed),
		TEST(a_temporary_name_that_is_taken_is_not_used),
		TEST(what_cannot_be_a_file_is_refused),
		TEST(a_full_device_is_told_at_the_end),
		TEST(a_device_is_written_in_place),
		TEST(a_full_disk_leaves_the_old_file),
		TEST(memory_grows_and_reports_nothing),
		TEST(after_a_failure_nothing_more_is_written),
		TEST(a_dash_is_standard_output_and_stays_open),
		TEST(files_belong_to_the_owner_that_was_set),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
