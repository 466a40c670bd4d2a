/* SPDX-License-Identifier: Apache-2.0
 * schedule.c - see schedule.h. */
#include "engines/reader/schedule.h"

#include "base/clock.h"

enum { PUT_OFF_MOST = 4 };

/* Nearly all wake-ups come within so much of the usual time when a CPU is free. */
static const u64 LATE_NS = 30 * NS_PER_US;
static const u64 USUAL_LEAST_NS = 10 * NS_PER_US;

/* About a time slice: long after what let us in, and soon enough for the slots behind it. */
static const u64 PUT_OFF_NS = 3 * NS_PER_MS;

/* Who waits this long for a CPU has to take what there is. */
static const u64 STARVED_NS = 10 * NS_PER_MS;

static u64 deadline_in(struct schedule *schedule, u64 slot)
{
	/* slot * period in full precision: at 99 Hz a period rounded to ns drifts 1 slot in 3 years */
	return schedule->start_ns + slot * schedule->period_ns +
	       rng_below(&schedule->rng, schedule->period_ns);
}

void schedule_init(struct schedule *schedule, u64 now_ns, u32 hz, u64 seed)
{
	*schedule = (struct schedule){ .start_ns = now_ns,
				       .period_ns = NS_PER_S / hz,
				       .rng = { seed },
				       .late_ns = { LATE_NS, USUAL_LEAST_NS } };
	schedule->deadline_ns = deadline_in(schedule, 0);
	schedule->following_ns = deadline_in(schedule, 1);
}

/* The earlier one is the next one. */
static void schedule_draw(struct schedule *schedule, u64 one_ns, u64 other_ns)
{
	bool in_order = one_ns <= other_ns;

	schedule->deadline_ns = in_order ? one_ns : other_ns;
	schedule->following_ns = in_order ? other_ns : one_ns;
}

static void schedule_step(struct schedule *schedule)
{
	schedule->slot++;
	schedule_draw(schedule, schedule->following_ns, deadline_in(schedule, schedule->slot + 1));
}

/* To the last slot whose deadline has passed; gives how many before it are lost. */
static u64 schedule_catch_up(struct schedule *schedule, u64 now_ns)
{
	u64 lost = 0;
	u64 behind = now_ns > schedule->deadline_ns ?
			     (now_ns - schedule->deadline_ns) / schedule->period_ns :
			     0;

	if (behind > 2) {
		/* far behind (suspend, SIGSTOP): draw only the last two deadlines */
		lost = behind - 2;
		schedule->slot += lost;
		schedule->deadline_ns = deadline_in(schedule, schedule->slot);
		schedule->following_ns = deadline_in(schedule, schedule->slot + 1);
	}
	while (schedule->following_ns <= now_ns) {
		schedule_step(schedule);
		lost++;
	}
	return lost;
}

u64 schedule_take(struct schedule *schedule, u64 now_ns)
{
	u64 lost = schedule_catch_up(schedule, now_ns);

	schedule_step(schedule);
	return lost;
}

u64 schedule_put_off(struct schedule *schedule, u64 now_ns)
{
	u64 lost = schedule_catch_up(schedule, now_ns);
	u64 most_ns = schedule->period_ns < PUT_OFF_NS ? schedule->period_ns : PUT_OFF_NS;

	schedule_draw(schedule, now_ns + rng_below(&schedule->rng, most_ns),
		      schedule->following_ns);
	return lost;
}

bool schedule_is_late(struct schedule *schedule, u64 now_ns)
{
	u64 late_ns = now_ns - schedule->deadline_ns;
	bool is_late = late_ns > schedule->late_ns.value + LATE_NS && late_ns < STARVED_NS &&
		       schedule->put_off < PUT_OFF_MOST;

	median_learn(&schedule->late_ns, late_ns);
	schedule->put_off = is_late ? schedule->put_off + 1 : 0;
	return is_late;
}
