/* SPDX-License-Identifier: Apache-2.0
 * values.h - objects of the target as repr() would show them, shortened. */
#pragma once
#include "base/str.h"
#include "mem/mem.h"
#include "runtimes/python/layout.h"

/* Adds the object to `out`: numbers, strings, bytes and short containers in full, of others the type and where
 * it is.  What cannot be read is "?". No code of the target runs, so what a program's own __repr__ says is not
 * known. */
void python_add_value(const struct mem *mem, const struct python_state *state, u64 object,
		      struct str *out);
/* Where a tuple's items are, and how many; false: it cannot be read. */
bool python_read_tuple(const struct mem *mem, const struct python_state *state, u64 tuple,
		       u64 *items, u64 *count);
/* What a cell holds; any other object is itself. */
u64 python_cell_content(const struct mem *mem, const struct python_state *state, u64 object);
