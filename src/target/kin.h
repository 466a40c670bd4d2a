/* SPDX-License-Identifier: Apache-2.0
 * kin.h - how two processes are related. */
#pragma once
#include "target/target.h"

/* The parent's pid, as this side sees it; 0 when it cannot be read. */
u32 target_parent(const struct target *target);
/* Do both run in one address space, as a vfork child does until its exec? */
bool target_shares_memory(const struct target *a, const struct target *b);
/* Is there a process of this number that has not ended? A zombie has, though kill(pid, 0) finds it. */
bool target_is_alive(u32 pid);
