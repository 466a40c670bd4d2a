/* SPDX-License-Identifier: Apache-2.0
 * cleanup.c - a handle is closed at the end of its scope, unless it was taken. */
#include "base/cleanup.h"
#include "check.h"
#include <fcntl.h>

static int is_open(int fd)
{
	return fcntl(fd, F_GETFD) != -1;
}

static void the_end_of_the_scope_closes(void **state)
{
	int number;
	(void)state;

	{
		AUTO_CLOSE int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		number = fd;
		assert_true(is_open(number));
	}
	assert_false(is_open(number));
}

static void a_taken_descriptor_stays_open(void **state)
{
	int taken;
	(void)state;

	{
		AUTO_CLOSE int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		taken = take_fd(&fd);
		assert_int_equal(fd, -1);
	}
	assert_true(is_open(taken));
	close(taken);
}

static void nothing_open_is_nothing_to_close(void **state)
{
	(void)state;

	{
		AUTO_CLOSE int fd = -1;
		AUTO_FREE char *text = NULL;
		AUTO_FCLOSE FILE *file = NULL;
		assert_int_equal(fd, -1);
		assert_null(text);
		assert_null(file);
	}
	assert_true(is_open(STDOUT_FILENO));
}

static void files_are_closed_too(void **state)
{
	int number;
	(void)state;

	{
		AUTO_FCLOSE FILE *file = fopen("/dev/null", "re");
		assert_non_null(file);
		number = fileno(file);
	}
	assert_false(is_open(number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_the_scope_closes),
		cmocka_unit_test(a_taken_descriptor_stays_open),
		cmocka_unit_test(nothing_open_is_nothing_to_close),
		cmocka_unit_test(files_are_closed_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
