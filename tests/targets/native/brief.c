/* SPDX-License-Identifier: Apache-2.0
 * brief.c - by turns 2 ms of work in the first thread, and 2 ms in one that uses the CPU for little else.
 *
 *	thread   that lives for it
 *	child    of a process that lives for it
 *	exec     of one that execs for it
 *	pool     of 300 that are there all the time
 *
 * Facts: none.  At the end: spent_ns: {lasting_work, brief_work}, by the clocks of the threads. */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { POOL = 300, WORK_NS = 2000000, SPENT_FD = 99 };

#define APART __attribute__((noinline))

static volatile uint64_t turns;
static uint64_t *brief_ns; /* children write there, too */

static uint64_t work(void)
{
	uint64_t begin = truth_ns(CLOCK_THREAD_CPUTIME_ID), now = begin;

	while (now < begin + WORK_NS) {
		for (unsigned i = 0; i < 1000; i++)
			turns++;
		now = truth_ns(CLOCK_THREAD_CPUTIME_ID);
	}
	return now - begin;
}

APART static uint64_t lasting_work(void)
{
	uint64_t spent = work();

	turns++;
	return spent;
}

APART static void brief_work(void)
{
	*brief_ns += work();
	turns++;
}

static void map_spent(void)
{
	brief_ns = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, SPENT_FD, 0);
}

static void *one_thread(void *unused)
{
	brief_work();
	return unused;
}

static void by_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, one_thread, NULL))
		pthread_join(thread, NULL);
}

static void wait_for(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && !truth_stop)
		;
}

static void by_child(void)
{
	pid_t child = fork();

	if (!child) {
		brief_work();
		_exit(0);
	}
	wait_for(child);
}

static void by_exec(void)
{
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "brief", "once", (char *)NULL);
		_exit(1);
	}
	wait_for(child);
}

static sem_t turn[POOL], done;

static void *one_of_many(void *its_turn)
{
	for (;;) {
		sem_wait(its_turn);
		brief_work();
		sem_post(&done);
	}
	return NULL;
}

static void by_pool(void)
{
	static unsigned next;
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (; next < POOL; next++) {
		sem_init(&turn[next], 0, 0);
		pthread_create(&thread, &small, one_of_many, &turn[next]);
	}
	sem_post(&turn[next++ % POOL]);
	while (sem_wait(&done))
		;
	next = POOL + next % POOL;
}

static const struct {
	const char *name;
	void (*work)(void);
} ways[] = {
	{ "thread", by_thread }, { "child", by_child }, { "exec", by_exec }, { "pool", by_pool }
};

static void by_turns(void (*brief)(void))
{
	uint64_t lasting_ns = 0;

	truth_ready("");
	while (!truth_stop) {
		lasting_ns += lasting_work();
		brief();
	}
	printf("{\"spent_ns\": {\"lasting_work\": %llu, \"brief_work\": %llu}}\n",
	       (unsigned long long)lasting_ns, (unsigned long long)*brief_ns);
}

static int make_spent(void)
{
	int file = memfd_create("spent", 0);

	return ftruncate(file, 4096) || dup2(file, SPENT_FD) < 0;
}

int main(int count, char **words)
{
	const char *way = count > 1 ? words[1] : "";
	int is_once = !strcmp(way, "once");

	if (!is_once && make_spent())
		return 1;
	map_spent();
	if (is_once)
		brief_work();
	for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if (!strcmp(way, ways[i].name))
			by_turns(ways[i].work);
	return 0;
}
