/* SPDX-License-Identifier: Apache-2.0
 * plan.h - a snapshot of a running thread that proves itself.
 *
 * The target is not stopped, so reading its stack word by word loses every race.
 * What the last walk of a thread read (its read set) is the plan of the next: one
 * vectored read fetches
 *
 *	[led] [head] [body...] [head] [body 1] [head] [body 2] [head] [body 3...] [head] [once]
 *
 *	led   what `begin` took with mem_peek before the head, such as the word that says which stack is current
 *	once  what else was taken with mem_peek and lies apart from the rest: any instant will do.  What lies near
 *	      the head is read together with the first one
 *	head  what `begin` took with mem_read: the words that say where the stack is
 *	body  what the steps read: the frames
 *
 * and the walker then reads from the first head and the first copy of the body.  Every byte
 * it takes with mem_read is compared between the copies.  All equal: the stack stood still,
 * PLAN_HELD.  Heads alone are not enough: a frame can be popped and another pushed at its
 * address between two reads.  Contents alone are not either: the leftovers of a deeper stack
 * are there to be read when the leaf is above them.  So the ranges that hold the leaf have a head
 * right before and behind them: to show a wrong pair, the program would have to come up, go
 * another way and be down again between these, 0.6 us (bench/torn has the figures).
 *
 * A thread that was found in the same place some times in a row is mostly there again.  Then
 *
 *	[led] [head] [body...] [once]
 *
 * is enough: it holds when it is, byte for byte, what was proven before, and so a stack that there is.  Where it
 * is not, the second copy follows.
 *
 * Callers mostly stay, whatever the leaf does: where the bytes that the last believed walk took behind its leaf are
 * there again, they are compared, and not walked.  Nor is the rest, while the leaf is in one function.
 *
 * A read outside the plan is made at once, a page at a time, and everything is
 * then read a second time and compared: correct, but slower.  It is part of the plan
 * from then on.
 *
 * What was taken with mem_constant by a walk that was sure of its leaf is known from then on, until the epoch changes (constants.h):
 * it is not read again.
 *
 * Nothing here retries: an attempt that conflicts has seen a state that moves, and to
 * look again would favour states that do not.
 *
 *	plan_begin(plan, set, still)    fetch
 *	plan_is_repeated(plan, ...)     need it be walked?
 *	  begin(&plan->mem, ...)        the runtime's
 *	plan_head_done(plan, walk.epoch)
 *	  step(&plan->mem, ...) ...     from the first copy
 *	plan_leaf_done(plan, ask)       may the rest be left out?
 *	  step(&plan->mem, ...) ...
 *	plan_settle(plan)               HELD or MOVED
 *	plan_stands(plan)               even now?  for what was read behind it
 *	plan_end(plan, believed, sure)  learn */
#pragma once
#include "mem/live.h"
#include "mem/read_set.h"

enum plan_verdict { PLAN_HELD, PLAN_MOVED };

struct plan_stats {
	u64 unplanned; /* transactions with a read outside the plan */
	u64 calls;     /* system calls, all transactions */
	u64 ranges;    /* asked for by plan, all transactions */
};

struct plan; /* opaque scratch, shared by all threads of a reader: one transaction at a time */

struct plan *plan_new(const struct mem_live *live);
void plan_free(struct plan *plan);
/* What the walker reads through. */
const struct mem *plan_mem(const struct plan *plan);
/* The process that is read, as it is now. */
const struct mem *plan_live(const struct plan *plan);
/* From here on the transactions read this process. `image`: a number that no other image of a process has. */
void plan_retarget(struct plan *plan, const struct mem_live *live, u64 image);

/* `still`: the thread is stopped; one copy is enough and nothing can conflict. */
void plan_begin(struct plan *plan, struct read_set *set, bool still);
/* Is all that the last walk with a true plan_end() took there again, but for the word that it took with mem_place()? Then it would
 * give what it gave, at the place that this word says, if there is one (*has_place): it need not be walked, and the
 * head and the leaf are done. */
bool plan_is_repeated(struct plan *plan, bool *has_place, u64 *place);
/* What `begin` reads is read. Constants are those of this epoch; 0: there are none. */
void plan_head_done(struct plan *plan, u64 epoch);
enum plan_verdict plan_settle(struct plan *plan);
/* Of what was PLAN_HELD: is all of it there even now, so that what mem_peek_last took goes with it? A copy more; if not, the
 * place is not learned. */
bool plan_stands(struct plan *plan);
/* Call when the walk has its leaf: what it reads from here on belongs to the callers. With `ask`, true says that the bytes
 * which the last walk with a true plan_end() read for them are all unchanged: they need not be walked again. */
bool plan_leaf_done(struct plan *plan, bool ask);
/* `believed`: the walk gave a real stack of this thread. `sure`: and its leaf is none that an earlier call left, which may
 * have led to objects that were dead: what it took for constants is kept. True: it is what plan_is_repeated() and plan_leaf_done()
 * compare with from now on. */
bool plan_end(struct plan *plan, bool believed, bool sure);
/* Were words of the head read at once and not by the plan? Then what should be read last was not. */
bool plan_head_was_late(const struct plan *plan);
/* Did any word, one that may drift too, differ between the copies of this transaction? Then the
 * thread ran while it was read. Call after plan_settle. */
bool plan_saw_motion(const struct plan *plan);
struct plan_stats plan_stats(const struct plan *plan);
