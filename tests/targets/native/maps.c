/* SPDX-License-Identifier: Apache-2.0
 * maps.c - maps code and gives it back, as fast as it can: nobody beside hears of all of it. */
#include "truth.h"

#include <sys/mman.h>

int main(void)
{
	uint64_t count = 0;

	truth_ready("");
	while (!truth_stop) {
		void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
		if (code == MAP_FAILED)
			return 1;
		munmap(code, 4096);
		count++;
	}
	printf("{\"mapped\": %llu}\n", (unsigned long long)count);
	return 0;
}
