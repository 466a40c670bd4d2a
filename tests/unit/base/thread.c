/* SPDX-License-Identifier: Apache-2.0
 * thread.c - a slice is set, told and given back, and nothing else of the thread changes. */
#include "base/thread.h"
#include "base/clock.h"
#include "check.h"

#include <sys/resource.h>

static const u64 SHORT_NS = 100 * NS_PER_US, LONGER_NS = 300 * NS_PER_US;

static void a_slice_is_set_and_given_back(void **state)
{
	(void)state;
	u64 was = thread_set_slice_ns(SHORT_NS);
	if (!was)
		skip(); /* a kernel older than 6.12 */
	assert_int_equal(thread_set_slice_ns(LONGER_NS), SHORT_NS);
	assert_int_equal(thread_set_slice_ns(0), 0);
	assert_int_equal(thread_set_slice_ns(was), LONGER_NS);
	assert_int_equal(thread_set_slice_ns(was), was);
}

static void its_nice_value_stays(void **state)
{
	(void)state;
	assert_int_equal(setpriority(PRIO_PROCESS, 0, 7), 0);
	thread_set_slice_ns(SHORT_NS);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), 7);
}

static void one_without_slices_is_left_alone(void **state)
{
	struct sched_param none = { 0 };

	(void)state;
	assert_int_equal(sched_setscheduler(0, SCHED_IDLE, &none), 0);
	assert_int_equal(thread_set_slice_ns(SHORT_NS), 0);
	assert_int_equal(sched_getscheduler(0), SCHED_IDLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slice_is_set_and_given_back),
		cmocka_unit_test(its_nice_value_stays),
		cmocka_unit_test(one_without_slices_is_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
