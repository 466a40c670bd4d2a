/* SPDX-License-Identifier: Apache-2.0
 * containers.h - what a dict or a set of the target holds.
 *
 * The target runs on: what is found was there, one after the other.  A container that is rebuilt meanwhile
 * ends early. */
#pragma once
#include "mem/mem.h"
#include "runtimes/python/layout.h"

/* True ends the search. */
typedef bool python_item_fn(void *arg, u64 key, u64 value);
/* Each key with its value, in the order of insertion, of the first 65,536. Did `fn` end it? */
bool python_each_item(const struct mem *mem, const struct python_state *state, u64 dict,
		      python_item_fn *fn, void *arg);
/* What the dict has under this string. */
bool python_find_item(const struct mem *mem, const struct python_state *state, u64 dict,
		      const char *key, u64 *value);
/* The place of this string among the keys that the instances of a type share; false: `keys` are none such, or do not have it. */
bool python_find_key(const struct mem *mem, const struct python_state *state, u64 keys,
		     const char *key, u32 *place);
/* What the dict has under this int, from 0 to 2^61 - 2. */
bool python_find_number(const struct mem *mem, const struct python_state *state, u64 dict,
			u64 number, u64 *value);

enum { PYTHON_SET_END = UINT32_MAX };
/* Some members of a set from slot *place on, `room` at the most. *place moves on, to PYTHON_SET_END at last; a call
 * may find none before that. */
u32 python_set_members(const struct mem *mem, const struct python_state *state, u64 set, u32 *place,
		       u64 *out, u32 room);
