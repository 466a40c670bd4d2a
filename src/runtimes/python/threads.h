/* SPDX-License-Identifier: Apache-2.0
 * threads.h - what the module threading calls the threads: Thread.name. */
#pragma once
#include "runtimes/runtime.h"

struct python_state;

/* Fills the state's `active`: that of the interpreter that the process began with; false: it has not imported threading yet. */
bool python_find_threads(const struct mem *mem, void *state);
/* Leaves the label empty for a thread that threading does not know (yet). */
void python_name_thread(const struct mem *mem, const struct python_state *state, u64 thread,
			struct frame_name *out);
