/* SPDX-License-Identifier: Apache-2.0
 * waiters.h - who waits for a future or a task. */
#pragma once
#include "mem/mem.h"
#include "runtimes/python/layout.h"

/* Is it a task, and not another future? */
bool python_is_task(const struct mem *mem, const struct python_state *state, u64 object);
/* The task that waits for this one, through futures such as gather() has; 0: none. */
u64 python_waiting_task(const struct mem *mem, const struct python_state *state, u64 future);
