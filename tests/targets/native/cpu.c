/* SPDX-License-Identifier: Apache-2.0
 * cpu.c THREADS - threads that run, every second one only for a millisecond at a time, and one that sleeps. */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static volatile uint64_t turns;

APART static void *runs(void *unused)
{
	(void)unused;
	while (!truth_stop)
		turns++;
	return NULL;
}

APART static void *naps(void *unused)
{
	(void)unused;
	while (!truth_stop) {
		uint64_t until = truth_ns(CLOCK_THREAD_CPUTIME_ID) + 1000000;
		while (truth_ns(CLOCK_THREAD_CPUTIME_ID) < until)
			turns++;
		usleep(2000);
	}
	return NULL;
}

APART static void *sleeps(void *unused)
{
	(void)unused;
	while (!truth_stop)
		usleep(100000);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[64], sleeper;

	if (count < 1 || count > 64)
		return 2;
	pthread_create(&sleeper, NULL, sleeps, NULL);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, i % 2 ? naps : runs, NULL);
	truth_ready("");
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_join(sleeper, NULL);
	printf("{\"cpu_ns\": %llu}\n", (unsigned long long)truth_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
