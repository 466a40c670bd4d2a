/* SPDX-License-Identifier: Apache-2.0
 * constants.c - see constants.h. */
#include "mem/constants.h"

#include "base/spread.h"
#include "mem/bytes.h"

#include <stdlib.h>
#include <string.h>

void constants_free(struct constants *constants)
{
	free(constants->all);
	vec_free(&constants->fresh);
	*constants = (struct constants){ 0 };
}

void constants_begin(struct constants *constants, u64 image, u64 epoch)
{
	u64 hash = (image ^ epoch * SPREAD) * 0xff51afd7ed558ccdull;
	struct constant_epoch *seen = &constants->seen[(hash >> 32) % CONSTANT_EPOCHS];

	constants->image = image;
	constants->epoch = epoch;
	constants->is_old = seen->image == image && seen->number == epoch;
	*seen = (struct constant_epoch){ image, epoch };
	vec_clear(&constants->fresh);
}

bool constants_find(const struct constants *constants, u64 addr, void *dst, u32 len)
{
	if (!constants->epoch || !constants->all)
		return false;
	const struct constant *known = &constants->all[spread_slot(addr, CONSTANTS)];
	if (known->addr != addr || known->len != len || known->epoch != constants->epoch ||
	    known->image != constants->image)
		return false;
	bytes_copy(dst, known->bytes, len);
	return true;
}

void constants_add(struct constants *constants, u64 addr, const void *bytes, u32 len)
{
	struct constant constant = {
		.image = constants->image, .epoch = constants->epoch, .addr = addr, .len = len
	};

	if (!constants->epoch || !constants->is_old || len > sizeof constant.bytes)
		return;
	/* out of memory: it is read again, which is slow and right */
	if (!constants->all && !(constants->all = calloc(CONSTANTS, sizeof *constants->all)))
		return;
	if (!vec_push(&constants->fresh, spread_slot(addr, CONSTANTS)))
		return;
	memcpy(constant.bytes, bytes, len);
	constants->all[spread_slot(addr, CONSTANTS)] = constant;
}

void constants_end(struct constants *constants, bool keep)
{
	for (u32 i = 0; !keep && i < constants->fresh.count; i++)
		constants->all[constants->fresh.at[i]] = (struct constant){ 0 };
	vec_clear(&constants->fresh);
}
