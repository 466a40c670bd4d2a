/* SPDX-License-Identifier: Apache-2.0
 * interpreters.h - the interpreters of a process: the newest comes first in the list, the one that it began with last. */
#pragma once
#include "mem/mem.h"
#include "runtimes/python/layout.h"

enum { PYTHON_INTERPRETERS_MAX = 256 };

/* The one behind `interp`, which is 0 at first; false: no more. */
bool python_next_interp(const struct mem *mem, const struct python_state *state, u64 *interp);
/* The one that the process began with; false: it cannot be read. */
bool python_first_interp(const struct mem *mem, const struct python_state *state, u64 *interp);
