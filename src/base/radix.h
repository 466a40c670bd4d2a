/* SPDX-License-Identifier: Apache-2.0
 * radix.h - many items in the order of a number that each of them holds.
 *
 * By digits of the number, the lowest first: three or four times through all of them, where comparing goes through them
 * twenty times. What has the same number keeps its order. */
#pragma once
#include <string.h>

#include "base/types.h"

enum { RADIX_BITS = 11, RADIX_DIGITS = 1 << RADIX_BITS };

static inline u64 radix_key(const char *items, u32 index, u32 bytes, u32 key_at)
{
	u64 key;

	memcpy(&key, items + (u64)index * bytes + key_at, sizeof key);
	return key;
}

static inline void radix_order_by_digit(const char *from, char *to, u32 count, u32 bytes,
					u32 key_at, u64 least, u32 shift)
{
	u32 places[RADIX_DIGITS] = { 0 }, place = 0;

	for (u32 i = 0; i < count; i++)
		places[((radix_key(from, i, bytes, key_at) - least) >> shift) % RADIX_DIGITS]++;
	for (u32 digit = 0; digit < RADIX_DIGITS; digit++) {
		u32 others = places[digit];
		places[digit] = place;
		place += others;
	}
	for (u32 i = 0; i < count; i++) {
		u64 digit = ((radix_key(from, i, bytes, key_at) - least) >> shift) % RADIX_DIGITS;
		memcpy(to + (u64)places[digit]++ * bytes, from + (u64)i * bytes, bytes);
	}
}

/* `count` items of `bytes` each, with a u64 at `key_at`; `spare` has room for as many. */
static inline void radix_order(void *items, void *spare, u32 count, u32 bytes, u32 key_at)
{
	char *from = items, *to = spare;
	u64 least = UINT64_MAX, most = 0;

	for (u32 i = 0; i < count; i++) {
		u64 key = radix_key(from, i, bytes, key_at);
		least = key < least ? key : least;
		most = key > most ? key : most;
	}
	for (u32 shift = 0; count && shift < 64 && (most - least) >> shift; shift += RADIX_BITS) {
		radix_order_by_digit(from, to, count, bytes, key_at, least, shift);
		char *ordered = to;
		to = from;
		from = ordered;
	}
	if (from != items)
		memcpy(items, from, (u64)count * bytes);
}
