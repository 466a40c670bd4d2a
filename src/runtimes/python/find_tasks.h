/* SPDX-License-Identifier: Apache-2.0
 * find_tasks.h - where asyncio keeps its tasks, in a process that has imported it. */
#pragma once
#include "base/types.h"

struct target;

/* Fills the state's `tasks`; false: there are none yet. */
bool python_find_tasks(const struct target *target, void *state, bool new_images);
