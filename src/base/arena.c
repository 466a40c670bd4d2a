/* SPDX-License-Identifier: Apache-2.0
 * arena.c - a chain of blocks; a request larger than a block gets its own. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 64 * 1024 - 64 };

struct arena_block {
	struct arena_block *before;
	size_t size;
	_Alignas(16) char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (!arena->last || arena->last->size - arena->used < size) {
		size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
		struct arena_block *block = calloc(1, sizeof *block + room);
		if (!block)
			return NULL;
		block->before = arena->last;
		block->size = room;
		arena->last = block;
		arena->used = 0;
		arena->total += sizeof *block + room;
	}
	void *memory = arena->last->bytes + arena->used;
	arena->used += size;
	return memory;
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);
	if (copy)
		memcpy(copy, text, length);
	return copy;
}

void arena_free(struct arena *arena)
{
	while (arena->last) {
		struct arena_block *before = arena->last->before;
		free(arena->last);
		arena->last = before;
	}
	*arena = (struct arena){ 0 };
}
