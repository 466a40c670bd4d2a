/* SPDX-License-Identifier: Apache-2.0
 * many.c THREADS - so many threads that sleep, and one that works. */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static volatile uint64_t turns;
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;

APART static void *sleeps(void *unused)
{
	pthread_mutex_lock(&never);
	return unused;
}

APART static void works(void)
{
	while (!truth_stop)
		turns++;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1, made = 0;
	pthread_attr_t small;
	pthread_t thread;
	char facts[64];

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 32 << 10);
	pthread_mutex_lock(&never);
	while (made < count && pthread_create(&thread, &small, sleeps, NULL) == 0)
		made++;
	snprintf(facts, sizeof facts, ", \"threads\": %d", made);
	truth_ready(facts);
	works();
	_exit(0);
}
