/* SPDX-License-Identifier: Apache-2.0
 * events.c - names of events: exact ones, patterns, ones that are not there, and commands. */
#include "events/events.h"

#include <string.h>
#include <sys/syscall.h>

#include "check.h"

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
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(words_of_a_command_are_no_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
