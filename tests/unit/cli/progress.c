/* SPDX-License-Identifier: Apache-2.0
 * progress.c - the ledger in one line says what the ledger says. */
#include "cli/progress.h"

#include <string.h>
#include "base/clock.h"
#include "check.h"

static const struct quality steady = {
	.expected = 1238,
	.taken = 1236,
	.lost = { .late = 2 },
	.samples = 1234,
	.moving = 5,
	.threads = 3,
	.processes = 1,
	.begin_ns = NS_PER_S,
	.end_ns = NS_PER_S + 12500 * NS_PER_MS,
	.own_cpu_ns = 37500 * NS_PER_US,
};

static void progress_line(void **state)
{
	struct str line = { 0 };
	(void)state;

	progress_format(&steady, 99, &line);
	assert_string_equal(line.text, "12.5 s  1,234 samples  98.8 Hz  3 threads  2 lost  "
				       "0.4 % moving  own CPU 0.3 %");
	str_free(&line);
}

static void last_line_names_the_causes(void **state)
{
	struct quality q = steady;
	struct str line = { 0 };
	(void)state;

	progress_summarize(&q, 99, &line);
	assert_string_equal(line.text, "1,234 samples in 12.5 s at 98.8 Hz, 3 threads; 2 lost "
				       "(2 late), 0.4 % moving; sonde used 0.3 % of a core");
	q.lost.late = 0;
	q.threads = q.samples = 1;
	q.moving = 0;
	str_clear(&line);
	progress_summarize(&q, 99, &line);
	assert_string_equal(line.text, "1 sample in 12.5 s at 98.8 Hz, 1 thread; 0 lost, "
				       "0.0 % moving; sonde used 0.3 % of a core");
	q.lost.late = 1000;
	q.lost.gone = 1;
	q.processes = 2;
	q.truncated = 7;
	q.unnamed = 1;
	str_clear(&line);
	progress_summarize(&q, 99, &line);
	assert_string_equal(line.text,
			    "1 sample in 12.5 s at 98.8 Hz, 1 thread of 2 processes; "
			    "1,001 lost (1,000 late, 1 gone), 0.0 % moving, 7 truncated, "
			    "1 frame unnamed; sonde used 0.3 % of a core");
	q.unnamed = q.truncated = 0;
	q.cpu_unshared_ns = 240 * NS_PER_MS; /* less than a fiftieth of the time */
	q.cpu_estimated_ns = 310 * NS_PER_MS;
	str_clear(&line);
	progress_summarize(&q, 99, &line);
	assert_non_null(strstr(line.text, "0.0 % moving, 0.3 s of CPU time estimated; sonde"));
	q.attach_cpu_ns = 410 * NS_PER_MS;
	str_clear(&line);
	progress_summarize(&q, 99, &line);
	assert_non_null(strstr(line.text, "; sonde used 0.3 % of a core and 0.4 s to attach"));
	str_free(&line);
}

static void before_the_first_sample_nothing_is_divided(void **state)
{
	static const struct quality nothing = { .processes = 2 };
	struct str line = { 0 };
	(void)state;

	progress_format(&nothing, 99, &line);
	assert_string_equal(line.text, "0.0 s  0 samples  0.0 Hz  0 threads  0 lost  0.0 % moving  "
				       "own CPU 0.0 %");
	str_free(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(progress_line),
		cmocka_unit_test(last_line_names_the_causes),
		cmocka_unit_test(before_the_first_sample_nothing_is_divided),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
