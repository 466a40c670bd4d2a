/* SPDX-License-Identifier: Apache-2.0
 * lines.h - from an instruction to where it stands in the source. */
#pragma once
#include "mem/mem.h"
#include "runtimes/python/layout.h"

/* Lines from 1, columns from 1, in bytes of UTF-8; `end_column` is one behind the last. 0: not known. */
struct python_place {
	u32 line, end_line;
	u32 column, end_column;
	u32 near; /* where it has none: the line that it belongs to; 0: that of the function */
};

/* `offset`: of the instruction, in bytes from the first.  False when the table is not one. */
bool python_find_line(const struct mem *mem, const struct python_state *state, u64 table,
		      u32 first_line, u32 offset, struct python_place *out);
