/* SPDX-License-Identifier: Apache-2.0
 * interpreters.c - see interpreters.h. */
#include "runtimes/python/interpreters.h"

#include "runtimes/python/step.h"

bool python_next_interp(const struct mem *mem, const struct python_state *state, u64 *interp)
{
	u64 place = *interp ? *interp + state->at.interp_next : state->interpreters;

	return mem_peek(mem, place, interp, 8) && python_address_ok(*interp);
}

bool python_first_interp(const struct mem *mem, const struct python_state *state, u64 *interp)
{
	u64 next = 0;

	*interp = 0;
	for (u32 i = 0; i < PYTHON_INTERPRETERS_MAX && python_next_interp(mem, state, &next); i++)
		*interp = next;
	return *interp;
}
