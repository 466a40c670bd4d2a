/* SPDX-License-Identifier: Apache-2.0
 * children.c fork|exec COUNT MS - children, one after the other, that each work for so long of their CPU time. */
#include "truth.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define APART __attribute__((noinline))

static volatile uint64_t turns;

APART static void child_works(const char *ms)
{
	uint64_t until = (uint64_t)(atof(ms) * 1e6);

	while (truth_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
		for (unsigned i = 0; i < 10000; i++)
			turns++;
}

static void child(char **argv)
{
	if (!strcmp(argv[1], "exec"))
		execl("/proc/self/exe", argv[0], "works", argv[3], (char *)NULL);
	child_works(argv[3]);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "works")) {
		child_works(argv[2]);
		return 0;
	}
	if (argc < 4)
		return 2;
	truth_ready("");
	for (int left = atoi(argv[2]); left > 0 && !truth_stop; left--) {
		pid_t pid = fork();
		if (pid == 0)
			child(argv);
		waitpid(pid, NULL, 0);
	}
	printf("{}\n");
	return 0;
}
