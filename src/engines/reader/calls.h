/* SPDX-License-Identifier: Apache-2.0
 * calls.h - which frame was seen to call which, proven.
 *
 * A read that conflicts still saw something true: at the first head's instant the stack was
 * so deep, and each slot of it held, then or a moment later, what the first copy shows.
 * Most of it is the stack.  What can be wrong is a pair: a caller has returned and another function
 * lies in its slot, above a leftover of its predecessor ("bob called map", which it never does).
 * So the walk of the first copy is believed from the root on, as long as each pair of
 * caller and callee has been seen in a stack of this program that was proven.
 *
 * A slot that was replaced meanwhile gives itself away: what it holds does not call what lies
 * under it.  If only one function is known to be called by its caller and to call its
 * callee, that one was there at the head's instant, and it is put back.
 * A caller's place can have moved on in the same way: then it is given the place from which
 * that callee was last seen called.
 *
 * Asking instead that a frame stand through every copy, or reading again until all holds, keeps
 * long-lived frames and loses short ones: 10 to 30 points of a function's total share in a tight
 * loop (bench/torn). This keeps total shares, and no pair that never was. */
#pragma once
#include "base/table.h"
#include "base/vec.h"
#include "sample/frame.h"

struct call {
	u64 key;
	u64 id, owner; /* sandwiches: what lies between; id 0: more than one function can */
	u32 pos;       /* pairs and sandwiches: the caller's place at the last proven call */
};

struct calls {
	VEC(struct call) seen;
	struct table table;
	u64 learned[256]; /* stacks that are learned already, by hash */
};

void calls_fini(struct calls *calls);
/* All calls of a stack that was proven, leaf first. `salt` keeps programs apart. */
void calls_learn(struct calls *calls, u64 salt, const struct frame *frames, u32 count);
/* How many of the outermost frames stand, 0 to count; id, owner and pos may be set right. */
u32 calls_standing(const struct calls *calls, u64 salt, struct frame *frames, u32 count);
