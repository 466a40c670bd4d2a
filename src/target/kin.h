/* SPDX-License-Identifier: Apache-2.0
 * kin.h - how two processes are related. */
#pragma once
#include "target/target.h"

/* The parent's pid, as this side sees it; 0 when it cannot be read. */
u32 target_parent(const struct target *target);
/* Do both run in one address space, as a vfork child does until its exec? */
bool target_shares_memory(const struct target *a, const struct target *b);
/* Should its children be looked at, too? */
typedef bool target_child_fn(void *arg, u32 pid, u32 parent);
/* Calls `fn` for each child of the `count` processes (zombies too), and then for the children of those for which it returned
 * true. A process that forks meanwhile may have a child that is missed, but none that it has after `fn` returned for it.
 * False: out of memory, and some may be missing. */

bool target_each_descendant(const u32 *pids, u32 count, target_child_fn *fn, void *arg);
/* Is there a process of this number that has not ended? A zombie has, though kill(pid, 0) finds it. */
bool target_is_alive(u32 pid);
