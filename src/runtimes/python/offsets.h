/* SPDX-License-Identifier: Apache-2.0
 * offsets.h - the numbers that a process of Python 3.13 or later has of itself: struct _Py_DebugOffsets. */
#pragma once
#include "base/err.h"
#include "mem/mem.h"
#include "runtimes/python/layout.h"

/* The word that such a table begins with: "xdebugpy". */
#define PYTHON_COOKIE 0x7970677562656478ull

/* Is there such a table at `runtime`? Its version then. */
bool python_offsets_version(const struct mem *mem, u64 runtime, u32 *version, bool *free_threaded);
/* Fills state->at and state->source.  False, and why: the table is of a version that sonde does not know, or
 * its numbers cannot be. */
bool python_offsets_read(const struct mem *mem, u64 runtime, struct python_state *state,
			 struct err *err);
