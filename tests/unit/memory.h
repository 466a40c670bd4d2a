/* SPDX-License-Identifier: Apache-2.0
 * memory.h - a piece of memory that a test wrote, read like a process. */
#pragma once
#include "mem/mem.h"

#include <stdlib.h>
#include <string.h>

#include "unit/check.h"

struct memory {
	struct mem mem;
	u64 base;
	u32 size;
	u8 *bytes;
	u32 reads;   /* so far */
	u32 fail_at; /* this read fails; 0 none */
};

static bool memory_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	struct memory *memory = (struct memory *)mem;

	(void)hold;
	if (++memory->reads == memory->fail_at || addr < memory->base ||
	    addr - memory->base > memory->size || len > memory->size - (addr - memory->base))
		return false;
	memcpy(dst, memory->bytes + (addr - memory->base), len);
	return true;
}

static inline void memory_init(struct memory *memory, u64 base, u32 size)
{
	*memory = (struct memory){
		.mem.read = memory_read, .base = base, .size = size, .bytes = calloc(1, size)
	};
	assert_non_null(memory->bytes);
}

static inline void memory_put(struct memory *memory, u64 addr, const void *bytes, u32 length)
{
	assert_true(addr >= memory->base && addr - memory->base + length <= memory->size);
	memcpy(memory->bytes + (addr - memory->base), bytes, length);
}

static inline void memory_put_u64(struct memory *memory, u64 addr, u64 value)
{
	memory_put(memory, addr, &value, 8);
}

static inline void memory_put_u32(struct memory *memory, u64 addr, u32 value)
{
	memory_put(memory, addr, &value, 4);
}
