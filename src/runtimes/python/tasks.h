/* SPDX-License-Identifier: Apache-2.0
 * tasks.h - asyncio: which tasks there are, where each waits, and who waits for it. */
#pragma once
#include "runtimes/runtime.h"

struct python_state;

extern const struct runtime_tasks python_runtime_tasks;

/* The name of a task: what Task.get_name() says. Before 3.8 tasks had none. */
bool python_name_task(const struct mem *mem, const struct python_state *state,
		      const struct frame *frame, struct frame_name *out);
