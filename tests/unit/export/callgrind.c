/* SPDX-License-Identifier: Apache-2.0
 * callgrind.c - names, lines, and recursion that counts once, as callgrind_annotate adds it up. */
#include "check.h"

#include "export/no_memory.h"
#include "export/written.h"

static void functions_and_lines_have_their_costs(void **state)
{
	struct profile p;
	(void)state;

	written_sample(&p);
	AUTO_FREE char *text = written("callgrind", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "events: ns samples\n");
	assert_has(text, "totals: 200000000 20\n");
	/* Foo#bar at line 3 calls itself: in 12 samples, at no cost, for it was there. */
	assert_has(text, "4 120000000 12\n");
	assert_has(text, "calls=12 0\n3 0 0\n");
	assert_has(text, ") \\xff\\n;\n");
	assert_has(text, "cmd: ruby app.rb (pid 42)\n");
	profile_free(&p);
}

static void nothing_has_a_weight(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, "ruby"), 1, 0, "main");
	profile_add(&p, thread, 0, 0, 0);
	AUTO_FREE char *text = written("callgrind", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "events: samples\n");
	assert_has(text, ") (all threads)\n0 1\n");
	assert_has(text, "totals: 1\n");
	profile_free(&p);
}

static void alike_functions_stay_apart(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, "ruby"), 1, 0, "main");
	for (u32 i = 0; i < 3; i++) {
		struct name_function f = { .name = names_text(&p.names, "plain"),
					   .path = names_text(&p.names, "/a.rb"),
					   .language = names_text(&p.names, i == 2 ? "x" : "ruby"),
					   .first_line = i ? 30 : 3 };
		struct name_location l = { .function = names_function(&p.names, &f), .line = 31 };
		profile_add(&p, thread, names_stack(&p.names, 0, names_location(&p.names, &l)), 5,
			    0);
	}
	AUTO_FREE char *text = written("callgrind", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, ") plain\n");
	assert_has(text, ") plain:30\n");
	assert_has(text, ") plain:30:3\n");
	profile_free(&p);
}

/* What callgrind_annotate prints for a function with --inclusive=yes. */
static void check_inclusive(const char *report, const char *name, u64 samples)
{
	char wanted[128];

	snprintf(wanted, sizeof wanted, ":%s\n", name);
	const char *line = strstr(report, wanted);
	if (!line)
		fail_msg("no %s in:\n%s", name, report);
	while (line > report && line[-1] != '\n')
		line--;
	/* "190,000,000 (95.00%) 19 (95.00%)  file:name" */
	assert_int_equal(strtoull(strchr(line, ')') + 1, NULL, 10), samples);
}

static void recursion_counts_once(void **state)
{
	struct profile p;
	char path[] = "/tmp/sonde-test-XXXXXX", command[256];
	struct out out;
	struct err err;
	(void)state;

	if (system("command -v callgrind_annotate >/dev/null") != 0) {
		print_message("SKIPPED: callgrind_annotate is not installed\n");
		skip();
	}
	AUTO_CLOSE int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_true(profile_init(&p));
	built_lines(&p, "m (/a.rb:1);f (/a.rb:3);g (/a.rb:7);f (/a.rb:3);h (/a.rb:9) 5\n"
			"m (/a.rb:1);f (/a.rb:4);f (/a.rb:4);f (/a.rb:5) 3\n"
			"m (/a.rb:1);h (/a.rb:9) 2\n"
			"h (/a.rb:9);f (/a.rb:5) 1\n");
	built_facts(&p);
	assert_true(out_open_file(&out, path, &err));
	exporter_named("callgrind")->write(&p, &(struct export_options){ .threads = true }, &out);
	assert_true(out_close(&out, &err));
	profile_free(&p);
	snprintf(command, sizeof command,
		 "callgrind_annotate --inclusive=yes --threshold=100 --auto=no %s 2>&1", path);
	char report[16384];
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	report[fread(report, 1, sizeof report - 1, pipe)] = 0;
	assert_int_equal(pclose(pipe), 0);
	unlink(path);
	assert_has_not(report, "WARNING");
	assert_has(report, "11 (100.0%)  PROGRAM TOTALS");
	check_inclusive(report, "m", 10);
	check_inclusive(report, "f", 9);
	check_inclusive(report, "g", 5);
	check_inclusive(report, "h", 8);
	check_inclusive(report, "ruby (pid 1), main (tid 1)", 11);
}

static void nothing_is_a_profile_too(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	AUTO_FREE char *text = written("callgrind", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "totals: 0\n");
	profile_free(&p);
}

static void no_memory_is_said(void **state)
{
	(void)state;
	built_export_without_memory("callgrind", (struct export_options){ .threads = true }, 1000);
}

static void names_of_files(void **state)
{
	(void)state;
	static const struct {
		const char *path, *format;
	} cases[] = {
		{ "a/callgrind.out.42", "callgrind" },
		{ "callgrind.out", "callgrind" },
		{ "x.callgrind.out", "callgrind" },
		{ "x.callgrind", "callgrind" },
		{ "x.speedscope.json", "speedscope" },
		{ "x.firefox.json", "firefox" },
		{ "x.json", "json" },
		{ "x.svg", "svg" },
		{ "x.otlp", "otlp" },
		{ "x.pb.gz", "pprof" },
		{ "dir.svg/callgrind.out.svg", "callgrind" },
	};
	for (u32 i = 0; i < COUNT_OF(cases); i++)
		assert_string_equal(exporter_for_path(cases[i].path)->name, cases[i].format);
	assert_null(exporter_for_path("callgrind.out.d/x.unknown"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_and_lines_have_their_costs),
		cmocka_unit_test(nothing_has_a_weight),
		cmocka_unit_test(alike_functions_stay_apart),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(nothing_is_a_profile_too),
		cmocka_unit_test(no_memory_is_said),
		cmocka_unit_test(names_of_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
