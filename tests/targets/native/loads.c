/* SPDX-License-Identifier: Apache-2.0
 * loads.c keep|leave NS FUNCTION LIBRARY... - deep in its stack, loads one library after the other, and each calls back at once
 * what spins for so long; then it may be left again.
 *
 * As a program of a scripting language does when it begins: what runs has just been mapped. */
#include "truth.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

enum { DEPTH = 300, FRAME_BYTES = 128 };

static uint64_t each_ns;
static int leaves;
static volatile uint64_t turns;

APART static void spin(void)
{
	uint64_t end = truth_ns(CLOCK_MONOTONIC) + each_ns;

	while (truth_ns(CLOCK_MONOTONIC) < end)
		for (int i = 0; i < 1000; i++)
			turns++;
	turns++;
}

APART static void load(const char *name, const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*loaded)(void (*)(void)) = library ? dlsym(library, name) : NULL;

	if (!loaded)
		exit(1);
	loaded(spin);
	if (leaves)
		dlclose(library);
	turns++;
}

APART static void descend(unsigned depth, char **argv)
{
	volatile char room[FRAME_BYTES];

	room[0] = (char)depth;
	if (depth)
		descend(depth - 1, argv);
	else
		for (char **path = argv + 4; *path; path++)
			load(argv[3], *path);
	turns += (uint64_t)room[0];
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	leaves = !strcmp(argv[1], "leave");
	each_ns = strtoull(argv[2], NULL, 10);
	descend(DEPTH, argv);
	return 0;
}
