/* SPDX-License-Identifier: Apache-2.0
 * walk_on.c - see walk_on.h. */
#include "engines/kernel/walk_on.h"

#include <string.h>

static bool read_piece(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct walk_on *on = (const struct walk_on *)mem;
	u64 at = addr - on->begin;

	(void)hold;
	if (at > on->bytes || len > on->bytes - at)
		return false;
	memcpy(dst, on->rest->stack + at, len);
	return true;
}

void walk_on_begin(struct walk_on *on, const struct kernel_rest *rest, size_t size)
{
	size_t head = offsetof(struct kernel_rest, stack);

	*on = (struct walk_on){ .mem.read = read_piece,
				.walk = rest->walk,
				.rest = rest,
				.begin = rest->walk.sp,
				.bytes = size > head ? size - head : 0 };
}
