/* SPDX-License-Identifier: Apache-2.0
 * record-output.c - which format, which name; and a profile is never lost for want of a place. */
#include "cli/record_output.h"
#include "check.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/sonde-output-XXXXXX";

static void format_by_option_then_by_name(void **state)
{
	static const struct {
		const char *path, *format, *wanted;
	} rows[] = {
		{ NULL, NULL, "sonde" },
		{ "x.sonde", NULL, "sonde" },
		{ "x.html", "sonde", "sonde" },
		{ "x.html", NULL, "html" },
		{ "x.folded", NULL, "folded" },
		{ "x.pb.gz", NULL, "pprof" },
		{ "-", NULL, "folded" },
		{ "x.html", "folded", "folded" },
		{ "x", "pprof", "pprof" },
		{ "x", "flamegraph", "html" }, /* as rbspy and py-spy call it */
		{ "x.svg", "flamegraph", "svg" },
		{ "x.html", "flamegraph", "html" },
		{ "x", "collapsed", "folded" },
		{ "x", "raw", "folded" },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct record_output output;
		struct err err = { 0 };

		assert_true(record_output_choose(&output, rows[i].path, rows[i].format, &err));
		assert_string_equal(record_output_format(&output), rows[i].wanted);
		assert_int_equal(output.chosen, rows[i].path != NULL);
	}
}

static void what_makes_no_sense_is_said(void **state)
{
	static const struct {
		const char *path, *format, *says;
	} rows[] = {
		{ "out.pdf", NULL, "the end of \"out.pdf\" names no format" },
		{ "x", "htm", "\"htm\" is not a format; give one of" },
		{ "x", "htm", "did you mean \"html\"?" },
		{ "x", "perfetto", "is not a format" },
		/* rbspy's order */
		{ "html", "out.html", "did you mean \"-o out.html -f html\"?" },
		{ "flamegraph", "out.svg", "did you mean \"-o out.svg -f flamegraph\"?" },
		{ "pprof", NULL, "did you mean \"-o FILE -f pprof\"?" },
		{ NULL, "dir/out", "did you mean \"-o dir/out\"?" },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct record_output output;
		struct err err = { 0 };

		assert_false(record_output_choose(&output, rows[i].path, rows[i].format, &err));
		assert_int_equal(err.code, ERR_USAGE);
		assert_non_null(strstr(err.text, rows[i].says));
	}
}

static u32 count_files(void)
{
	DIR *dir = opendir(".");
	const struct dirent *entry;
	u32 count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(dir);
	return count;
}

static struct profile *empty_profile(void)
{
	static struct profile profile;

	assert_true(profile_init(&profile));
	profile.mode = "cpu";
	profile.title = "a program";
	profile.hz = 99;
	return &profile;
}

static void default_names_never_collide(void **state)
{
	struct record_output outputs[3];
	struct export_options options = { 0 };
	struct profile *profile = empty_profile();
	struct err err = { 0 };
	u64 size;
	(void)state;

	for (u32 i = 0; i < 3; i++) {
		assert_true(record_output_choose(&outputs[i], NULL, "folded", &err));
		assert_true(record_output_open(&outputs[i], 42, &err));
		assert_memory_equal(outputs[i].path, "sonde-42-", 9);
		assert_true(record_output_write(&outputs[i], profile, &options, &size, &err));
		assert_int_equal(access(outputs[i].path, F_OK), 0);
		for (u32 k = 0; k < i; k++)
			assert_string_not_equal(outputs[k].path, outputs[i].path);
	}
	for (u32 i = 0; i < 3; i++)
		unlink(outputs[i].path);
	assert_int_equal(count_files(), 0);
	profile_free(profile);
}

static void what_cannot_be_opened_is_known_at_once(void **state)
{
	static const struct {
		const char *path, *says;
	} rows[] = {
		{ "no/such/x.html", "No such file or directory: make the directory first" },
		{ "a-directory.html", "Is a directory" },
	};
	(void)state;

	assert_int_equal(mkdir("a-directory.html", 0700), 0);
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct record_output output;
		struct err err = { 0 };

		assert_true(record_output_choose(&output, rows[i].path, NULL, &err));
		assert_false(record_output_open(&output, 42, &err));
		assert_non_null(strstr(err.text, rows[i].path));
		assert_non_null(strstr(err.text, rows[i].says));
	}
	rmdir("a-directory.html");
	assert_int_equal(count_files(), 0);
}

static void abandoned_leaves_nothing_and_replaces_nothing(void **state)
{
	struct record_output output;
	struct err err = { 0 };
	struct stat before, after;
	FILE *file = fopen("old.html", "w");
	(void)state;

	assert_non_null(file);
	fputs("old", file);
	fclose(file);
	stat("old.html", &before);
	assert_true(record_output_choose(&output, "old.html", NULL, &err));
	assert_true(record_output_open(&output, 42, &err));
	record_output_abandon(&output);
	record_output_abandon(&output);
	assert_int_equal(stat("old.html", &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(after.st_size, 3);
	unlink("old.html");
	assert_int_equal(count_files(), 0);
}

/* The place is taken away while samples are taken: a directory stands there at the end. */
static void a_profile_is_saved_elsewhere(void **state)
{
	struct record_output output;
	struct export_options options = { 0 };
	struct profile *profile = empty_profile();
	struct err err = { 0 };
	u64 size;
	(void)state;

	assert_true(record_output_choose(&output, "taken.folded", NULL, &err));
	assert_true(record_output_open(&output, 42, &err));
	assert_int_equal(mkdir("taken.folded", 0700), 0);
	assert_false(record_output_write(&output, profile, &options, &size, &err));
	assert_non_null(strstr(err.text, "taken.folded"));
	assert_string_not_equal(output.path, "taken.folded");
	assert_int_equal(access(output.path, F_OK), 0);
	unlink(output.path);
	rmdir("taken.folded");
	assert_int_equal(count_files(), 0);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(format_by_option_then_by_name),
		cmocka_unit_test(what_makes_no_sense_is_said),
		cmocka_unit_test(default_names_never_collide),
		cmocka_unit_test(what_cannot_be_opened_is_known_at_once),
		cmocka_unit_test(abandoned_leaves_nothing_and_replaces_nothing),
		cmocka_unit_test(a_profile_is_saved_elsewhere),
	};

	if (!mkdtemp(directory) || chdir(directory) != 0)
		return 1;
	int failures = cmocka_run_group_tests(tests, NULL, NULL);
	if (chdir("/") != 0 || rmdir(directory) != 0)
		return 1;
	return failures;
}
