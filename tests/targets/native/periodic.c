/* SPDX-License-Identifier: Apache-2.0
 * periodic.c MS - two functions that take turns, each for half of a period of the clock that is exact.
 *
 * Says how much CPU time each had: beside others, whose turns are as exact, it need not be half. */
#include "truth.h"

#include <stdlib.h>

#define APART __attribute__((noinline))

static volatile uint64_t turns;

/* Until this half of a period is over; how much CPU time it took. */
APART static uint64_t spin(uint64_t half_ns)
{
	uint64_t before = truth_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t begin = truth_ns(CLOCK_MONOTONIC), now = begin;

	while (now / half_ns == begin / half_ns && !truth_stop) {
		turns++;
		now = truth_ns(CLOCK_MONOTONIC);
	}
	return truth_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

APART static uint64_t even_half(uint64_t half_ns)
{
	return spin(half_ns) + (turns & 1);
}

APART static uint64_t odd_half(uint64_t half_ns)
{
	return spin(half_ns) + (turns & 2);
}

int main(int argc, char **argv)
{
	uint64_t half_ns = (uint64_t)(argc > 1 ? atof(argv[1]) * 1e6 / 2 : 5e6);
	uint64_t spent[2] = { 0, 0 };

	truth_ready("");
	while (!truth_stop) {
		if (truth_ns(CLOCK_MONOTONIC) / half_ns % 2)
			spent[1] += odd_half(half_ns);
		else
			spent[0] += even_half(half_ns);
	}
	printf("{\"spent_ns\": {\"even_half\": %llu, \"odd_half\": %llu}}\n",
	       (unsigned long long)spent[0], (unsigned long long)spent[1]);
	return 0;
}
