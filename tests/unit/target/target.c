/* SPDX-License-Identifier: Apache-2.0
 * target.c - opening real processes, refusing others, and telling incarnations apart. */
#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>

#include "child.h"

static const char *self; /* argv[0]: a child execs it with IDLE_WORD to be a new image */
#define IDLE_WORD "be-idle"

static void refused(u32 pid, enum err_code code, const char *words)
{
	struct target target;
	struct err err = { 0 };

	assert_false(target_open(&target, pid, &err));
	if (err.code != code || !strstr(err.text, words))
		fail_msg("%d \"%s\" is not %d \"%s\"", err.code, err.text, code, words);
	/* Closed already; closing again does no harm. */
	target_close(&target);
}

/* --- identity ---------------------------------------------------------------------------- */

static const char marker[] = "a string in the image";

static void identity_memory_and_maps(void **state)
{
	struct child child;
	struct target target;
	struct err err = { 0 };
	char exe[4096], copy[sizeof marker];
	(void)state;

	child_start(&child, child_idle);
	child_hear(&child);
	if (!target_open(&target, (u32)child.pid, &err))
		fail_msg("%s", err.text);
	ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
	assert_true(length > 0 && length < 256);
	exe[length] = 0;
	assert_string_equal(target.exe, exe);
	assert_int_equal(target.uid, geteuid());
	assert_int_equal(target.pid, child.pid);
	assert_true(target.start_time > 0);
	assert_true(mem_read(&target.mem.mem, (u64)(uintptr_t)marker, copy, sizeof copy));
	assert_string_equal(copy, marker);

	const struct mapping *mapping = target_mapping_at(&target, (u64)(uintptr_t)&refused);
	assert_non_null(mapping);
	assert_true(mapping->executable && mapping->inode);
	assert_string_equal(mapping_path(&target, mapping), exe);
	assert_null(target_mapping_at(&target, 0));
	assert_null(target_mapping_at(&target, target.maps.all.at[0].start - 1));
	assert_int_equal(target_check(&target), TARGET_SAME);
	target_close(&target);
	child_end(&child);
}

static void what_was_never_opened_closes_nothing(void **state)
{
	struct target target;

	(void)state;
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), first = fcntl(0, F_GETFD);
	target_init(&target, 4711);
	target_close(&target);
	assert_true(fcntl(before, F_GETFD) >= 0);
	assert_int_equal(fcntl(0, F_GETFD), first);
	close(before);
}

static void idle_with_odd_name(struct child *child)
{
	prctl(PR_SET_NAME, "x) R 1 (\n\xff 2");
	child_idle(child);
}

static void a_name_may_hold_anything(void **state)
{
	struct child child;
	struct target target;
	(void)state;

	child_start(&child, idle_with_odd_name);
	child_hear(&child);
	assert_true(target_open(&target, (u32)child.pid, NULL));
	assert_string_equal(target.comm, "x) R 1 (\n\xff 2");
	assert_true(target.start_time > 0);
	assert_int_equal(target_check(&target), TARGET_SAME);
	target_close(&target);
	child_end(&child);
}

