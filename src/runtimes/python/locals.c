/* SPDX-License-Identifier: Apache-2.0
 * locals.c - names come from the code object, values from the frame, in the same order.
 *
 *	to 3.10    co_varnames  co_cellvars  co_freevars     one tuple behind the other
 *	3.11 on    co_localsplusnames
 *
 * Cells are shown as what they hold. A value without one (not set yet, or deleted) is left out. */
#include "runtimes/python/locals.h"

#include "runtimes/python/step.h"
#include "runtimes/python/strings.h"
#include "runtimes/python/values.h"

enum { LOCALS_MOST = 256 };

static bool add_tuple_of_names(const struct mem *mem, const struct python_state *state, u64 tuple,
			       u64 values, u32 *index, struct str *out)
{
	u64 items, size, name, value;

	if (!python_read_tuple(mem, state, tuple, &items, &size))
		return false;
	for (u64 i = 0; i < size && *index < LOCALS_MOST; i++, ++*index) {
		if (!mem_peek(mem, items + 8 * i, &name, 8) ||
		    !mem_peek(mem, values + 8ull * *index, &value, 8))
			return false;
		value = python_untagged(state, value);
		if (value)
			value = python_cell_content(mem, state, value);
		if (!value)
			continue;
		if (!python_read_string(mem, state, name, out))
			return false;
		str_add_text(out, " = ");
		python_add_value(mem, state, value, out);
		str_add_text(out, "\n");
	}
	return true;
}

static bool is_still(const struct mem *mem, const struct python_state *state,
		     const struct frame *frame)
{
	u64 code;

	if (!mem_peek(mem, frame->at + state->at.frame_code, &code, 8))
		return false;
	return python_untagged(state, code) == frame->id;
}

bool python_add_locals(const struct mem *mem, const void *state_, const struct frame *frame,
		       struct str *out)
{
	const struct python_state *state = state_;
	const struct python_layout *at = &state->at;
	const u32 tuples[] = { at->code_locals, at->code_variables, at->code_cells, at->code_free };
	u64 tuple, values = frame->at + at->frame_locals;
	u32 index = 0;

	for (u32 i = 0; i < COUNT_OF(tuples); i++)
		if (tuples[i] && (!mem_peek(mem, frame->id + tuples[i], &tuple, 8) ||
				  !add_tuple_of_names(mem, state, tuple, values, &index, out)))
			return false;
	return is_still(mem, state, frame);
}
