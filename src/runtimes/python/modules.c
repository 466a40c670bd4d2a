/* SPDX-License-Identifier: Apache-2.0
 * modules.c - see modules.h. */
#include "runtimes/python/modules.h"

#include "runtimes/python/containers.h"
#include "runtimes/python/step.h"
#include "runtimes/python/types.h"

bool python_find_module(const struct mem *mem, const struct python_state *state, u64 interp,
			const char *name, u64 *dict)
{
	const struct python_layout *at = &state->at;
	u64 modules, module;

	return at->interp_modules && python_address_ok(interp) &&
	       mem_peek(mem, interp + at->interp_modules, &modules, 8) &&
	       python_find_item(mem, state, modules, name, &module) &&
	       python_is_of_type(mem, state, module, "module") &&
	       mem_peek(mem, module + at->bytes_length, dict, 8);
}
