/* SPDX-License-Identifier: Apache-2.0
 * schedule.h - when to look: random deadlines, every one of them accounted for.
 *
 * A fixed round rate can be totally wrong: 100 Hz on a program with a 10 ms period
 * shows 0 % of a function that is half of it.  Time is cut into slots of one period;
 * slot n has one deadline, uniform within it, so that the mean rate is exact and no
 * period of the program can fall in step.  A slot whose deadline and whose successor's
 * have both passed before we ran is lost, by name.
 *
 * Where every CPU is busy, one that is waited for comes when somebody gives it up, and that may be the
 * program: what it does then would be seen too often.  So an attempt that would come late, by what is usual
 * here, is put off by a random time. */
#pragma once
#include "base/median.h"
#include "base/rng.h"
#include "base/types.h"

struct schedule {
	u64 start_ns;
	u64 period_ns;
	u64 slot;         /* the next one to be taken */
	u64 deadline_ns;  /* of `slot` */
	u64 following_ns; /* of `slot` + 1 */
	struct rng rng;
	struct median late_ns; /* how long after its deadline a wake-up comes */
	u32 put_off;           /* so often was the next attempt */
};

void schedule_init(struct schedule *schedule, u64 now_ns, u32 hz, u64 seed);
/* When `now_ns` is at or after the deadline: takes the last slot whose deadline has passed, and
 * returns how many before it are lost. Call it only then. */
u64 schedule_take(struct schedule *schedule, u64 now_ns);
/* Asked once a wake-up: is it too late to look, so that the slot should be put off? Never more than four times on end, and
 * not when it is 10 ms late or more. */
bool schedule_is_late(struct schedule *schedule, u64 now_ns);
/* Instead of taking that slot, draws its deadline again, within a period or 3 ms, the shorter one, from now; returns how
 * many before it are lost. */
u64 schedule_put_off(struct schedule *schedule, u64 now_ns);
