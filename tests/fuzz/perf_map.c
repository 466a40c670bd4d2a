/* SPDX-License-Identifier: Apache-2.0
 * perf_map.c - fuzzing the reader of perf maps: any bytes. What it gives is by address, and has a name that ends. */
#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

const char fuzz_name[] = "perf_map";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol symbol;
	int fd = memfd_create("perf-map", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	struct symbols *symbols = symbols_of_perf_map(fd);
	close(fd);
	if (!symbols)
		return 0;
	u64 before = UINT64_MAX;
	for (u64 at = UINT64_MAX; symbols_before(symbols, at, &symbol); at = symbol.start - 1) {
		if (symbol.start >= before || symbol.end <= symbol.start || !symbol.name[0])
			abort();
		before = symbol.start;
		if (!symbols_find(symbols, symbol.start, &symbol))
			abort();
	}
	symbols_free(symbols);
	return 0;
}
