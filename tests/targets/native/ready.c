/* SPDX-License-Identifier: Apache-2.0
 * ready.c SECONDS FILE - naps beside three threads that compute, all on one CPU: most of the time it is ready, and waits for that.
 *
 * Writes to FILE for how many nanoseconds it was blocked: neither on a CPU nor waiting for one (man 5 proc, schedstat). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static volatile int stop;

static void *computes(void *arg)
{
	while (!stop)
		;
	return arg;
}

__attribute__((noinline)) void naps(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	__asm__ volatile("" ::: "memory");
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	cpu_set_t one;
	long long on = 0, waited = 0;

	if (argc < 3)
		return 2;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, computes, NULL);
	sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 });
	setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
	long long begin = now_ns(), end = begin + atoi(argv[1]) * 1000000000ll;
	while (now_ns() < end)
		naps();
	long long passed = now_ns() - begin;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	if (!file || fscanf(file, "%lld %lld", &on, &waited) != 2)
		return 1;
	file = fopen(argv[2], "w");
	if (!file || fprintf(file, "%lld\n", passed - on - waited) < 0 || fclose(file) != 0)
		return 1;
	stop = 1;
	return 0;
}
