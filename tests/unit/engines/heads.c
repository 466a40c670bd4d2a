/* SPDX-License-Identifier: Apache-2.0
 * heads.c - three threads of one read: of heads that grew, and of a read that ended early. */
#include "engines/reader/heads.h"

#include <string.h>

#include "check.h"

static struct reader_thread thread_with(const char *head, u32 used, u32 spans)
{
	struct reader_thread thread = { .head_used = (u32)strlen(head),
					.bulk_used = used,
					.bulk_spans = spans };

	memcpy(thread.head, head, thread.head_used);
	return thread;
}

static void a_head_that_grew_is_another(void **state)
{
	struct reader_thread thread = thread_with("abcd", 8, 2);
	u32 left = 5;

	(void)state;
	assert_int_equal(heads_compare(&thread, (const u8 *)"abcdefgh", &left), HEADS_OTHER);
	assert_int_equal(left, 3);
	assert_int_equal(thread.head_used, 8);
	left = 5;
	assert_int_equal(heads_compare(&thread, (const u8 *)"abcdefgh", &left), HEADS_SAME);
	left = 5;
	assert_int_equal(heads_compare(&thread, (const u8 *)"abcdefgX", &left), HEADS_OTHER);
	assert_memory_equal(thread.head, "abcdefgX", 8);
}

static void what_was_not_read_is_not_compared(void **state)
{
	struct reader_thread first = thread_with("abcd", 4, 1), second = thread_with("abcd", 4, 2),
			     third = thread_with("abcd", 4, 1);
	u32 left = 2; /* of four: the second thread's second span could not be read */

	(void)state;
	assert_int_equal(heads_compare(&first, (const u8 *)"abcd", &left), HEADS_SAME);
	assert_int_equal(heads_compare(&second, (const u8 *)"abcd", &left), HEADS_UNREAD);
	assert_int_equal(second.head_used, 0);
	assert_int_equal(heads_compare(&third, (const u8 *)"abcd", &left), HEADS_UNREAD);
	/* nor one without a head */
	struct reader_thread none = thread_with("abcd", 0, 0);
	left = 3;
	assert_int_equal(heads_compare(&none, (const u8 *)"abcd", &left), HEADS_UNREAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_head_that_grew_is_another),
		cmocka_unit_test(what_was_not_read_is_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
