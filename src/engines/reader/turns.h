/* SPDX-License-Identifier: Apache-2.0
 * turns.h - the threads of a VM that one native thread runs by turns.
 *
 * A host of several Python interpreters (a web server's module) has a thread state in each of them for each of its native
 * threads.  Only the one whose turn it is has frames, or all but the innermost stand still.  To the profile they are one
 * thread; each keeps what it learned of its own memory. */
#pragma once
#include "base/vec.h"
#include "engines/reader/look.h"
#include "mem/plan.h"

struct reader_thread;

struct reader_turn {
	u64 thread; /* its address in the VM */
	bool present;
	struct read_set set;
	struct look_memory memory;
};

typedef VEC(struct reader_turn) reader_turns;

/* It is this one's turn: `thread` is bound to it, and the one it was bound to waits. */
void turns_switch(struct reader_thread *thread, u64 address);
/* Is it one of those that wait? */
bool turns_have(const struct reader_thread *thread, u64 address);
/* A refresh: begins, meets one that waits, and drops those that were not met. */
void turns_begin(struct reader_thread *thread);
void turns_meet(struct reader_thread *thread, u64 address);
void turns_end(struct reader_thread *thread);
void turns_free(struct reader_thread *thread);
