/* SPDX-License-Identifier: Apache-2.0
 * rng.c - see rng.h. */
#include "base/rng.h"

#include "base/clock.h"

#include <sys/random.h>

u64 rng_seed(void)
{
	u64 seed;

	return getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed ? seed : clock_now_ns();
}
