/* SPDX-License-Identifier: Apache-2.0
 * rng.c - the published sequence, and bounds that hold. */
#include "base/rng.h"
#include "check.h"

/* The first outputs of splitmix64 from seed 1234567, as its reference implementation gives them
 * (prng.di.unimi.it/splitmix64.c). */
static void the_published_sequence(void **state)
{
	static const u64 want[] = { 6457827717110365317u, 3203168211198807973u,
				    9817491932198370423u, 4593380528125082431u,
				    16408922859458223821u };
	struct rng rng = { 1234567 };
	(void)state;

	for (u32 i = 0; i < COUNT_OF(want); i++)
		assert_true(rng_u64(&rng) == want[i]);
}

static void below_stays_below_and_reaches_everything(void **state)
{
	struct rng rng = { 42 };
	u32 seen[7] = { 0 };
	(void)state;

	for (u32 i = 0; i < 70000; i++) {
		u64 n = rng_below(&rng, COUNT_OF(seen));
		assert_true(n < COUNT_OF(seen));
		seen[n]++;
	}
	/* 10,000 each; the standard deviation is 93. */
	for (u32 i = 0; i < COUNT_OF(seen); i++)
		assert_in_range(seen[i], 9500, 10500);
	for (u32 i = 0; i < 1000; i++) {
		assert_true(rng_below(&rng, 1) == 0);
		assert_true(rng_below(&rng, UINT64_MAX) < UINT64_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_sequence),
		cmocka_unit_test(below_stays_below_and_reaches_everything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
