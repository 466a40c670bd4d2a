/* SPDX-License-Identifier: Apache-2.0
 * walk_on.h - a walk that the kernel began, from the registers and the piece of stack that its record holds. */
#pragma once
#include "engines/kernel/shared.h"

struct walk_on {
	struct mem mem; /* first: reads the piece */
	struct unwind_walk walk;
	const struct kernel_rest *rest;
	u64 begin, bytes; /* of the stack */
};

/* `size`: bytes of the rest that there are, the walk and some of the stack. The rest is borrowed. */
void walk_on_begin(struct walk_on *on, const struct kernel_rest *rest, size_t size);
