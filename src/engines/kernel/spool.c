/* SPDX-License-Identifier: Apache-2.0
 * spool.c - see spool.h. */
#include "engines/kernel/spool.h"

#include <stdlib.h>
#include <string.h>

bool spool_put(struct spool *spool, const void *bytes, size_t size)
{
	struct spooled *record = malloc(sizeof *record + size);

	if (!record)
		return false;
	record->next = NULL;
	record->size = size;
	memcpy(record->bytes, bytes, size);
	*(spool->last ? &spool->last->next : &spool->first) = record;
	spool->last = record;
	spool->bytes += size;
	return true;
}

struct spooled *spool_take(struct spool *spool)
{
	struct spooled *record = spool->first;

	if (!record)
		return NULL;
	spool->first = record->next;
	if (!spool->first)
		spool->last = NULL;
	spool->bytes -= record->size;
	return record;
}

void spool_free(struct spool *spool)
{
	struct spooled *record;

	while ((record = spool_take(spool)))
		free(record);
}
