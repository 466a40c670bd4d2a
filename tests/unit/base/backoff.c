/* SPDX-License-Identifier: Apache-2.0
 * backoff.c - waits double up to their limit, and begin anew. */
#include "base/backoff.h"
#include "check.h"

static void each_wait_is_twice_the_last(void **state)
{
	struct backoff backoff = { 0 };
	u64 now = 1000;

	(void)state;
	assert_true(backoff_is_due(&backoff, 0));
	for (u64 wait = 10; wait <= 80; wait *= 2) {
		backoff_miss(&backoff, now, 10, 80);
		assert_false(backoff_is_due(&backoff, now + wait - 1));
		assert_true(backoff_is_due(&backoff, now + wait));
		now += wait;
	}
	backoff_miss(&backoff, now, 10, 80);
	assert_int_equal(backoff.next_ns, now + 80);
}

static void a_limit_that_is_no_multiple_is_reached_and_kept(void **state)
{
	struct backoff backoff = { 0 };

	(void)state;
	for (u32 i = 0; i < 70; i++)
		backoff_miss(&backoff, 0, 3, 100);
	assert_int_equal(backoff.wait_ns, 100);
	/* limits may change with what is known: the shorter one counts at once */
	backoff_miss(&backoff, 0, 3, 20);
	assert_int_equal(backoff.wait_ns, 20);
}

static void after_a_reset_it_is_due_and_short_again(void **state)
{
	struct backoff backoff = { 0 };

	(void)state;
	for (u32 i = 0; i < 5; i++)
		backoff_miss(&backoff, 100, 1, 1000);
	backoff_reset(&backoff);
	assert_true(backoff_is_due(&backoff, 0));
	backoff_miss(&backoff, 100, 1, 1000);
	assert_int_equal(backoff.next_ns, 101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wait_is_twice_the_last),
		cmocka_unit_test(a_limit_that_is_no_multiple_is_reached_and_kept),
		cmocka_unit_test(after_a_reset_it_is_due_and_short_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
