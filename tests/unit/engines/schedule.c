/* SPDX-License-Identifier: Apache-2.0
 * schedule.c - deadlines: exact on the mean, random within a slot, none unaccounted. */
#include "check.h"

#include "base/clock.h"
#include "engines/reader/schedule.h"

static void every_slot_has_one_deadline_within_it(void **state)
{
	struct schedule s;

	(void)state;
	schedule_init(&s, 1000, 100, 7);
	for (u64 slot = 0; slot < 10000; slot++) {
		assert_int_equal(s.slot, slot);
		assert_true(s.deadline_ns >= 1000 + slot * s.period_ns);
		assert_true(s.deadline_ns < 1000 + (slot + 1) * s.period_ns);
		assert_int_equal(schedule_take(&s, s.deadline_ns), 0);
	}
}

static void deadlines_are_spread_over_the_slot(void **state)
{
	struct schedule s;
	u32 quarter[4] = { 0 };

	(void)state;
	schedule_init(&s, 0, 100, 3);
	for (u32 i = 0; i < 40000; i++) {
		quarter[(s.deadline_ns - s.slot * s.period_ns) * 4 / s.period_ns]++;
		schedule_take(&s, s.deadline_ns);
	}
	for (u32 i = 0; i < 4; i++) /* 10,000 each, sigma 87: six of them */
		assert_in_range(quarter[i], 9480, 10520);
}

static void what_was_missed_is_lost_by_number(void **state)
{
	struct schedule s;
	struct rng rng = { 5 };
	u64 now = 0, taken = 0, lost = 0;

	(void)state;
	schedule_init(&s, 0, 1000, 11);
	for (u32 i = 0; i < 20000; i++) {
		now = s.deadline_ns + rng_below(&rng, i % 10 ? NS_PER_MS / 2 : 40 * NS_PER_MS);
		lost += schedule_take(&s, now);
		taken++;
		assert_true(s.deadline_ns > now);
		assert_int_equal(s.slot, taken + lost);
	}
	/* what the clock says was due: the slot of `now`, give or take the jitter within it */
	assert_in_range(taken + lost, now / NS_PER_MS, now / NS_PER_MS + 2);
	assert_true(lost > 10000);
}

/* The slot is taken later: none is lost that would not have been. */
static void what_is_put_off_is_drawn_again(void **state)
{
	struct schedule s;
	struct rng rng = { 9 };
	u64 now = 0, taken = 0, lost = 0;
	u32 half[2] = { 0 };

	(void)state;
	schedule_init(&s, 0, 1000, 13);
	for (u32 i = 0; i < 20000; i++) {
		now = s.deadline_ns + (i % 8 ? 0 : NS_PER_MS / 2 + rng_below(&rng, 4 * NS_PER_MS));
		if (i % 8 == 0) {
			u64 slot = s.slot, missed = schedule_put_off(&s, now);
			assert_int_equal(s.slot, slot + missed);
			lost += missed;
			assert_true(s.deadline_ns >= now && s.deadline_ns < now + NS_PER_MS);
			half[s.deadline_ns - now < NS_PER_MS / 2]++;
		} else {
			lost += schedule_take(&s, now);
			taken++;
		}
		assert_true(s.following_ns >= s.deadline_ns);
		assert_int_equal(s.slot, taken + lost);
	}
	assert_in_range(taken + lost, now / NS_PER_MS - 2, now / NS_PER_MS + 2);
	/* the earlier of two: 1 of 4 and 3 of 4 at least */
	assert_true(half[0] > 300 && half[1] > 1250);
}

/* Of wake-ups that come 20 us late, those that come much later; where all do, half of them at most; and never more than
 * four on end. */
static void late_is_what_is_not_usual(void **state)
{
	struct schedule s;
	struct rng rng = { 21 };
	u32 late = 0, on_end = 0;

	(void)state;
	schedule_init(&s, 0, 1000, 17);
	for (u32 i = 0; i < 1000; i++) {
		bool is_slow = i % 10 == 9;
		u64 now = s.deadline_ns + (is_slow ? NS_PER_MS / 4 : 20 * NS_PER_US);
		assert_int_equal(schedule_is_late(&s, now), is_slow);
		schedule_take(&s, now);
	}
	for (u32 i = 0; i < 10000; i++) {
		u64 now = s.deadline_ns + NS_PER_MS + rng_below(&rng, NS_PER_MS);
		bool is_late = schedule_is_late(&s, now);
		late += is_late;
		on_end = is_late ? on_end + 1 : 0;
		assert_true(on_end <= 4);
		if (is_late)
			schedule_put_off(&s, now);
		else
			schedule_take(&s, now);
	}
	assert_in_range(late, 3000, 5500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_slot_has_one_deadline_within_it),
		cmocka_unit_test(deadlines_are_spread_over_the_slot),
		cmocka_unit_test(what_was_missed_is_lost_by_number),
		cmocka_unit_test(what_is_put_off_is_drawn_again),
		cmocka_unit_test(late_is_what_is_not_usual),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
