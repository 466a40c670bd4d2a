/* SPDX-License-Identifier: Apache-2.0
 * depth.c DEPTH - so many frames, without frame pointers, and nothing that ends. */
#include "truth.h"

#include <stdlib.h>

#define APART __attribute__((noinline))

static volatile uint64_t turns;

APART static void bottom(void)
{
	while (!truth_stop)
		turns++;
}

APART static void down(int left)
{
	if (left > 1)
		down(left - 1);
	else
		bottom();
	turns++;
}

int main(int argc, char **argv)
{
	truth_ready("");
	down(argc > 1 ? atoi(argv[1]) : 1);
	printf("{}\n");
	return 0;
}
