/* SPDX-License-Identifier: Apache-2.0
 * bursts.c - a thread that waits very often for a while, for next to nothing, and then once, for long: by turns.
 *
 * Facts: none.  At the end: spent_ns: {short_waits, long_wait}, by the clock. */
#include "truth.h"

#define APART __attribute__((noinline))

static volatile uint64_t turns;

static void nap(long ns)
{
	struct timespec time = { 0, ns };

	nanosleep(&time, NULL);
}

APART static void short_wait(void)
{
	nap(1);
	turns++;
}

APART static void long_wait(void)
{
	nap(60000000);
	turns++;
}

APART static void short_waits(uint64_t until)
{
	while (truth_ns(CLOCK_MONOTONIC) < until)
		short_wait();
}

int main(void)
{
	uint64_t begin, middle, shorts = 0, longs = 0;

	truth_ready("");
	while (!truth_stop) {
		begin = truth_ns(CLOCK_MONOTONIC);
		short_waits(begin + 30000000);
		middle = truth_ns(CLOCK_MONOTONIC);
		long_wait();
		shorts += middle - begin;
		longs += truth_ns(CLOCK_MONOTONIC) - middle;
	}
	printf("{\"spent_ns\": {\"short_waits\": %llu, \"long_wait\": %llu}}\n",
	       (unsigned long long)shorts, (unsigned long long)longs);
	return 0;
}
