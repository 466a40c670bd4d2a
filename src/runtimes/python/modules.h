/* SPDX-License-Identifier: Apache-2.0
 * modules.h - what the target has imported. */
#pragma once
#include "mem/mem.h"
#include "runtimes/python/layout.h"

/* The dict of a module's names, by way of an interpreter's sys.modules; false: not imported there, or sonde does not know
 * where this Python has them. */
bool python_find_module(const struct mem *mem, const struct python_state *state, u64 interp,
			const char *name, u64 *dict);
