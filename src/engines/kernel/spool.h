/* SPDX-License-Identifier: Apache-2.0
 * spool.h - records that were taken out of the ring and not handed out yet, in their order.
 *
 * The ring is small, and what nobody takes out in time is lost: it is emptied also while there is other work. */
#pragma once
#include "base/types.h"

#include <stddef.h>

struct spooled {
	struct spooled *next;
	size_t size;
	_Alignas(8) u8 bytes[];
};

/* All zero is an empty one. */
struct spool {
	struct spooled *first, *last;
	size_t bytes;
};

/* False when out of memory. */
bool spool_put(struct spool *spool, const void *bytes, size_t size);
/* The first one, which is the caller's from now on, to be freed; NULL: there is none. */
struct spooled *spool_take(struct spool *spool);
void spool_free(struct spool *spool);
