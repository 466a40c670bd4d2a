/* SPDX-License-Identifier: Apache-2.0
 * attributes.h - an attribute of an object, by its name. */
#pragma once
#include "mem/mem.h"
#include "runtimes/python/layout.h"

/* The value that the instance itself has under this name (in its __dict__, not in its class or a slot); not before 3.6. */
bool python_find_attribute(const struct mem *mem, const struct python_state *state, u64 object,
			   const char *name, u64 *value);