static pid_t fork_into_pid_namespace(void)
{
	/* unshare() is for the children of its caller, so there is one between us and the child. */
	return (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void the_inner_pid_is_that_of_the_innermost_namespace(void **state)
{
	struct child child;
	struct target target;
	(void)state;

	if (geteuid() != 0)
		skip();
	child_start_with(&child, child_idle, fork_into_pid_namespace);
	child_hear(&child);
	assert_true(target_open(&target, (u32)child.pid, NULL));
	assert_true(target.nested);
	assert_int_equal(target.inner_pid, 1);
	target_close(&target);
	child_end(&child);
}

/* --- refusals ---------------------------------------------------------------------------- */

static void exit_at_once(struct child *child)
{
	(void)child;
}

static void a_process_that_is_not_there_is_named(void **state)
{
	struct child child;
	(void)state;

	refused(0, ERR_NO_PROCESS, "no process 0");
	refused(UINT32_MAX, ERR_NO_PROCESS, "no process 4294967295");
	child_start(&child, exit_at_once);
	/* Until it is waited for it is a zombie. */
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	refused((u32)child.pid, ERR_NO_PROCESS, "has ended");
	child_reap(&child);
	refused((u32)child.pid, ERR_NO_PROCESS, "no process");
}

static void a_kernel_thread_is_refused(void **state)
{
	char comm[32] = "";
	FILE *file = fopen("/proc/2/comm", "re");
	(void)state;

	if (!file || !fgets(comm, sizeof comm, file) || strcmp(comm, "kthreadd\n") != 0)
		skip(); /* in a pid namespace of our own */
	fclose(file);
	refused(2, ERR_UNSUPPORTED, "(kthreadd) is a kernel thread");
}

static void *say_tid_and_wait(void *arg)
{
	struct child *child = arg;

	child_say_number(child, syscall(SYS_gettid));
	child_wait(child);
	return NULL;
}

static void idle_in_second_thread(struct child *child)
{
	pthread_t thread;

	pthread_create(&thread, NULL, say_tid_and_wait, child);
	pthread_join(thread, NULL);
}

static void a_thread_is_no_process(void **state)
{
	struct child child;
	char words[64];
	(void)state;

	child_start(&child, idle_in_second_thread);
	u32 tid = (u32)child_hear_number(&child);
	snprintf(words, sizeof words, "is a thread of process %d", child.pid);
	refused(tid, ERR_USAGE, words);
	child_end(&child);
}

static void *wait_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void leave_the_second_thread(struct child *child)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_ever, NULL);
	child_say(child, 'r');
	child_wait(child);
	/* The bare system call: pthread_exit() would unwind through the sanitizer's frames. */
	syscall(SYS_exit, 0);
}

static void a_process_without_its_main_thread_is_gone(void **state)
{
	struct child child;
	struct target target;
	struct patience patience = { 0 };
	(void)state;

	child_start(&child, leave_the_second_thread);
	child_hear(&child);
	assert_true(target_open(&target, (u32)child.pid, NULL));
	child_tell(&child);
	while (target_check(&target) == TARGET_SAME)
		wait_a_little(&patience);
	assert_int_equal(target_check(&target), TARGET_GONE);
	target_close(&target);
	refused((u32)child.pid, ERR_UNSUPPORTED, "the memory of the 1 other threads");
	child_end(&child);
}

/* Tries to open the parent's process as a user without rights; says what came of it. */
static void open_parent_as_nobody(struct child *child)
{
	struct target target;
	struct err err = { 0 };

	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		_exit(103);
	bool opened = target_open(&target, (u32)getppid(), &err);
	char report[sizeof err.text + 1] = { opened ? 'y' : 'n' };
	report[0] = opened ? 'y' : err.code == ERR_PERMISSION ? 'p' : 'e';
	memcpy(report + 1, err.text, sizeof err.text);
	if (write(child->to, report, sizeof report) != sizeof report)
		_exit(104);
}

static void a_refusal_names_the_capability(void **state)
{
	struct child child;
	char report[sizeof((struct err *)0)->text + 1];
	(void)state;

	if (geteuid() != 0)
		skip();
	child_start(&child, open_parent_as_nobody);
	child_hear_bytes(&child, report, sizeof report);
	assert_int_equal(report[0], 'p');
	assert_non_null(strstr(report, "CAP_SYS_PTRACE"));
	assert_non_null(strstr(report, "run as root"));
	child_reap(&child);
}

/* --- incarnations ------------------------------------------------------------------------ */

static void exec_twice(struct child *child)
{
	char from[16], to[16];

	snprintf(from, sizeof from, "%d", child->from);
	snprintf(to, sizeof to, "%d", child->to);
	/* The same file at the same addresses with the same arguments each time. */
	personality(ADDR_NO_RANDOMIZE);
	execl(self, self, IDLE_WORD, from, to, (char *)NULL);
	_exit(105);
}

/* The image that main() becomes: says 'r', and execs itself again when it is told to. */
static int be_idle(char *const argv[])
{
	struct child child = { getpid(), atoi(argv[2]), atoi(argv[3]) };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	child_idle(&child);
	execv(self, argv);
	return 105;
}

