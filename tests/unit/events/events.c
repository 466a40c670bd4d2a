/* SPDX-License-Identifier: Apache-2.0
 * events.c - names of events: exact ones, patterns, ones that are not there, and commands. */
#include "events/events.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "target/target.h"

static const struct event *named(const struct event_list *list, const char *name)
{
	for (u32 i = 0; i < list->all.count; i++)
		if (!strcmp(list->all.at[i].name, name))
			return &list->all.at[i];
	return NULL;
}

static void a_name_is_one_event(void **state)
{
	struct event_list list = { 0 };
	struct err err = { 0 };
	(void)state;

	assert_true(events_add(&list, "syscall:openat", NULL, &err));
	assert_true(events_add(&list, "syscall:openat", NULL, &err)); /* said twice is there once */
	assert_int_equal(list.all.count, 1);
	assert_int_equal(list.all.at[0].syscall, SYS_openat);
	assert_int_equal(list.all.at[0].kind, EVENT_SYSCALL);
	assert_true(events_add(&list, "syscall-exit:openat", NULL, &err));
	assert_int_equal(list.all.count, 2);
	assert_int_equal(list.all.at[1].kind, EVENT_SYSCALL_EXIT);
	events_free(&list);
}

static void a_pattern_is_many(void **state)
{
	struct event_list list = { 0 };
	struct err err = { 0 };
	(void)state;

	assert_true(events_add(&list, "syscall:*", NULL, &err));
	assert_true(list.all.count > 300);
	assert_int_equal(named(&list, "syscall:getpid")->syscall, SYS_getpid);
	events_free(&list);
	assert_true(events_add(&list, "syscall:get?id", NULL, &err));
	assert_non_null(named(&list, "syscall:getpid"));
	assert_non_null(named(&list, "syscall:getuid"));
	assert_null(named(&list, "syscall:getppid"));
	events_free(&list);
}

/* Of this test's own program: the unit tests have symbols. */
__attribute__((noinline)) void function_of_this_test(void);
__attribute__((noinline)) void function_of_this_test(void)
{
	__asm__ volatile("" ::: "memory");
}

static void copy_self(const char *path)
{
	char bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(from >= 0 && to >= 0);
	for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;)
		assert_int_equal(write(to, bytes, (size_t)got), got);
	close(from);
	close(to);
}

static void a_function_is_found_in_its_file(void **state)
{
	struct event_list list = { 0 };
	struct err err = { 0 };
	(void)state;

	assert_true(events_add(&list, "uprobe:/proc/self/exe:function_of_*", NULL, &err));
	assert_int_equal(list.all.count, 1);
	assert_string_equal(list.all.at[0].name, "uprobe:/proc/self/exe:function_of_this_test");
	assert_int_equal(list.sites.count, 1);
	assert_true(list.sites.at[0].offset && list.sites.at[0].file >= 0);
	events_free(&list);
	assert_true(
		events_add(&list, "uprobe:libc:malloc", NULL, &err)); /* by what it may be called */
	events_free(&list);
}

/* A function that the run-time linker chooses, and those among which it does. */
__attribute__((noinline)) int __chosen_here_plain(void);
__attribute__((noinline)) int __chosen_here_plain(void)
{
	return 7;
}
__attribute__((used)) static int (*choose(void))(void)
{
	return __chosen_here_plain;
}
int chosen_here(void) __attribute__((ifunc("choose")));

static void what_is_chosen_is_no_function(void **state)
{
	struct event_list list = { 0 };
	struct err err = { 0 };
	(void)state;

	assert_int_equal(chosen_here(), 7);
	assert_false(events_add(&list, "uprobe:/proc/self/exe:chosen_here", NULL, &err));
	assert_non_null(strstr(err.text, "IFUNC"));
	assert_non_null(strstr(err.text, "__chosen_here_plain"));
	assert_int_equal(list.all.count, 0);
	assert_true(events_add(&list, "uprobe:/proc/self/exe:__chosen_here_*", NULL, &err));
	assert_int_equal(list.all.count, 1);
	events_free(&list);
}

/* glibc has two: memcpy@GLIBC_2.2.5, a function that nothing of today calls, and the one that is chosen. */
static void an_old_version_is_not_taken_for_the_new_one(void **state)
{
	struct event_list list = { 0 };
	struct err err = { 0 };
	(void)state;

	if (!gnu_get_libc_version())
		skip();
	assert_false(events_add(&list, "uprobe:libc:memcpy", NULL, &err));
	assert_non_null(strstr(err.text, "IFUNC"));
	events_free(&list);
}

/* By the file and not by its name: another may have taken its place since. */
static void a_library_is_what_is_mapped(void **state)
{
	char path[64], other[80], word[64];
	struct event_list list = { 0 };
	struct target target;
	struct stat mapped, opened;
	struct err err = { 0 };
	(void)state;

	snprintf(path, sizeof path, "/tmp/libsonde_mapped_%d.so", (int)getpid());
	snprintf(other, sizeof other, "%s.new", path);
	snprintf(word, sizeof word, "uprobe:sonde_mapped_%d:function_of_this_test", (int)getpid());
	copy_self(path);
	copy_self(other);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &mapped) == 0);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(at != MAP_FAILED);
	target_init(&target, 0);
	assert_true(target_open(&target, (u32)getpid(), NULL));
	assert_int_equal(rename(other, path), 0);
	bool may = geteuid() == 0; /* open what has no name any more */
	if (may) {
		assert_true(events_add(&list, word, &target, &err));
		assert_int_equal(list.files.count, 1);
		assert_int_equal(fstat(list.files.at[0], &opened), 0);
		assert_true(opened.st_ino == mapped.st_ino);
	}
	target_close(&target);
	events_free(&list);
	unlink(path);
	munmap(at, 4096);
	close(fd);
	if (!may)
		skip();
}

static void what_is_not_there_is_said(void **state)
{
	static const char *const words[] = {
		"syscall:opnat",     "sycall:openat",
		"uprobe:libc",       "uprobe:libc:no_such_fn",
		"uprobe:/none:main", "uprobe:libno_such:main",
		"syscall:",
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(words); i++) {
		struct event_list list = { 0 };
		struct err err = { 0 };
		assert_false(events_add(&list, words[i], NULL, &err));
		assert_int_equal(err.code, ERR_USAGE);
		assert_true(err.text[0]);
		events_free(&list);
	}
}

static void words_of_a_command_are_no_events(void **state)
{
	static const char *const no[] = { "ruby", "./a:b", "/usr/bin/x", "", ":x", "a b:c" };
	static const char *const yes[] = { "syscall:openat", "sycall:openat",
					   "uprobe:/lib/x.so:f" };
	(void)state;

	for (u32 i = 0; i < COUNT_OF(no); i++)
		assert_false(event_is_name(no[i]));
	for (u32 i = 0; i < COUNT_OF(yes); i++)
		assert_true(event_is_name(yes[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_one_event),
		cmocka_unit_test(a_pattern_is_many),
		cmocka_unit_test(a_function_is_found_in_its_file),
		cmocka_unit_test(what_is_chosen_is_no_function),
		cmocka_unit_test(an_old_version_is_not_taken_for_the_new_one),
		cmocka_unit_test(a_library_is_what_is_mapped),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(words_of_a_command_are_no_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
