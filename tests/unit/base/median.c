/* SPDX-License-Identifier: Apache-2.0
 * median.c - the estimate goes where half of the values are, and follows them. */
#include "base/median.h"
#include "base/rng.h"
#include "check.h"

static void half_of_the_values_lie_above(void **state)
{
	struct median median = { 50, 0 };
	struct rng rng = { 3 };
	u32 above = 0;
	(void)state;

	/* nine of ten below 2,000, the tenth far away: a mean would be there */
	for (u32 i = 0; i < 100000; i++) {
		u64 value = i % 10 ? rng_below(&rng, 2000) : 1000000;
		median_learn(&median, value);
		above += value > median.value;
	}
	assert_in_range(above, 47000, 53000);
	assert_in_range(median.value, 900, 1350);
}

static void it_follows_and_keeps_to_its_least(void **state)
{
	struct median median = { 100, 40 };
	(void)state;

	for (u32 i = 0; i < 50; i++)
		median_learn(&median, 1000);
	assert_in_range(median.value, 900, 1060);
	for (u32 i = 0; i < 100; i++)
		median_learn(&median, 0);
	assert_in_range(median.value, 40, 43);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_of_the_values_lie_above),
		cmocka_unit_test(it_follows_and_keeps_to_its_least),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
