/* SPDX-License-Identifier: Apache-2.0
 * carry.h - CPU time that samples stand for beside their own thread's.
 *
 * Of threads that have used less than some periods most have no sample, so that those that have one are paid by the period.  What
 * the clocks say more or less than that is carried on to later samples. */
#pragma once
#include "base/clock.h"

/* So many periods, and the thread's own clock knows better: one in 55 has no sample by then. */
enum { KNOWN_PERIODS = 4 };

/* Has who is owed so much, and was owed `left` when it was paid at `paid_at_ns`, used several periods since, and as many a second? What it was
 * paid before has no say in it, and nor has how long its next sample was not to come: to pay those by the clock who were met too
 * seldom would be to pay too much. */
static inline bool carry_is_known(s64 owed, s64 left, u64 period_ns, u64 paid_at_ns, u64 now_ns)
{
	s64 used = owed - left, some = KNOWN_PERIODS * (s64)period_ns;
	u64 passed_ns = now_ns > paid_at_ns ? now_ns - paid_at_ns : 0;

	return owed > 0 && used >= some &&
	       (double)used * (double)NS_PER_S >= (double)some * (double)passed_ns;
}

/* What is carried is drained by so many samples: with more the sum is further off, with fewer each weight. */
enum { CARRY_SAMPLES = 8 };

/* What a thread's later samples are to make up for, that was paid for `samples` just now.  What it is paid at the instant of a sample is too much by
 * that sample's part, on the average: another thread that used as much, and was not met then, has nothing to make up for it.  So
 * that part stays.  (Found by simulation: within 1 % for half a period to 100 of them, where it was 7 % less, or more.) */
static inline s64 carry_left(s64 owed, u64 period_ns, u64 samples)
{
	return owed + (s64)(period_ns / samples);
}

/* The part of what is carried, in nanoseconds, that so many samples take along. */
static inline s64 carry_drain(s64 *carried, u64 samples)
{
	s64 part = samples < CARRY_SAMPLES ? *carried * (s64)samples / CARRY_SAMPLES : *carried;

	*carried -= part;
	return part;
}
