/* SPDX-License-Identifier: Apache-2.0
 * perf_map.c - fuzzing the reader of perf maps: any bytes, in two pieces. What it gives is around
 * the address, and has a name that ends. */
#include "symbols/perf_map.h"

#include "symbols/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

const char fuzz_name[] = "perf_map";

static void check(const struct perf_map *map, u64 address)
{
	struct symbol symbol;

	if (perf_map_find(map, address, &symbol) &&
	    (address < symbol.start || address >= symbol.end ||
	     strlen(symbol.name) != symbol.length || !symbol.length))
		abort();
}

static u64 address_at(const char *bytes, size_t left)
{
	char text[20] = "";

	memcpy(text, bytes, left < sizeof text - 1 ? left : sizeof text - 1);
	return strtoull(text, NULL, 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_map *map = perf_map_new();
	int fd = memfd_create("perf-map", MFD_CLOEXEC);

	for (u32 piece = 0; piece < 2; piece++) {
		size_t begin = piece * (size / 2), end = piece ? size : size / 2;
		if (fd < 0 || write(fd, data + begin, end - begin) != (ssize_t)(end - begin))
			abort();
		if (map && !perf_map_read(map, fd)) {
			perf_map_free(map);
			map = NULL;
		}
	}
	close(fd);
	for (size_t i = 0; map && i < size; i++)
		if (!i || data[i - 1] == '\n')
			check(map, address_at((const char *)data + i, size - i));
	perf_map_free(map);
	return 0;
}
