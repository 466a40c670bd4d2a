/* SPDX-License-Identifier: Apache-2.0
 * live.c - reading a forked child, whose addresses are ours: spans, holes, refusals. */
#include "mem/live.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096, PAGES = 4 };

/* Two pages, a hole, and one more; the same in us and in the child. */
static u8 *pages;
static pid_t child;

static int start_child(void **state)
{
	(void)state;
	pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (pages == MAP_FAILED)
		return -1;
	for (u32 i = 0; i < PAGES * PAGE; i++)
		pages[i] = (u8)(i * 7 + i / PAGE);
	if (munmap(pages + 2 * PAGE, PAGE))
		return -1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return child > 0 ? 0 : -1;
}

static int end_child(void **state)
{
	(void)state;
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return munmap(pages, PAGES * PAGE);
}

static u64 at(u32 offset)
{
	return (u64)(uintptr_t)pages + offset;
}

/* --- spans ------------------------------------------------------------------------------- */

static void one_read(void **state)
{
	struct mem_live live;
	u8 bytes[64];
	u64 word;
	(void)state;

	mem_live_init(&live, (u32)child);
	assert_true(mem_read(&live.mem, at(100), bytes, sizeof bytes));
	assert_memory_equal(bytes, pages + 100, sizeof bytes);
	assert_true(mem_u64(&live.mem, at(8), &word));
	assert_memory_equal(&word, pages + 8, 8);
	assert_true(mem_peek(&live.mem, at(0), bytes, 1));
	assert_int_equal(live.calls, 3);
	assert_false(mem_read(&live.mem, 0, bytes, 1));
	assert_false(mem_read(&live.mem, UINT64_MAX - 3, bytes, 8));
	assert_false(mem_read(&live.mem, at(2 * PAGE - 1), bytes, 2)); /* half of it is there */
	mem_live_fini(&live);
}

/* Without the vectored call each span is a system call, and the answers are the same. */
static void check_spans(struct mem_live *live, bool vectored)
{
	u8 bytes[3][32];
	const struct mem_span whole[] = {
		{ at(0), bytes[0], 32 },
		{ at(PAGE - 16), bytes[1], 32 },
		{ at(3 * PAGE), bytes[2], 32 },
	};
	u64 before = live->calls;

	assert_int_equal(mem_live_readv(live, whole, 3), 3);
	assert_int_equal(live->calls - before, vectored ? 1 : 3);
	assert_memory_equal(bytes[0], pages, 32);
	assert_memory_equal(bytes[1], pages + PAGE - 16, 32);
	assert_memory_equal(bytes[2], pages + 3 * PAGE, 32);

	const u32 holes[] = { 2 * PAGE, 2 * PAGE - 16, 3 * PAGE - 1 };
	for (u32 i = 0; i < COUNT_OF(holes); i++) {
		struct mem_span spans[3];
		memcpy(spans, whole, sizeof spans);
		spans[1].addr = at(holes[i]);
		memset(bytes, 0, sizeof bytes);
		errno = 0;
		assert_int_equal(mem_live_readv(live, spans, 3), 1);
		assert_int_equal(errno, EFAULT);
		assert_memory_equal(bytes[0], pages, 32);
		spans[0].addr = at(holes[i]);
		assert_int_equal(mem_live_readv(live, spans, 3), 0);
		assert_int_equal(errno, EFAULT);
	}
	assert_int_equal(mem_live_readv(live, whole, 0), 0);
}

static void spans_are_read_until_the_first_hole(void **state)
{
	struct mem_live live;
	(void)state;

	mem_live_init(&live, (u32)child);
	check_spans(&live, true);
	mem_live_fini(&live);
}

static void more_spans_than_one_call_takes(void **state)
{
	enum { SPANS = 2500 };
	static struct mem_span spans[SPANS];
	static u8 bytes[SPANS];
	struct mem_live live;
	(void)state;

	mem_live_init(&live, (u32)child);
	for (u32 i = 0; i < SPANS; i++)
		spans[i] = (struct mem_span){ at(i), &bytes[i], 1 };
	assert_int_equal(mem_live_readv(&live, spans, SPANS), SPANS);
	assert_int_equal(live.calls, 3); /* 1,024 each */
	assert_memory_equal(bytes, pages, SPANS);
	spans[2000].addr = at(2 * PAGE);
	assert_int_equal(mem_live_readv(&live, spans, SPANS), 2000);
	assert_int_equal(errno, EFAULT);
	mem_live_fini(&live);
}

/* --- refusals ---------------------------------------------------------------------------- */

