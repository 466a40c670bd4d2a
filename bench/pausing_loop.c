/* SPDX-License-Identifier: Apache-2.0
 * pausing_loop.c - what a profiler costs that stops the whole process and reads word by word.
 *
 *	pausing_loop PID ADDRESS HZ SECONDS READS
 *
 * The shape of rbspy with its lock, not its code: a sample is PTRACE_ATTACH to each thread of
 * the process and a wait for it to stop, READS single reads of one word by process_vm_readv (rbspy
 * makes 23 to 31 for a small Ruby stack), and PTRACE_DETACH from each.  ADDRESS is any readable word.
 * Prints
 *	iterations N cpu_ns N stopped_ns N late N
 * where stopped_ns is the time from the first stop to the last detach.
 *
 * This is a yardstick for bench/cost.py: never sample a program this way. */
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

enum { MOST_THREADS = 4096 };

struct victim {
	pid_t pid;
	uint64_t address;
	int reads;
	pid_t tids[MOST_THREADS];
	int count;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* rbspy lists the threads anew for each sample. */
static void list_threads(struct victim *victim)
{
	char path[32];
	struct dirent *entry;

	victim->count = 0;
	snprintf(path, sizeof path, "/proc/%d/task", victim->pid);
	DIR *tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)) && victim->count < MOST_THREADS)
		if (atoi(entry->d_name) > 0)
			victim->tids[victim->count++] = atoi(entry->d_name);
	if (tasks)
		closedir(tasks);
}

static void stop_threads(struct victim *victim)
{
	int stopped = 0;

	for (int i = 0; i < victim->count; i++) {
		int status;
		bool taken = ptrace(PTRACE_ATTACH, victim->tids[i], NULL, NULL) == 0 &&
			     waitpid(victim->tids[i], &status, __WALL) == victim->tids[i] &&
			     WIFSTOPPED(status);
		if (taken)
			victim->tids[stopped++] = victim->tids[i];
	}
	victim->count = stopped;
}

static void sample(struct victim *victim)
{
	uint64_t word;

	list_threads(victim);
	stop_threads(victim);
	for (int i = 0; i < victim->reads; i++) {
		struct iovec here = { &word, sizeof word };
		struct iovec there = { (void *)(uintptr_t)victim->address, sizeof word };

		if (process_vm_readv(victim->pid, &here, 1, &there, 1, 0) != sizeof word)
			break;
	}
	for (int i = 0; i < victim->count; i++)
		ptrace(PTRACE_DETACH, victim->tids[i], NULL, NULL);
}

int main(int argc, char **argv)
{
	static struct victim victim;

	if (argc != 6) {
		fprintf(stderr, "usage: pausing_loop PID ADDRESS HZ SECONDS READS\n");
		return 2;
	}
	victim.pid = atoi(argv[1]);
	victim.address = strtoull(argv[2], NULL, 16);
	victim.reads = atoi(argv[5]);
	uint64_t period = (uint64_t)(1e9 / atof(argv[3])), iterations = 0, late = 0, stopped_ns = 0;
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), end = begin + (uint64_t)(atof(argv[4]) * 1e9);
	uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), now;

	for (uint64_t due = begin; due < end; due += period) {
		struct timespec at = { (time_t)(due / 1000000000), (long)(due % 1000000000) };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		now = clock_ns(CLOCK_MONOTONIC);
		if (now > due + period) {
			late++;
			continue;
		}
		sample(&victim);
		stopped_ns += clock_ns(CLOCK_MONOTONIC) - now;
		iterations++;
	}
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("iterations %" PRIu64 " cpu_ns %" PRIu64 " stopped_ns %" PRIu64 " late %" PRIu64
	       "\n",
	       iterations, cpu, stopped_ns, late);
	return 0;
}
