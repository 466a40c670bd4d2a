/* SPDX-License-Identifier: Apache-2.0
 * cache.h - compiled tables, kept on disk for the next run.
 *
 * A table is filed under a hash of what it was compiled from and of who compiled it.  Not under the build-id: a program can
 * write into itself what it likes, and two files of one build-id must not share a table.
 *
 * It is in $XDG_CACHE_HOME/sonde/unwind, or ~/.cache/sonde/unwind, root's in /var/cache/sonde/unwind.  What is not the
 * user's own, or others may write to, is not used.  Nothing here is an error: without it, a table is compiled again. */
#pragma once
#include "elf/image.h"
#include "unwind/rows.h"

struct unwind_cache {
	int dir_fd; /* -1: there is none */
	u8 writer
		[BUILD_ID_MAX]; /* this program, by its build-id: it differs for all that could make it compile otherwise */
	bool is_pruned;
};

/* Makes the folder if need be. */
void unwind_cache_open(struct unwind_cache *cache);
void unwind_cache_close(struct unwind_cache *cache);
/* As unwind_compile(), from the cache if it is there, else into it. Zeros are no cache, and so is one that could not be
 * opened. */
bool unwind_cache_compile(struct unwind_cache *cache, const struct image *image,
			  struct unwind_table *table, struct err *err);
