/* SPDX-License-Identifier: Apache-2.0
 * sampling.c - the words of commands that sample. */
#include "check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/sampling.h"

static void words_become_a_session(void **state)
{
	(void)state;
	struct sampling sampling = SAMPLING_DEFAULTS;
	struct session_options session = sampling_session(&sampling);

	assert_int_equal(session.run.hz, 99);
	assert_int_equal(session.run.mode, MODE_CPU);
	assert_int_equal(session.run.pause, PAUSE_AUTO);
	assert_true(session.run.children);
	assert_null(session.run.thread_name);
	sampling.no_children = true;
	sampling.thread = "42";
	session = sampling_session(&sampling);
	assert_false(session.run.children);
	assert_int_equal(session.run.tid, 42);
	assert_null(session.run.thread_name);
	sampling.thread = "42nd worker";
	assert_string_equal(sampling_session(&sampling).run.thread_name, "42nd worker");
	sampling.thread = "99999999999"; /* no tid: a name, then */
	assert_string_equal(sampling_session(&sampling).run.thread_name, "99999999999");
}

static void wrong_words_are_said(void **state)
{
	(void)state;
	struct sampling sampling = SAMPLING_DEFAULTS;
	struct err err = { 0 };

	assert_true(sampling_check(&sampling, &err));
	sampling.engine = "steam";
	assert_false(sampling_check(&sampling, &err));
	assert_int_equal(err.code, ERR_USAGE);
	assert_non_null(strstr(err.text, "steam"));
	sampling.engine = sampling_engines(0);
	assert_true(sampling_check(&sampling, &err));
	sampling.pid = (u32)getpid();
	assert_false(sampling_check(&sampling, &err));
	assert_null(sampling_engines(engine_count));
}

static void the_line_says_how(void **state)
{
	(void)state;
	struct sampling sampling = SAMPLING_DEFAULTS;
	char *words[] = { "ruby", "app.rb", NULL };
	struct str line = { 0 };

	sampling_add_line(&line, &sampling, words);
	assert_string_equal(line.text, " -r 99 -- ruby app.rb");
	str_clear(&line);
	sampling.pid = 7;
	sampling_add_line(&line, &sampling, NULL);
	assert_string_equal(line.text, " -r 99 -p 7");
	str_clear(&line);
	sampling = (struct sampling){ .cgroup = "web", .all = true };
	sampling_add_line(&line, &sampling, NULL);
	assert_string_equal(line.text, " --cgroup web");
	str_free(&line);
}

static void exec_fails_as_in_a_shell(void **state)
{
	(void)state;
	char *words[] = { "42", NULL };
	struct err err = { 0 };

	err_sys(&err, ENOENT, "exec");
	assert_int_equal(sampling_exec_failed("record", words, &err), EXIT_NOT_FOUND);
	assert_non_null(strstr(err.text, "-p 42"));
	err_sys(&err, EACCES, "exec");
	err.code = ERR_SYSTEM; /* as spawn has it: no right that sonde lacks */
	assert_int_equal(sampling_exec_failed("record", words, &err), EXIT_NOT_RUNNABLE);
	err_set(&err, ERR_PERMISSION, "no");
	assert_int_equal(sampling_exec_failed("record", words, &err), EXIT_PROFILER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_become_a_session),
		cmocka_unit_test(wrong_words_are_said),
		cmocka_unit_test(the_line_says_how),
		cmocka_unit_test(exec_fails_as_in_a_shell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
