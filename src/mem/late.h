/* SPDX-License-Identifier: Apache-2.0
 * late.h - what a walk asked for that no plan had: read at once, a page at a time, and part of the next plan. */
#pragma once
#include "base/table.h"
#include "base/vec.h"
#include "mem/read_set.h"

enum { LATE_HEADS_MAX = 16, LATE_HEAD_MAX = 64 };

struct late_page {
	u64 page;
	u64 low, high; /* touched */
	u32 first;     /* when, in reads of the walk */
	bool holds;    /* something of it must hold still: it belongs to the body */
};

struct late_head {
	u64 addr;
	u32 len, part;
	enum range_order order;
	u8 bytes[LATE_HEAD_MAX];
};

/* All zero is valid: nothing was late. */
struct late {
	VEC(struct late_page) pages;
	struct table table;
	u8 *bytes;
	u32 room; /* pages */
	struct late_head heads[LATE_HEADS_MAX];
	u32 head_count;
};

void late_free(struct late *late);
/* Before a walk. */
void late_clear(struct late *late);
static inline bool late_any(const struct late *late)
{
	return late->pages.count || late->head_count;
}
/* `number`: of this read in its walk. False when it cannot be read, or is too much. */
bool late_read_body(struct late *late, const struct mem_live *live, u64 addr, u8 *dst, u32 len,
		    enum mem_hold hold, u32 number);
/* Words of the head, and what is read with it. */
bool late_read_head(struct late *late, const struct mem_live *live, enum plan_part part, u64 addr,
		    u8 *dst, u32 len, enum range_order order);
/* All of it is in the set's plan from now on. */
void late_learn(const struct late *late, struct read_set *set);
