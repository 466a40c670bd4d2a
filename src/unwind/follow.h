/* SPDX-License-Identifier: Apache-2.0
 * follow.h - a step out of code that was made at run time, by what is left of it to run.
 *
 * From where it stands all ways through the code are gone along until one returns, or leaves by a jump to anywhere: there it has
 * given its frame back, since who is jumped to returns for it (CPython 3.14's JIT is a chain of such jumps). What it does to the
 * stack pointer until then says where the way back is: a word that points behind a call, or nothing is believed.
 *
 * Private to this folder and its tests. */
#pragma once
#include "mem/mem.h"
#include "unwind/step.h"

/* What leads from a place back to the caller. */
struct unwind_followed {
	bool from_fp; /* all from the frame pointer, and not from the stack pointer */
	s64 up;       /* to the return address */
	/* To what was pushed of a register, and 1 more; 0: it was not. */
	s32 saved[UNWIND_REGISTERS];
};

struct unwind_follower; /* opaque: what was followed lately */

void unwind_follower_free(struct unwind_follower *follower);
/* How the code at `pc`, read by `code`, ends; NULL: not by anything that is known, or out of memory.  Valid until the next call.
 * `*follower` is made when it is NULL. */
const struct unwind_followed *unwind_follow(struct unwind_follower **follower,
					    const struct mem *code, u64 pc);
