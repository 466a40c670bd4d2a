/* SPDX-License-Identifier: Apache-2.0
 * rng.h - random numbers for jitter and tests; not for secrets.
 *
 * splitmix64 (Steele, Lea, Flood, OOPSLA 2014): one word of state, any seed. */
#pragma once
#include "base/types.h"

struct rng {
	u64 state;
};

static inline u64 rng_u64(struct rng *rng)
{
	u64 z = rng->state += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* From the system; where it has none to give yet, from the clock. */
u64 rng_seed(void);

/* Uniform in [0, bound); bound > 0.  The bias of the multiply is below 2^-32 for our bounds. */
static inline u64 rng_below(struct rng *rng, u64 bound)
{
	return (u64)(((unsigned __int128)rng_u64(rng) * bound) >> 64);
}