static void an_exec_of_the_same_file_is_noticed(void **state)
{
	struct child child;
	struct target target;
	(void)state;

	child_start(&child, exec_twice);
	child_hear(&child);
	assert_true(target_open(&target, (u32)child.pid, NULL));
	assert_int_equal(target_check(&target), TARGET_SAME);
	child_tell(&child);
	child_hear(&child);
	assert_int_equal(target_check(&target), TARGET_EXECED);
	target_close(&target);

	assert_true(target_open(&target, (u32)child.pid, NULL));
	assert_int_equal(target_check(&target), TARGET_SAME);
	target_close(&target);
	child_end(&child);
}

static pid_t wanted_pid;

/* A child with a pid of our choice, without touching the machine's counter. */
static pid_t fork_with_pid(void)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (u64)(uintptr_t)&wanted_pid,
		.set_tid_size = 1,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

static void a_reused_pid_is_another_process(void **state)
{
	struct child first, second;
	struct target target;
	u8 byte;
	(void)state;

	if (geteuid() != 0)
		skip();
	child_start(&first, child_idle);
	child_hear(&first);
	assert_true(target_open(&target, (u32)first.pid, NULL));
	wanted_pid = first.pid;
	child_end(&first);
	assert_int_equal(target_check(&target), TARGET_GONE);
	child_start_with(&second, child_idle, fork_with_pid);
	child_hear(&second);
	assert_int_equal(second.pid, first.pid);

	/* The number lives again, the process does not. */
	assert_int_equal(target_check(&target), TARGET_GONE);
	assert_int_equal(target_thread_state(&target, (u32)first.pid), THREAD_GONE);
	struct err err = { 0 };
	assert_false(target_read_maps(&target, &err));
	assert_int_equal(err.code, ERR_NO_PROCESS);
	target_close(&target);

	assert_true(target_open(&target, (u32)second.pid, NULL));
	assert_true(mem_read(&target.mem.mem, (u64)(uintptr_t)marker, &byte, 1));
	target_close(&target);
	child_end(&second);
}

/* One page more, then one less, each when it is told to. */
static void map_and_unmap(struct child *child)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	child_say(child, 'm');
	child_wait(child);
	void *mapped = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	child_say(child, 'm');
	child_wait(child);
	munmap(mapped, page);
	child_say(child, 'm');
	child_idle(child);
}

static void what_is_mapped_is_counted(void **state)
{
	struct child child;
	struct target target;
	(void)state;

	child_start(&child, map_and_unmap);
	child_hear(&child);
	assert_true(target_open(&target, (u32)child.pid, NULL));
	u64 pages = target_mapped_pages(&target);
	assert_true(pages > 0);
	assert_int_equal(target_mapped_pages(&target), pages);
	child_tell(&child);
	child_hear(&child);
	assert_int_equal(target_mapped_pages(&target), pages + 1);
	child_tell(&child);
	child_hear(&child);
	assert_int_equal(target_mapped_pages(&target), pages);
	child_end(&child);
	assert_int_equal(target_mapped_pages(&target), 0);
	target_close(&target);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_mapped_is_counted),
		cmocka_unit_test(identity_memory_and_maps),
		cmocka_unit_test(what_was_never_opened_closes_nothing),
		cmocka_unit_test(a_name_may_hold_anything),
		cmocka_unit_test(the_inner_pid_is_that_of_the_innermost_namespace),
		cmocka_unit_test(a_process_that_is_not_there_is_named),
		cmocka_unit_test(a_kernel_thread_is_refused),
		cmocka_unit_test(a_thread_is_no_process),
		cmocka_unit_test(a_process_without_its_main_thread_is_gone),
		cmocka_unit_test(a_refusal_names_the_capability),
		cmocka_unit_test(an_exec_of_the_same_file_is_noticed),
		cmocka_unit_test(a_reused_pid_is_another_process),
	};

	self = argv[0];
	if (argc == 4 && strcmp(argv[1], IDLE_WORD) == 0)
		return be_idle(argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
