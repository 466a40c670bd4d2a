/* SPDX-License-Identifier: Apache-2.0
 * loops.h - which thread runs a task's loop. */
#pragma once
#include "mem/mem.h"
#include "runtimes/python/layout.h"

/* What was found out last: tasks of one loop follow each other. 0 at first. */
struct python_loop {
	u64 loop, thread;
};

/* The thread of the VM whose loop the task belongs to; 0: not known, or the loop does not run. */
u64 python_loop_thread(const struct mem *mem, const struct python_state *state, u64 task,
		       struct python_loop *last);
