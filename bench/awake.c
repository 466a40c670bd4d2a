/* SPDX-License-Identifier: Apache-2.0
 * awake.c - keeps every CPU that it may use from going to sleep, until its input is closed.
 *
 * A CPU that has nothing to do is given back, a virtual one to its machine's host: the next one to wake up there pays for
 * getting it back, and for caches that others have used, however little it does itself.  A thread of the policy that
 * runs when nothing else wants to (SCHED_IDLE) takes that away; whoever wakes up takes its CPU from it at once.
 *
 * Prints "awake N", of so many CPUs, when they all are. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int running;

static void *spin(void *set)
{
	struct sched_param none = { 0 };

	if (pthread_setaffinity_np(pthread_self(), sizeof(cpu_set_t), set) != 0 ||
	    sched_setscheduler(0, SCHED_IDLE, &none) != 0) {
		perror("awake");
		exit(1);
	}
	atomic_fetch_add(&running, 1);
	for (;;)
		__builtin_ia32_pause();
	return NULL;
}

int main(void)
{
	static cpu_set_t each[CPU_SETSIZE];
	cpu_set_t all;
	int count = 0;
	char byte;

	if (sched_getaffinity(0, sizeof all, &all) != 0)
		return 1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		pthread_t thread;
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_SET(cpu, &each[cpu]);
		if (pthread_create(&thread, NULL, spin, &each[cpu]) != 0)
			return 1;
		count++;
	}
	while (atomic_load(&running) < count)
		usleep(1000);
	printf("awake %d\n", count);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
