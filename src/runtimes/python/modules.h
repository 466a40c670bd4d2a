/* SPDX-License-Identifier: Apache-2.0
 * modules.h - what the target has imported. */
#pragma once
#include "mem/mem.h"
#include "runtimes/python/layout.h"

/* The dict of a module's names, by way of sys.modules of the first interpreter; false: not imported, or sonde does not know
 * where this Python has them. */
bool python_find_module(const struct mem *mem, const struct python_state *state, const char *name,
			u64 *dict);
