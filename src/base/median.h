/* SPDX-License-Identifier: Apache-2.0
 * median.h - a running estimate of a median, for what is usual on a machine: no history, two words.
 *
 * Each value moves the estimate by a twentieth towards itself: it rests where as many lie above as
 * below, and follows a change of ten times in some fifty values. */
#pragma once
#include "base/types.h"

struct median {
	u64 value; /* the estimate; begins as a guess of 20 or more */
	u64 least; /* never below */
};

static inline void median_learn(struct median *median, u64 value)
{
	u64 step = median->value / 20;

	if (value > median->value)
		median->value += step;
	else if (median->value >= median->least + step)
		median->value -= step;
}
