/* SPDX-License-Identifier: Apache-2.0
 * attributes.h - what an object's attributes are, without their names. */
#pragma once
#include "mem/mem.h"
#include "runtimes/python/layout.h"

/* True ends the search. */
typedef bool python_value_fn(void *arg, u64 value);
/* The values of the first attributes that an instance was given, in that order, and words beside them that are none:
 * `fn` has to know what it looks for.  Did it find it? */
bool python_each_attribute(const struct mem *mem, const struct python_state *state, u64 object,
			   python_value_fn *fn, void *arg);
