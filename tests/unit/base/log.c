/* SPDX-License-Identifier: Apache-2.0
 * log.c - domains are off until they are asked for. */
#include "base/log.h"
#include "check.h"
#include <string.h>
#include <unistd.h>

#define LOG_DOMAIN LOG_kernel

static int reset(void **state)
{
	(void)state;
	memset(log_level, 0, sizeof log_level);
	return 0;
}

static void a_spec_sets_levels(void **state)
{
	(void)state;

	assert_true(log_configure("kernel:2,target"));
	assert_int_equal(log_level[LOG_kernel], 2);
	assert_int_equal(log_level[LOG_target], 1);
	assert_int_equal(log_level[LOG_reader], 0);
}

static void all_means_every_domain(void **state)
{
	(void)state;

	assert_true(log_configure("all:3"));
	for (u32 i = 0; i < LOG_DOMAIN_COUNT; i++)
		assert_int_equal(log_level[i], 3);
	assert_true(log_configure("all:1,reader:2"));
	assert_int_equal(log_level[LOG_reader], 2);
	assert_int_equal(log_level[LOG_elf], 1);
}

static void unknown_domains_are_told(void **state)
{
	(void)state;

	assert_false(log_configure("kernol"));
	assert_false(log_configure("kern"));
	assert_false(log_configure("kernel:1,,target"));
	assert_true(log_configure(""));
}

/* What a statement writes, through a pipe in place of standard error. */
static size_t captured(char *out, size_t room)
{
	int ends[2], before = dup(STDERR_FILENO);

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	log_debug(1, "one %d", 1);
	log_debug(2, "two");
	dup2(before, STDERR_FILENO);
	close(before);
	close(ends[1]);
	ssize_t n = read(ends[0], out, room - 1);
	close(ends[0]);
	out[n > 0 ? n : 0] = 0;
	return n > 0 ? (size_t)n : 0;
}

static void statements_print_from_their_level_on(void **state)
{
	char text[200];
	(void)state;

	assert_int_equal(captured(text, sizeof text), 0);
	log_configure("kernel");
	captured(text, sizeof text);
	assert_string_equal(text, "sonde: kernel: one 1\n");
	log_configure("kernel:2");
	captured(text, sizeof text);
	assert_string_equal(text, "sonde: kernel: one 1\nsonde: kernel: two\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_spec_sets_levels, reset),
		cmocka_unit_test_setup(all_means_every_domain, reset),
		cmocka_unit_test_setup(unknown_domains_are_told, reset),
		cmocka_unit_test_setup(statements_print_from_their_level_on, reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
