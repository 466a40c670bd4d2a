/* SPDX-License-Identifier: Apache-2.0
 * table.c - see table.h. */
#include "base/table.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

u64 table_seed_drawn;

/* A race only draws twice before anything is stored. */
u64 table_draw_seed(void)
{
	u64 drawn = rng_seed() | 1, none = 0;

	__atomic_compare_exchange_n(&table_seed_drawn, &none, drawn, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return __atomic_load_n(&table_seed_drawn, __ATOMIC_RELAXED);
}

u32 table_find(const struct table *table, u64 hash, table_same *same, const void *owner,
	       const void *key)
{
	if (!table->size)
		return TABLE_NONE;
	u32 mask = table->size - 1;
	for (u32 i = (u32)hash & mask; table->item[i]; i = (i + 1) & mask)
		if (table->hash[i] == (u32)hash && same(owner, table->item[i] - 1, key))
			return table->item[i] - 1;
	return TABLE_NONE;
}

static void table_place(struct table *table, u32 hash, u32 item)
{
	u32 mask = table->size - 1, i = hash & mask;

	while (table->item[i])
		i = (i + 1) & mask;
	table->item[i] = item + 1;
	table->hash[i] = hash;
}

static bool table_grow(struct table *table)
{
	struct table grown = { .size = table->size ? table->size * 2 : 64, .count = table->count };

	if (!grown.size)
		return false;
	grown.item = calloc(grown.size, sizeof *grown.item);
	grown.hash = calloc(grown.size, sizeof *grown.hash);
	if (!grown.item || !grown.hash) {
		free(grown.item);
		free(grown.hash);
		return false;
	}
	for (u32 i = 0; i < table->size; i++)
		if (table->item[i])
			table_place(&grown, table->hash[i], table->item[i] - 1);
	free(table->item);
	free(table->hash);
	*table = grown;
	return true;
}

bool table_add(struct table *table, u64 hash, u32 item)
{
	if ((u64)table->count * 10 >= (u64)table->size * 7 && !table_grow(table))
		return false;
	table_place(table, (u32)hash, item);
	table->count++;
	return true;
}

void table_clear(struct table *table)
{
	if (table->count)
		memset(table->item, 0, table->size * sizeof *table->item);
	table->count = 0;
}

void table_free(struct table *table)
{
	free(table->item);
	free(table->hash);
	*table = (struct table){ 0 };
}
