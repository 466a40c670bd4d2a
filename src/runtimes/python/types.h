/* SPDX-License-Identifier: Apache-2.0
 * types.h - of which type an object is, by that type's name: types move, their names stay. */
#pragma once
#include "mem/mem.h"
#include "runtimes/python/layout.h"

enum { PYTHON_TYPE_NAME_MAX = 64 };

/* Has the object at this address references? It has none from the moment on at which it dies, and when it is dead its
 * allocator keeps an address there. */
bool python_is_alive(const struct mem *mem, const struct python_state *state, u64 object);
/* Cut where it is longer. */
bool python_type_name(const struct mem *mem, const struct python_state *state, u64 object,
		      char out[PYTHON_TYPE_NAME_MAX]);
bool python_is_of_type(const struct mem *mem, const struct python_state *state, u64 object,
		       const char *name);
/* The generator or coroutine that an awaited object is, or stands for; 0: neither. */
u64 python_generator_of(const struct mem *mem, const struct python_state *state, u64 object);
