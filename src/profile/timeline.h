/* SPDX-License-Identifier: Apache-2.0
 * timeline.h - when the samples of each entry of a profile were taken.
 *
 * A list of (slot, entry, count).  When it grows too long its slots become twice as wide, so that
 * a day costs as much memory as a minute and short runs keep every moment. */
#pragma once
#include "base/types.h"
#include "base/vec.h"

struct timeline_cell {
	u32 slot; /* time / slot_ns */
	u32 entry;
	u32 count;
};

struct timeline {
	u32 cells_most; /* 12 bytes each; 0: nothing is kept */
	u64 slot_ns;
	VEC(struct timeline_cell) cells; /* after timeline_settle(): by slot, then by entry */
	u32 settled;                     /* of them, at the front */
	bool bad;                        /* out of memory: it is not whole */
};

/* All zero is a valid empty timeline. `time_ns` is since the start; entry UINT32_MAX is
 * none (PROFILE_NONE). */
void timeline_add(struct timeline *timeline, u64 time_ns, u32 entry);
void timeline_add_counted(struct timeline *timeline, u64 time_ns, u32 entry, u32 count);
/* Sorts the cells and merges equal ones. */
void timeline_settle(struct timeline *timeline);

u32 timeline_slots(const struct timeline *timeline);
void timeline_free(struct timeline *timeline);
