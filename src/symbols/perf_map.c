/* SPDX-License-Identifier: Apache-2.0
 * perf_map.c - names of code that is made at run time, as its maker writes them: /tmp/perf-PID.map.
 *
 *	3ef414c0 398 RegExp:[{(]
 *	3ef418a0 398 LazyCompile:~fun /app/x.js:12
 *
 * Start and size in hexadecimal, the rest is the name (the kernel's tools/perf/Documentation/jit-interface.txt).  Code moves
 * and is made anew: an address is in the function of the last line that has it.
 *
 * A map grows while it is read, to 60 MB and more: what was read is kept by address, what was appended is sorted alone and
 * merged into it. */
#include "symbols/perf_map.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "symbols/symbols.h"

enum {
	BYTES_MAX = 64 << 20, /* of a file; what is behind it is not read */
	CHUNK = 64 << 10,
	SIZE_MAX_BYTES = 1 << 30, /* of code: more is no function */
	ENCLOSING_MAX = 8,        /* so many functions inside of another are looked past */
};

struct line {
	u64 start;
	u32 size;
	u32 name; /* where in the text: of a later line further on */
};

typedef VEC(struct line) lines;

struct perf_map {
	lines all;      /* by address, once they are settled */
	lines spare;    /* what they are merged into */
	VEC(char) text; /* of names */
	dev_t device;
	ino_t inode;
	u64 read; /* bytes of the file */
	char line[SYMBOL_NAME_MAX];
	u32 length;   /* of the line that is being read */
	bool is_long; /* longer than any name: it is left out */
};

struct perf_map *perf_map_new(void)
{
	return calloc(1, sizeof(struct perf_map));
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	vec_free(&map->all);
	vec_free(&map->spare);
	vec_free(&map->text);
	free(map);
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool add_line(struct perf_map *map)
{
	char *rest;

	map->line[map->length] = 0;
	u64 start = strtoull(map->line, &rest, 16);
	if (rest == map->line || *rest != ' ')
		return true;
	const char *at = rest + 1;
	u64 size = strtoull(at, &rest, 16);
	if (rest == at || *rest != ' ' || !rest[1] || !start || !size || size > SIZE_MAX_BYTES ||
	    start > UINT64_MAX - size)
		return true; /* no such line, and the next may be */
	struct line line = { start, (u32)size, map->text.count };
	u32 bytes = (u32)strlen(rest + 1) + 1;
	if (!vec_grow(&map->text, map->text.count + bytes) || !vec_push(&map->all, line))
		return false;
	memcpy(map->text.at + map->text.count, rest + 1, bytes);
	map->text.count += bytes;
	return true;
}

static bool add_bytes(struct perf_map *map, const char *bytes, size_t count)
{
	const char *end = bytes + count;

	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t length = (size_t)((newline ? newline : end) - bytes);
		map->is_long |= length > sizeof map->line - 1 - map->length;
		if (!map->is_long) {
			memcpy(map->line + map->length, bytes, length);
			map->length += (u32)length;
		}
		if (!newline)
			return true;
		if (!map->is_long && !add_line(map))
			return false;
		map->length = 0;
		map->is_long = false;
		bytes = newline + 1;
	}
	return true;
}

static void start_over(struct perf_map *map, const struct stat *st)
{
	vec_clear(&map->all);
	vec_clear(&map->text);
	map->device = st->st_dev;
	map->inode = st->st_ino;
	map->read = map->length = 0;
	map->is_long = false;
}

/* ---- the last of an address ---------------------------------------------------------------- */

/* Of one address the later first: it hides the other. */
static int by_start(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->name > b->name ? -1 : a->name < b->name;
}

/* All but the first `sorted` are new. */
static bool merge(struct perf_map *map, u32 sorted)
{
	u32 old = 0, new = sorted, count = map->all.count;

	qsort(map->all.at + sorted, count - sorted, sizeof map->all.at[0], by_start);
	if (!vec_grow(&map->spare, count))
		return false;
	for (u32 i = 0; i < count; i++) {
		bool is_old = new == count ||
			      (old < sorted && by_start(&map->all.at[old], &map->all.at[new]) < 0);
		map->spare.at[i] = map->all.at[is_old ? old++ : new ++];
	}
	map->spare.count = count;
	lines merged = map->spare;
	map->spare = map->all;
	map->all = merged;
	return true;
}

/* Takes out those that begin inside of a later one: their code is no more. `around` are those that have not ended, each inside of
 * the one before and, since it was kept, later than it. */
static bool take_out_hidden(struct perf_map *map)
{
	VEC(struct line) around = { 0 };
	u32 kept = 0;

	for (u32 i = 0; i < map->all.count; i++) {
		struct line line = map->all.at[i];
		while (around.count &&
		       around.at[around.count - 1].start + around.at[around.count - 1].size <=
			       line.start)
			around.count--;
		if (around.count && around.at[around.count - 1].name > line.name)
			continue;
		if (!vec_push(&around, line)) {
			vec_free(&around);
			return false;
		}
		map->all.at[kept++] = line;
	}
	map->all.count = kept;
	vec_free(&around);
	return true;
}

bool perf_map_read(struct perf_map *map, int fd)
{
	u32 sorted;
	char chunk[CHUNK];
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st) != 0)
		return true;
	if (st.st_dev != map->device || st.st_ino != map->inode || (u64)st.st_size < map->read)
		start_over(map, &st);
	sorted = map->all.count;
	while (map->read < BYTES_MAX &&
	       (got = pread(fd, chunk, sizeof chunk, (off_t)map->read)) > 0) {
		map->read += (u64)got;
		if (!add_bytes(map, chunk, (size_t)got))
			return false;
	}
	return map->all.count == sorted || (merge(map, sorted) && take_out_hidden(map));
}

bool perf_map_find(const struct perf_map *map, u64 address, struct symbol *out)
{
	u32 behind = vec_first_not(&map->all, one, one->start <= address);

	for (u32 i = behind, tries = 0; i-- > 0 && tries < ENCLOSING_MAX; tries++) {
		const struct line *line = &map->all.at[i];
		const char *name = map->text.at + line->name;
		if (address - line->start >= line->size)
			continue;
		*out = (struct symbol){ .name = name,
					.start = line->start,
					.end = line->start + line->size,
					.length = (u32)strlen(name) };
		return true;
	}
	return false;
}
