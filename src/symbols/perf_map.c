/* SPDX-License-Identifier: Apache-2.0
 * perf_map.c - names of code that is made at run time, as its maker writes them: /tmp/perf-PID.map.
 *
 *	3ef414c0 398 RegExp:[{(]
 *	3ef418a0 398 LazyCompile:~fun /app/x.js:12
 *
 * Start and size in hexadecimal, the rest is the name (the kernel's tools/perf/Documentation/jit-interface.txt).  Code moves
 * and is made anew: of one address the last line holds. */
#include "symbols/parts.h"

#include <string.h>
#include <unistd.h>

enum {
	BYTES_MAX = 64 << 20, /* of a file; what is behind it is not read */
	LINE_MAX_BYTES = 4096,
	CHUNK = 64 << 10,
	SIZE_MAX_BYTES = 1 << 30, /* of code: more is no function */
};

static bool add_line(struct symbols *symbols, const char *line)
{
	char *rest;
	u64 start = strtoull(line, &rest, 16);

	if (rest == line || *rest != ' ')
		return true;
	const char *at = rest + 1;
	u64 size = strtoull(at, &rest, 16);
	if (rest == at || *rest != ' ' || !rest[1] || !start || !size || size > SIZE_MAX_BYTES ||
	    start > UINT64_MAX - size)
		return true; /* no such line, and the next may be */
	return symbols_add_copy(
		symbols, (struct symbol){ .name = rest + 1, .start = start, .end = start + size });
}

struct reading {
	struct symbols *symbols;
	char line[LINE_MAX_BYTES];
	u32 length;
	bool is_long; /* longer than any name: it is left out */
};

static bool add_bytes(struct reading *reading, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bytes[i] != '\n') {
			reading->is_long |= reading->length == LINE_MAX_BYTES - 1;
			if (!reading->is_long)
				reading->line[reading->length++] = bytes[i];
			continue;
		}
		reading->line[reading->length] = 0;
		if (!reading->is_long && !add_line(reading->symbols, reading->line))
			return false;
		reading->length = 0;
		reading->is_long = false;
	}
	return true;
}

/* Its name is further on in the text. */
static bool is_later(const struct symbol *a, const struct symbol *b)
{
	return a->name > b->name;
}

struct symbols *symbols_of_perf_map(int fd)
{
	struct reading reading = { .symbols = symbols_new() };
	char chunk[CHUNK];
	bool good = reading.symbols != NULL;
	ssize_t got;

	for (size_t at = 0;
	     good && at < BYTES_MAX && (got = pread(fd, chunk, sizeof chunk, (off_t)at)) > 0;
	     at += (size_t)got)
		good = add_bytes(&reading, chunk, (size_t)got);
	if (!good) {
		symbols_free(reading.symbols);
		return NULL;
	}
	symbols_sort(reading.symbols, is_later);
	symbols_place_names(reading.symbols, 0);
	return reading.symbols;
}