/* Runs `fn` in a process of its own, because a seccomp filter or a lost right is for ever; it says
 * nothing when all is well, else which check failed. */
static void in_another_process(const char *(*fn)(void))
{
	char report[512] = "";
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		const char *failed = fn();
		if (failed && write(ends[1], failed, strlen(failed)) < 0)
			_exit(2);
		_exit(failed ? 1 : 0);
	}
	close(ends[1]);
	ssize_t length = read(ends[0], report, sizeof report - 1);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(ends[0]);
	if (length > 0 || status)
		fail_msg("%s", report);
}

/* As the seccomp filters of old container runtimes answer. */
static bool refuse_process_vm_readv(u32 errnum)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT_OF(filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static u32 refusal;

static const char *read_by_file(void)
{
	static u8 bytes[2][32];
	struct mem_live live;
	u8 byte;

	mem_live_init(&live, (u32)child);
	if (!refuse_process_vm_readv(refusal))
		return "no seccomp";
	const struct mem_span spans[] = { { at(0), bytes[0], 32 },
					  { at(2 * PAGE - 16), bytes[1], 32 } };
	if (mem_live_readv(&live, spans, 2) != 1 || errno != EFAULT)
		return "a hole by file";
	if (memcmp(bytes[0], pages, 32) != 0)
		return "other bytes by file";
	if (live.mem_fd < 0 || live.calls != 3)
		return "the refusal was not remembered as one call";
	if (mem_read(&live.mem, UINT64_MAX, &byte, 1) || errno != EFAULT)
		return "an address that is no file offset";
	kill(child, SIGKILL);
	while (mem_read(&live.mem, at(0), &byte, 1))
		;
	if (errno != ESRCH)
		return "the end of the process by file";
	mem_live_fini(&live);
	return NULL;
}

static void where_it_is_refused_the_file_is_read(void **state)
{
	static const u32 errnums[] = { EPERM, ENOSYS };

	for (u32 i = 0; i < COUNT_OF(errnums); i++) {
		refusal = errnums[i];
		in_another_process(read_by_file);
		end_child(state);
		assert_int_equal(start_child(state), 0);
	}
}

/* The same answers from both, seen from one process: the file is forced. */
static void the_file_answers_alike(void **state)
{
	struct mem_live live;
	u8 byte;
	(void)state;

	mem_live_init(&live, (u32)child);
	char path[32];
	snprintf(path, sizeof path, "/proc/%d/mem", child);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	live.mem_fd = dup(fileno(file));
	fclose(file);
	check_spans(&live, false);
	assert_false(mem_read(&live.mem, UINT64_MAX - 4096, &byte, 1));
	mem_live_fini(&live);
	assert_int_equal(live.mem_fd, -1);
}

static const char *be_refused(void)
{
	static struct err err;
	struct mem_live live;

	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return "cannot become nobody";
	mem_live_init(&live, (u32)child);
	if (mem_live_probe(&live, at(0), &err))
		return "nobody may read";
	if (err.code != ERR_PERMISSION || !strstr(err.text, "CAP_SYS_PTRACE") ||
	    !strstr(err.text, "belongs to user 0"))
		return err.text;
	return NULL;
}

static void a_refusal_says_what_is_missing(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	in_another_process(be_refused);
}

static void a_probe_says_why_not(void **state)
{
	struct mem_live live;
	struct err err = { 0 };
	(void)state;

	mem_live_init(&live, (u32)child);
	assert_true(mem_live_probe(&live, at(0), &err));
	assert_false(mem_live_probe(&live, at(2 * PAGE), &err));
	assert_int_equal(err.code, ERR_BAD_DATA);
	assert_non_null(strstr(err.text, "nothing is mapped"));
	mem_live_fini(&live);

	pid_t gone = fork();
	if (gone == 0)
		_exit(0);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	mem_live_init(&live, (u32)gone);
	assert_false(mem_live_probe(&live, at(0), &err));
	assert_int_equal(err.code, ERR_NO_PROCESS);
	mem_live_fini(&live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_read),
		cmocka_unit_test(spans_are_read_until_the_first_hole),
		cmocka_unit_test(more_spans_than_one_call_takes),
		cmocka_unit_test(the_file_answers_alike),
		cmocka_unit_test(where_it_is_refused_the_file_is_read),
		cmocka_unit_test(a_refusal_says_what_is_missing),
		cmocka_unit_test(a_probe_says_why_not),
	};
	return cmocka_run_group_tests(tests, start_child, end_child);
}
