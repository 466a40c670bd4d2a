/* SPDX-License-Identifier: Apache-2.0
 * follow.c - code of a few instructions, and how it gives its frame back. */
#include "unit/memory.h"

#include "unwind/follow.h"

#include <string.h>

enum { BASE = 0x10000, SIZE = 0x1000, AT = BASE + 0x100 };

static struct memory world;
static struct unwind_follower *follower;

static int begin(void **state)
{
	(void)state;
	memory_init(&world, BASE, SIZE);
	memset(world.bytes, 0xcc, SIZE); /* int3 */
	return 0;
}

static int end(void **state)
{
	(void)state;
	unwind_follower_free(follower);
	follower = NULL;
	free(world.bytes);
	return 0;
}

static const struct unwind_followed *follow(u64 at, const char *code, size_t bytes)
{
	memcpy(world.bytes + (at - BASE), code, bytes);
	return unwind_follow(&follower, &world.mem, at);
}

#define FOLLOW(code) follow(AT, code, sizeof(code) - 1)

static void a_frame_is_given_back(void **state)
{
	/* add $0xa0, %rsp; pop %rbp; pop %rbx; ret */
	const struct unwind_followed *found = FOLLOW("\x48\x81\xc4\xa0\x00\x00\x00\x5d\x5b\xc3");

	(void)state;
	assert_non_null(found);
	assert_false(found->from_fp);
	assert_int_equal(found->up, 0xa0 + 16);
	assert_int_equal(found->saved[UNWIND_FP], 0xa0 + 1);
	assert_int_equal(found->saved[3], 0xa8 + 1);
	assert_int_equal(found->saved[12], 0);
}

static void calls_are_passed_and_jumps_taken(void **state)
{
	/* push %rax; call *%rax; pop %rcx; jmp over int3; add $8, %rsp; jmp *%rax */
	const struct unwind_followed *found = FOLLOW(
		"\x50\xff\xd0\x59\xeb\x01\xcc\x48\x83\xc4\x08\xff\xe0");

	(void)state;
	assert_non_null(found);
	assert_int_equal(found->up, 8);
	assert_int_equal(found->saved[UNWIND_FP], 0);
}

static void the_way_out_of_a_loop_is_found(void **state)
{
	/* 0: test %eax, %eax; je 6; jmp 0; 6: add $0x18, %rsp; ret */
	const struct unwind_followed *found = FOLLOW(
		"\x85\xc0\x74\x02\xeb\xfa\x48\x83\xc4\x18\xc3");

	(void)state;
	assert_non_null(found);
	assert_int_equal(found->up, 0x18);
}

static void a_frame_can_hang_on_its_pointer(void **state)
{
	/* pop %rbx, which says nothing any more; lea -8(%rbp), %rsp; pop %r12; pop %rbp; ret */
	const struct unwind_followed *found = FOLLOW("\x5b\x48\x8d\x65\xf8\x41\x5c\x5d\xc3");

	(void)state;
	assert_non_null(found);
	assert_true(found->from_fp);
	assert_int_equal(found->up, 8);
	assert_int_equal(found->saved[3], 0);
	/* what lies in front of the frame pointer has no place */
	assert_int_equal(found->saved[UNWIND_FP], 1);
	found = follow(AT + 64, "\xc9\xc3", 2); /* leave; ret */
	assert_non_null(found);
	assert_true(found->from_fp);
	assert_int_equal(found->up, 8);
	assert_int_equal(found->saved[UNWIND_FP], 1);
}

static void a_function_that_begins_has_its_own_pointer(void **state)
{
	/* push %rbp; mov %rsp, %rbp; sub $0x40, %rsp; leave; ret */
	const struct unwind_followed *found = FOLLOW("\x55\x48\x89\xe5\x48\x83\xec\x40\xc9\xc3");

	(void)state;
	assert_non_null(found);
	assert_false(found->from_fp);
	assert_int_equal(found->up, 0);
}

static void what_does_not_come_back_leads_nowhere(void **state)
{
	(void)state;
	assert_null(FOLLOW("\x48\x83\xc4\x08\x0f\x0b"));      /* ud2 */
	assert_null(follow(AT + 64, "\xeb\xfe", 2));          /* jmp itself */
	assert_null(follow(AT + 128, "\x48\x89\xc4\xc3", 4)); /* mov %rax, %rsp; ret */
	assert_null(follow(AT + 192, "\x48\x81\xc4\x00\x00\x00\x40\xc3", 8));     /* 1 GiB */
	assert_null(follow(AT + 256, "\x48\x8b\x2d\x00\x00\x00\x00\xc9\xc3", 9)); /* rbp is lost */
	assert_null(unwind_follow(&follower, &world.mem, BASE + SIZE - 4));
}

static void other_code_is_followed_anew(void **state)
{
	(void)state;
	assert_int_equal(FOLLOW("\x48\x83\xc4\x08\xc3")->up, 8);
	assert_int_equal(FOLLOW("\x48\x83\xc4\x18\xc3")->up, 0x18);
}

static void code_may_end_with_its_page(void **state)
{
	const struct unwind_followed *found = follow(
		BASE + SIZE - 16,
		"\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x48\x83\xc4\x20\xc3", 16);

	(void)state;
	assert_non_null(found);
	assert_int_equal(found->up, 0x20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_frame_is_given_back, begin, end),
		cmocka_unit_test_setup_teardown(calls_are_passed_and_jumps_taken, begin, end),
		cmocka_unit_test_setup_teardown(the_way_out_of_a_loop_is_found, begin, end),
		cmocka_unit_test_setup_teardown(a_frame_can_hang_on_its_pointer, begin, end),
		cmocka_unit_test_setup_teardown(a_function_that_begins_has_its_own_pointer, begin,
						end),
		cmocka_unit_test_setup_teardown(what_does_not_come_back_leads_nowhere, begin, end),
		cmocka_unit_test_setup_teardown(other_code_is_followed_anew, begin, end),
		cmocka_unit_test_setup_teardown(code_may_end_with_its_page, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
