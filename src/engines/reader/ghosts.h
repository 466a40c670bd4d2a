/* SPDX-License-Identifier: Apache-2.0
 * ghosts.h - processes that were gone before the reader could look at them.
 *
 *	root --fork--> middle --fork--> grandchild
 *	                 |
 *	                gone when its FORK event is read: a daemon, "ruby x &" in a shell
 *
 * Nothing can be read of the middle one, but its children are ours, and what they begin with is
 * known: what its parent ran, or after its EXEC event nothing.  A ghost keeps that: a process
 * without a target.  It is no process of the run: not sampled, not in the ledger, never waited for.
 * It goes with its EXIT event, which the tracker tells after every fork of the same process; should
 * that be lost, after a second. */
#pragma once
#include "engines/reader/process.h"

struct ghost {
	struct reader_process *process;
	u64 until_ns;
};

struct ghosts {
	VEC(struct ghost) all;
	u64 kept; /* ever */
};

/* Takes the process. Without memory it is forgotten. */
void ghosts_keep(struct ghosts *ghosts, struct reader_process *process, u64 now_ns);
struct reader_process *ghosts_find(const struct ghosts *ghosts, u32 pid);
/* Hands it back: NULL when there is none. */
struct reader_process *ghosts_take(struct ghosts *ghosts, u32 pid);
void ghosts_drop(struct ghosts *ghosts, u32 pid);
/* Drops those whose time is over. One that is there all the same, only not to be read (it runs as
 * somebody else), may have children that are, and stays. */
void ghosts_expire(struct ghosts *ghosts, u64 now_ns);
void ghosts_free(struct ghosts *ghosts);
