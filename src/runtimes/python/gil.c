/* SPDX-License-Identifier: Apache-2.0
 * gil.c - see gil.h.
 *
 *	3.12 on        a struct that the interpreter leads to
 *	3.7 to 3.11    at the beginning of the runtime
 *	3.6            variables of ceval.c, in the image beside the one that says who holds it
 *	2.7            a semaphore on the heap, to which a variable leads that PyEval_ThreadsInitialized() looks at */
#include "runtimes/python/gil.h"

#include "runtimes/python/interpreters.h"
#include "runtimes/python/step.h"

enum {
	GIL_BYTES = 256,
	RUNTIME_GIL_BYTES = 2048,
	VARIABLES_BYTES = 1 << 18, /* ceval.c's to pystate.c's in 3.6: 20 kB, 170 kB with LTO */
	SEMAPHORE_BYTES = 16,
};

/* In 2.7. There is none before a second thread is begun, and a child that is forked makes a new one. */
static bool is_semaphore(const struct mem *mem, const struct python_state *state, u64 address)
{
	u64 semaphore;

	return state->gil && mem_peek(mem, state->gil, &semaphore, 8) && semaphore &&
	       address - semaphore < SEMAPHORE_BYTES;
}

/* That of an interpreter which is not the main one. */
static bool is_another(const struct mem *mem, const struct python_state *state, u64 address)
{
	u64 interp = 0, gil;

	for (u32 i = 0; i < PYTHON_INTERPRETERS_MAX; i++) {
		if (!python_next_interp(mem, state, &interp) || interp == state->main)
			return false;
		if (mem_peek(mem, interp + state->at.interp_gil, &gil, 8) &&
		    address - gil < GIL_BYTES)
			return true;
	}
	return false;
}

bool python_is_gil(const struct mem *mem, const struct python_state *state, u64 address)
{
	if (python_major(state) < 3)
		return is_semaphore(mem, state, address);
	if (state->gil)
		return address - state->gil < GIL_BYTES || is_another(mem, state, address);
	if (state->runtime)
		return address - state->runtime < RUNTIME_GIL_BYTES;
	return state->holder && address - state->holder + VARIABLES_BYTES < 2 * VARIABLES_BYTES;
}
