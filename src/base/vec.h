/* SPDX-License-Identifier: Apache-2.0
 * vec.h - a growing array of any type.
 *
 *	VEC(u64) addresses = { 0 };
 *	if (!vec_push(&addresses, addr)) return err_no_memory(err);
 *	for (u32 i = 0; i < addresses.count; i++) use(addresses.at[i]);
 *	vec_free(&addresses);
 *
 * All zero is a valid empty vector.
 *
 *	u32 at = vec_first_not(&ranges, one, one->end <= addr);
 *
 * searches a sorted one by halves. */
#pragma once
#include "base/types.h"
#include <stdlib.h>
#include <string.h>

#define VEC(type)          \
	struct {           \
		type *at;  \
		u32 count; \
		u32 room;  \
	}

/* Room for `want` items in all. False when out of memory; nothing is lost then. */
static inline bool vec_grow_bytes(void **at, u32 *room, u32 want, size_t size)
{
	if (want <= *room)
		return true;
	u32 next = *room ? *room : 8;
	while (next < want) {
		if (next > UINT32_MAX / 2)
			return false;
		next *= 2;
	}
	void *grown = reallocarray(*at, next, size);
	if (!grown)
		return false;
	*at = grown;
	*room = next;
	return true;
}

/* at[index] is there, new items all zero. False when out of memory; nothing is lost then. */
static inline bool vec_reach_bytes(void **at, u32 *count, u32 *room, u32 index, size_t size)
{
	if (index < *count)
		return true;
	if (index == UINT32_MAX || !vec_grow_bytes(at, room, index + 1, size))
		return false;
	memset((u8 *)*at + *count * size, 0, (index + 1 - *count) * size);
	*count = index + 1;
	return true;
}

/* What the other holds, and no more. False when out of memory; nothing is lost then. */
static inline bool vec_copy_bytes(void **at, u32 *count, u32 *room, const void *from,
				  u32 from_count, size_t size)
{
	if (!vec_grow_bytes(at, room, from_count, size))
		return false;
	if (from_count)
		memcpy(*at, from, from_count * size);
	*count = from_count;
	return true;
}

#define vec_grow(v, want) vec_grow_bytes((void **)&(v)->at, &(v)->room, (want), sizeof *(v)->at)
#define vec_push(v, ...) \
	(vec_grow((v), (v)->count + 1) ? ((v)->at[(v)->count++] = (__VA_ARGS__), true) : false)
#define vec_reach(v, index) \
	vec_reach_bytes((void **)&(v)->at, &(v)->count, &(v)->room, (index), sizeof *(v)->at)
#define vec_copy(to, from)                                                         \
	vec_copy_bytes((void **)&(to)->at, &(to)->count, &(to)->room,              \
		       1 ? (from)->at : (to)->at /* of one type */, (from)->count, \
		       sizeof *(to)->at)
/* How many items the condition holds for, where those come first; `one` is what it calls an item. */
#define vec_first_not(v, one, ...)                                     \
	({                                                             \
		u32 low_ = 0, high_ = (v)->count;                      \
		while (low_ < high_) {                                 \
			u32 middle_ = low_ + (high_ - low_) / 2;       \
			const typeof((v)->at) one = (v)->at + middle_; \
			if (__VA_ARGS__)                               \
				low_ = middle_ + 1;                    \
			else                                           \
				high_ = middle_;                       \
		}                                                      \
		low_;                                                  \
	})
#define vec_clear(v) ((v)->count = 0)
#define vec_free(v) (free((v)->at), (v)->at = NULL, (v)->count = (v)->room = 0)
