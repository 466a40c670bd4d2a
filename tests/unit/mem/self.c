/* SPDX-License-Identifier: Apache-2.0
 * self.c - our own memory: holes are failed reads, and a forked child reads its own. */
#include "mem/self.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void a_hole_is_a_failed_read(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	u8 *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	u8 bytes[16];
	(void)state;

	assert_ptr_not_equal(pages, MAP_FAILED);
	memset(pages, 'a', page);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	u64 end = (u64)(uintptr_t)pages + page;
	errno = 1234;
	assert_true(mem_read(&mem_self, end - sizeof bytes, bytes, sizeof bytes));
	assert_memory_equal(bytes, "aaaaaaaaaaaaaaaa", sizeof bytes);
	for (u32 i = 0; i < sizeof bytes; i++)
		assert_false(mem_peek(&mem_self, end - i, bytes, i + 1));
	assert_false(mem_read(&mem_self, 0, bytes, 1));
	assert_false(mem_read(&mem_self, UINT64_MAX, bytes, 1));
	assert_int_equal(errno, 1234); /* whoever was interrupted sees none of it */
	munmap(pages, 2 * page);
}

static volatile int word = 1;

static void a_forked_child_reads_itself(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		u32 seen = 0;
		word = 2;
		bool read = mem_u32(&mem_self, (u64)(uintptr_t)&word, &seen);
		_exit(read && seen == 2 ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hole_is_a_failed_read),
		cmocka_unit_test(a_forked_child_reads_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
