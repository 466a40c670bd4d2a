/* SPDX-License-Identifier: Apache-2.0
 * sleeploop.c - what it costs to wake up HZ times a second and do nothing.
 *
 *	sleeploop HZ SECONDS
 *
 * Absolute deadlines with a jitter of half a period each way, as the reader has them. Prints
 *	iterations N cpu_ns N late N
 * CPU time is that of this process while it looped.  A profiler that samples from outside
 * cannot cost less than this; what it costs above it is its own. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13; /* xorshift64, Marsaglia 2003 */
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: sleeploop HZ SECONDS\n");
		return 2;
	}
	uint64_t period = (uint64_t)(1e9 / atof(argv[1]));
	uint64_t random = 88172645463325252u, iterations = 0, late = 0;
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), end = begin + (uint64_t)(atof(argv[2]) * 1e9);
	uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (uint64_t slot = begin; slot < end; slot += period, iterations++) {
		uint64_t due = slot + next_random(&random) % period;
		struct timespec at = { (time_t)(due / 1000000000), (long)(due % 1000000000) };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		late += clock_ns(CLOCK_MONOTONIC) > due + period;
	}
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("iterations %" PRIu64 " cpu_ns %" PRIu64 " late %" PRIu64 "\n", iterations, cpu,
	       late);
	return 0;
}
