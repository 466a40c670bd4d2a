/* SPDX-License-Identifier: Apache-2.0
 * arena.h - memory with one lifetime, freed all at once.
 *
 * Three lifetimes in sonde: the session's arena, the profile's arena, this
 * call.  Nothing from an arena is freed one by one. */
#pragma once
#include "base/types.h"

struct arena_block;
struct arena {
	struct arena_block *last;
	size_t used;  /* bytes used in `last` */
	size_t total; /* bytes asked of malloc, for the memory figures */
};

/* All zero is a valid empty arena. NULL when out of memory. 16-byte aligned, zeroed. */
void *arena_alloc(struct arena *arena, size_t size);
/* A NUL-terminated copy of `length` bytes. */
char *arena_copy(struct arena *arena, const char *text, size_t length);
void arena_free(struct arena *arena);
