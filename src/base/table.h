/* SPDX-License-Identifier: Apache-2.0
 * table.h - a hash index over items that the caller keeps in an array.
 *
 * The table stores item numbers and their hashes, nothing else; equality is the
 * caller's.  Open addressing, grown at 70 %.  Items are never removed. */
#pragma once
#include "base/types.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct table {
	u32 *item; /* number + 1; 0 is an empty slot */
	u32 *hash;
	u32 count;
	u32 size; /* a power of two, or 0 */
};

/* Is the item with this number the one that `key` describes? */
typedef bool table_same(const void *owner, u32 item, const void *key);

enum { TABLE_NONE = UINT32_MAX };

/* All zero is a valid empty table. TABLE_NONE when absent. */
u32 table_find(const struct table *table, u64 hash, table_same *same, const void *owner,
	       const void *key);
/* Adds an item that is known to be absent. False when out of memory. */
bool table_add(struct table *table, u64 hash, u32 item);
void table_clear(struct table *table);
void table_free(struct table *table);

/* Drawn at the first use: keys come from foreign processes. */
extern u64 table_seed_drawn; /* 0: not yet */
u64 table_draw_seed(void);

static inline u64 table_seed(void)
{
	u64 drawn = __atomic_load_n(&table_seed_drawn, __ATOMIC_RELAXED);

	return drawn ? drawn : table_draw_seed();
}

/* XXH3, inline: a key whose size is known costs a dozen instructions, not a hundred. */
static inline u64 table_hash(const void *bytes, size_t length)
{
	return XXH3_64bits_withSeed(bytes, length, table_seed());
}
