/* SPDX-License-Identifier: Apache-2.0
 * paged_out.c DEPTH - a thread whose outer frames are not in memory, and that does not need them.
 *
 * Its stack is a mapped file, so that the kernel can let go of its pages without a swap device. Says how many of them are out. */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define APART __attribute__((noinline))

enum { PAGE = 4096, STACK_PAGES = 1024, NEAR_PAGES = 4 };

static volatile uint64_t turns;
static volatile uintptr_t innermost;

APART static void bottom(void)
{
	innermost = (uintptr_t)__builtin_frame_address(0);
	while (!truth_stop)
		turns++;
}

APART static void down(int left)
{
	volatile char frame[1024];

	frame[left & 1023] = (char)left;
	if (left > 1)
		down(left - 1);
	else
		bottom();
	turns += (unsigned char)frame[left & 1023];
}

static void *outermost(void *depth)
{
	down(*(int *)depth);
	return NULL;
}

/* Pages of it that are not in memory then. */
static int let_go(char *begin, size_t bytes)
{
	unsigned char resident[STACK_PAGES];
	int out = 0;

	if (msync(begin, bytes, MS_SYNC) || madvise(begin, bytes, MADV_PAGEOUT) ||
	    mincore(begin, bytes, resident))
		return 0;
	for (size_t i = 0; i < bytes / PAGE; i++)
		out += !(resident[i] & 1);
	return out;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 100;
	size_t bytes = (size_t)STACK_PAGES * PAGE;
	char name[] = "/tmp/sonde-stack-XXXXXX", facts[64];
	int fd = mkstemp(name);
	pthread_attr_t attributes;
	pthread_t thread;

	unlink(name);
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		return 1;
	char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_attr_init(&attributes);
	if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, bytes) ||
	    pthread_create(&thread, &attributes, outermost, &depth))
		return 1;
	while (!innermost)
		;
	uintptr_t near = (innermost & ~(uintptr_t)(PAGE - 1)) + NEAR_PAGES * PAGE;
	int out = let_go((char *)near, (size_t)(stack + bytes - (char *)near));
	snprintf(facts, sizeof facts, ", \"out\": %d", out);
	truth_ready(facts);
	pthread_join(thread, NULL);
	printf("{}\n");
	return 0;
}
