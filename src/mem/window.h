/* SPDX-License-Identifier: Apache-2.0
 * window.h - what lies close together, in one read.
 *
 * A read of another process costs half a microsecond, whatever its size.  Bytes outside of the window, or of one
 * that reaches into what is not mapped, are read by themselves. */
#pragma once
#include "mem/mem.h"

#include <string.h>

enum { WINDOW_BYTES = 192 };

struct window {
	const struct mem *mem;
	u64 addr;
	u32 length; /* 0: it could not be read as a whole */
	u8 bytes[WINDOW_BYTES];
};

/* `length` is at most WINDOW_BYTES. */
static inline void window_open(struct window *window, const struct mem *mem, u64 addr, u32 length)
{
	window->mem = mem;
	window->addr = addr;
	window->length = mem_read(mem, addr, window->bytes, length) ? length : 0;
}

static inline bool window_read(const struct window *window, u64 addr, void *dst, u32 length)
{
	u64 at = addr - window->addr;

	if (at > window->length || length > window->length - at)
		return mem_read(window->mem, addr, dst, length);
	memcpy(dst, window->bytes + at, length);
	return true;
}
