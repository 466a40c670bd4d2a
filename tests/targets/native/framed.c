/* SPDX-License-Identifier: Apache-2.0
 * framed.c SECONDS - works for so long, in framed_outer > framed_middle > framed_inner.  It is built without unwinding tables
 * and with frame pointers, and calls no library while it works: nothing but its frames leads back to who called main. */
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline))

static volatile unsigned long turns, count = 50 * 1000 * 1000;

APART static void framed_inner(unsigned long most)
{
	for (unsigned long i = 0; i < most; i++)
		turns += i;
}

APART static void framed_middle(unsigned long most)
{
	framed_inner(most);
	turns++;
}

APART static void framed_outer(unsigned long most)
{
	framed_middle(most);
	turns++;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + 1 + (argc > 1 ? atoi(argv[1]) : 1);

	while (time(NULL) < end)
		framed_outer(count);
	return 0;
}
