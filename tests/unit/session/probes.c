/* SPDX-License-Identifier: Apache-2.0
 * probes.c - every probe answers, says what it saw, and leaves nothing behind. */
#include "session/probes.h"
#include "check.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static u32 count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	u32 count = 0;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static const struct probe *probe_named(const char *name)
{
	for (u32 i = 0; i < probe_count; i++)
		if (!strcmp(probes[i].name, name))
			return &probes[i];
	fail();
	return NULL;
}

static void each_answers_and_tidies_up(void **state)
{
	(void)state;
	for (u32 i = 0; i < probe_count; i++) {
		struct probe_result result = { .outcome = 99 };
		u32 before = count_descriptors();

		probes[i].run(&result);
		assert_true(result.outcome <= PROBE_FACT);
		assert_true(result.found[0]);
		assert_true(probes[i].title[0]);
		/* What can be missing is needed for something, and can be had. */
		assert_true(result.outcome == PROBE_FACT ||
			    (probes[i].needed_for[0] && probes[i].grant[0]));
		assert_int_equal(count_descriptors(), before);
		for (u32 k = 0; k < i; k++)
			assert_string_not_equal(probes[i].name, probes[k].name);
	}
	/* Orphans come to us, so that they can be waited for: none stays. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_int_equal(errno, ECHILD);
}

/* The kernel's rule for memory is the same for reading and for stopping. */
static void reading_and_stopping_agree(void **state)
{
	struct probe_result read_child, read_own, stop;
	(void)state;

	probe_named("read-child")->run(&read_child);
	probe_named("read-own")->run(&read_own);
	probe_named("ptrace")->run(&stop);
	assert_int_equal(read_own.outcome, stop.outcome);
	assert_true(read_child.outcome == PROBE_YES || read_own.outcome == PROBE_NO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answers_and_tidies_up),
		cmocka_unit_test(reading_and_stopping_agree),
	};

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
