/* SPDX-License-Identifier: Apache-2.0
 * churn.c NS LIBRARY FUNCTION LIBRARY FUNCTION - loads the one and the other by turns, mostly at the same address, and spins for
 * so long in what it calls back.
 *
 * Facts at the end: loads, and how many of them were where the other one had been. */
#define _GNU_SOURCE
#include "truth.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static volatile uint64_t turns;
static uint64_t each_ns, loads, in_place;

APART static void spin(void)
{
	uint64_t end = truth_ns(CLOCK_MONOTONIC) + each_ns;

	while (truth_ns(CLOCK_MONOTONIC) < end && !truth_stop)
		for (int i = 0; i < 1000; i++)
			turns++;
	turns++;
}

APART static void turn(const char *path, const char *name)
{
	static uintptr_t before;
	void *library = dlopen(path, RTLD_NOW);
	void (*plugged)(void (*)(void)) = library ? dlsym(library, name) : NULL;
	struct link_map *map;

	if (!plugged || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
		exit(1);
	loads++;
	in_place += map->l_addr == before;
	before = map->l_addr;
	plugged(spin);
	dlclose(library);
}

int main(int argc, char **argv)
{
	if (argc < 6)
		return 2;
	each_ns = strtoull(argv[1], NULL, 10);
	truth_ready("");
	while (!truth_stop) {
		turn(argv[2], argv[3]);
		turn(argv[4], argv[5]);
	}
	printf("{\"loads\": %llu, \"in_place\": %llu}\n", (unsigned long long)loads,
	       (unsigned long long)in_place);
	return 0;
}
