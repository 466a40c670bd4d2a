/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * spread.h - numbers that differ in a few low bits, as addresses do, made to differ in the high ones (Knuth's
 * multiplicative hashing, The Art of Computer Programming 6.4).
 *
 * BPF-safe text. */
#pragma once
#include "base/types.h"

/* 2^64 divided by the golden ratio: odd. */
#define SPREAD 0x9e3779b97f4a7c15ull

/* The place of an address in a table of `slots`, a power of two, of 2^16 at most. */
static inline u32 spread_slot(u64 addr, u32 slots)
{
	return (u32)(addr * SPREAD >> 48) & (slots - 1);
}
