/* SPDX-License-Identifier: Apache-2.0
 * lives.c - processes that begin and end in unusual ways.
 *
 *	here|there SECONDS   works for so much of its CPU time
 *	exec SECONDS         the first thread works for a moment; then a second one calls exec, and that program works
 *	many COUNT           so many children that end at once, some of them together */
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define APART __attribute__((noinline))

static volatile uint64_t turns;
static const char *seconds;

static void turn_until(clockid_t clock, double length)
{
	uint64_t until = truth_ns(clock) + (uint64_t)(length * 1e9);

	while (truth_ns(clock) < until && !truth_stop)
		for (unsigned i = 0; i < 10000; i++)
			turns++;
}

APART static void works_here(void)
{
	turn_until(CLOCK_THREAD_CPUTIME_ID, atof(seconds));
	turns++;
}

APART static void works_there(void)
{
	turn_until(CLOCK_THREAD_CPUTIME_ID, atof(seconds));
	turns++;
}

APART static void works_before(void)
{
	turn_until(CLOCK_THREAD_CPUTIME_ID, 0.05);
	turns++;
}

static void *calls_exec(void *name)
{
	works_before();
	works_before();
	execl("/proc/self/exe", name, "here", seconds, (char *)NULL);
	_exit(1);
}

static void from_a_thread(char *name)
{
	pthread_t thread;

	works_before(); /* less than the other: the number of this thread goes to that one, which has used more */
	pthread_create(&thread, NULL, calls_exec, name);
	for (;;)
		pause();
}

static void many(int count)
{
	enum { TOGETHER = 8 };

	for (int i = 0; i < count; i += TOGETHER) {
		for (int n = 0; n < TOGETHER; n++)
			if (fork() == 0)
				_exit(0);
		while (wait(NULL) > 0)
			;
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	seconds = argv[2];
	if (!strcmp(argv[1], "exec"))
		from_a_thread(argv[0]);
	truth_ready("");
	if (!strcmp(argv[1], "here"))
		works_here();
	else if (!strcmp(argv[1], "there"))
		works_there();
	else if (!strcmp(argv[1], "many"))
		many(atoi(argv[2]));
	else
		return 2;
	printf("{\"cpu_ns\": %llu}\n", (unsigned long long)truth_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
