/* SPDX-License-Identifier: Apache-2.0
 * order.h - spans of a file, of which there can be millions, in the order of their addresses.
 *
 * Private to this folder and its tests. */
#pragma once
#include "base/types.h"

struct unwind_span {
	u64 begin, end;
	u16 rule;
	u8 source; /* which was read first */
};

/* The rule from there on. */
struct unwind_point {
	u64 pc;
	u16 rule;
};

/* Of those that begin at the same address, the first to be read comes first, and of its the shortest.
 * False: out of memory, and they are as they were. */
bool unwind_order(struct unwind_span *spans, u32 count);
