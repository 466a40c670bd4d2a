/* SPDX-License-Identifier: Apache-2.0
 * perf_map.h - the names of code that a process makes at run time, as it tells them in a perf map.
 *
 * Any program may write one: it is bounded, and what is no line of a map is passed by.  Addresses are those of the process. */
#pragma once
#include "base/types.h"

struct perf_map; /* opaque */
struct symbol;

struct perf_map *perf_map_new(void); /* NULL: out of memory */
void perf_map_free(struct perf_map *map);
/* What was appended to the file since; all of it, when it is another file, or shorter than it was. False: out of memory, and
 * what the map has is not whole. */
bool perf_map_read(struct perf_map *map, int fd);
/* The function that an address is in; its name lives until the map is read again. */
bool perf_map_find(const struct perf_map *map, u64 address, struct symbol *out);
