/* SPDX-License-Identifier: Apache-2.0
 * carry.h - CPU time that samples stand for beside their own thread's.
 *
 * Of threads that have used less than some periods most have no sample, so that those that have one are paid by the period.  What
 * the clocks say more or less than that is carried on to later samples. */
#pragma once
#include "base/types.h"

/* So many periods, and the thread's own clock knows better: one in 55 has no sample by then. */
enum { KNOWN_PERIODS = 4 };

/* What is carried is drained by so many samples: with more the sum is further off, with fewer each weight. */
enum { CARRY_SAMPLES = 8 };

/* The part of what is carried, in nanoseconds, that so many samples take along. */
static inline s64 carry_drain(s64 *carried, u64 samples)
{
	s64 part = samples < CARRY_SAMPLES ? *carried * (s64)samples / CARRY_SAMPLES : *carried;

	*carried -= part;
	return part;
}
