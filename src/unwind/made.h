/* SPDX-License-Identifier: Apache-2.0
 * made.h - a step out of code of which no rule is known (call.h), for stacks that are walked here. */
#pragma once
#include "unwind/space.h"

/* Where the walk stands no rule is known. UNWIND_NO_RULE: no way back was found either. */
enum unwind_step unwind_made_step(struct unwind_space *space, const struct mem *mem,
				  struct unwind_walk *walk);
