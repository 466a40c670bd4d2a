/* SPDX-License-Identifier: Apache-2.0
 * offcpu.c - threads that sleep, wait for a lock, wait for bytes and sleep for good, beside two that compute.
 *
 * Facts: as those of ../ruby/offcpu.rb. */
#include "truth.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define APART __attribute__((noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int bytes[2], stop_bytes[2];
static volatile uint64_t turns;

static void nap(long ms)
{
	struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

APART static void naps(void)
{
	nap(3);
	turns++;
}

APART static void takes(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	turns++;
}

/* On a CPU, and waiting for one. */
static uint64_t busy_ns(void)
{
	unsigned long long on = 0, waiting = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");

	if (file && fscanf(file, "%llu %llu", &on, &waiting) != 2)
		on = waiting = 0;
	if (file)
		fclose(file);
	return on + waiting;
}

static uint64_t off_since(uint64_t wall, uint64_t busy)
{
	return truth_ns(CLOCK_MONOTONIC) - wall - (busy_ns() - busy);
}

static uint64_t locks_ns;

/* The rest is not measured: a loop of locking alone would measure its own clocks. */
APART static void locks(void)
{
	uint64_t wall = truth_ns(CLOCK_MONOTONIC), busy = busy_ns();

	takes();
	locks_ns += off_since(wall, busy);
	nap(1);
}

APART static void reads(void)
{
	char byte;

	turns += (uint64_t)read(bytes[0], &byte, 1);
}

APART static void forever(void)
{
	char byte;

	turns += (uint64_t)read(stop_bytes[0], &byte, 1);
}

APART static void spins(void)
{
	for (unsigned i = 0; i < 100000; i++)
		turns++;
}

APART static void feeds(void)
{
	pthread_mutex_lock(&lock);
	nap(2);
	pthread_mutex_unlock(&lock);
	turns += (uint64_t)write(bytes[1], "x", 1);
	nap(1);
}

static struct worker {
	const char *name;
	void (*work)(void);
	int tid;
	uint64_t off_ns;
} workers[] = {
	{ "naps", naps, 0, 0 },       { "locks", locks, 0, 0 }, { "reads", reads, 0, 0 },
	{ "feeds", feeds, 0, 0 },     { "spins", spins, 0, 0 }, { "spins", spins, 0, 0 },
	{ "forever", forever, 0, 0 },
};
enum { WORKERS = sizeof workers / sizeof workers[0] };

static void *run(void *arg)
{
	struct worker *worker = arg;

	__atomic_store_n(&worker->tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!truth_stop) {
		uint64_t wall = truth_ns(CLOCK_MONOTONIC), busy = busy_ns();
		worker->work();
		worker->off_ns += off_since(wall, busy);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];
	char facts[512] = ", \"tids\": {";

	if (pipe(bytes) || pipe(stop_bytes))
		return 1;
	signal(SIGTERM, truth_on_end);
	for (unsigned i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, run, &workers[i]))
			return 1;
	for (unsigned i = 0; i < WORKERS; i++) {
		while (!__atomic_load_n(&workers[i].tid, __ATOMIC_ACQUIRE))
			nap(1);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		size_t used = strlen(facts);
		bool is_second = i && !strcmp(workers[i].name, workers[i - 1].name);
		bool is_first = i + 1 < WORKERS && !strcmp(workers[i].name, workers[i + 1].name);
		if (is_second)
			snprintf(facts + used, sizeof facts - used, ", %d]", workers[i].tid);
		else
			snprintf(facts + used, sizeof facts - used, "%s\"%s\": [%d%s",
				 i ? ", " : "", workers[i].name, workers[i].tid,
				 is_first ? "" : "]");
	}
	snprintf(facts + strlen(facts), sizeof facts - strlen(facts), "}");
	truth_ready(facts);
	while (!truth_stop)
		nap(10);
	turns += (uint64_t)write(bytes[1], "xxxxxxxxxx", 10) +
		 (uint64_t)write(stop_bytes[1], "x", 1);
	printf("{\"off_ns\": {");
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	workers[1].off_ns = locks_ns;
	for (unsigned i = 0; i < 3; i++)
		printf("%s\"%s\": %llu", i ? ", " : "", i == 1 ? "takes" : workers[i].name,
		       (unsigned long long)workers[i].off_ns);
	printf("}}\n");
	return 0;
}
