/* SPDX-License-Identifier: Apache-2.0
 * inlined.c - functions that are put into their callers, and on which lines they are. */
#include "truth.h"

#define APART __attribute__((noinline))
#define INSIDE static inline __attribute__((always_inline))

static volatile uint64_t turns;

enum { INNERMOST_FIRST = __LINE__ + 3 };
INSIDE uint64_t innermost(uint64_t seed)
{
	for (int i = 0; i < 1000; i++)
		seed = seed * 6364136223846793005u + (seed >> 7 ^ 1442695040888963407u);
	return seed;
}
enum { INNERMOST_LAST = __LINE__ - 2 };

INSIDE uint64_t middle(uint64_t seed)
{
	return innermost(seed) ^ 1;
}
enum { MIDDLE_CALLS = __LINE__ - 2 };

/* static: a stripped file has no name for it */
APART static void outer(void)
{
	uint64_t seed = turns;

	while (!truth_stop)
		seed = middle(seed);
	turns = seed;
}
enum { OUTER_CALLS = __LINE__ - 3 };

APART static void around(void)
{
	outer();
	turns++;
}
enum { AROUND_CALLS = __LINE__ - 3 };

int main(void)
{
	char facts[200];

	snprintf(
		facts, sizeof facts,
		", \"lines\": {\"innermost\": [%d, %d], \"middle\": [%d, %d], \"outer\": [%d, %d], \"around\": [%d, %d]}",
		INNERMOST_FIRST, INNERMOST_LAST, MIDDLE_CALLS, MIDDLE_CALLS, OUTER_CALLS,
		OUTER_CALLS, AROUND_CALLS, AROUND_CALLS);
	truth_ready(facts);
	around();
	printf("{}\n");
	return 0;
}
