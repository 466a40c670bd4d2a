/* SPDX-License-Identifier: Apache-2.0
 * memory-file.c - what was put in is in it, and nobody who is executed has it. */
#include "check.h"

#include "base/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void it_has_the_bytes(void **state)
{
	int fd = memory_file("test", "some bytes", 10);
	struct stat st;
	char got[16] = "";

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_size, 10);
	assert_int_equal(pread(fd, got, sizeof got, 0), 10);
	assert_string_equal(got, "some bytes");
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void without_a_descriptor_there_is_none(void **state)
{
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int fd = memory_file("test", "some bytes", 10), why = errno;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(why, EMFILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_the_bytes),
		cmocka_unit_test(without_a_descriptor_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
