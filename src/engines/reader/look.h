/* SPDX-License-Identifier: Apache-2.0
 * look.h - one attempt at one thread: walk, verify, and say what stood.
 *
 * Always yields a stack.  What was proven to stand still for the whole read is given as it
 * is; otherwise the frames of the first copy, as far as each is known to be called by the one
 * outside it (calls.h), stand under one [moving] leaf. */
#pragma once
#include "base/vec.h"
#include "mem/plan.h"
#include "runtimes/runtime.h"
#include "sample/calls.h"
#include "sample/sample.h"

typedef VEC(struct frame) look_frames;

/* Adds frames; false when out of memory. */
bool look_put(look_frames *stack, const struct frame *frames, u32 count);

/* Scratch, one a reader. */
struct look {
	struct plan *plan;
	struct calls calls;
	look_frames walked;
	struct walk after_leaf; /* of the last walk */
	u64 path;          /* calls_path() of its callers, if these are remembered ones; else 0 */
	look_frames stack; /* the result */
	look_frames tasks; /* the task that the thread runs, and its callers */
};

/* Of one thread: what its last believed walk met, and how it went on behind the leaf.  All zero: not known. */
struct look_memory {
	u64 root_at; /* where the outermost frame of the last believed stack lies */
	u64 thread;  /* of the VM, whose walk it was */
	struct frame leaf;
	look_frames callers;
	u64 path; /* calls_path() of these */
	struct walk after_leaf, end;
};

void look_memory_free(struct look_memory *memory);

struct look_subject {
	const struct runtime *runtime;
	const void *state;
	u16 kind; /* FRAME_MANAGED + index */
	u64 thread;
	u64 task;       /* that waits: it is looked at, and no thread; 0: none */
	u64 generation; /* of the ids in a task's stack; a thread's says its own */
	const struct runtime_tasks *tasks; /* ask what task runs; NULL: do not */
	u64 program, process;              /* numbers of what it runs, and of itself */
	struct read_set *set;
	struct look_memory *memory; /* of the same thread as the set; NULL: none is kept */
	const struct mem *tap; /* record what is read: plan's memory seen through it; NULL: none */
	bool asks_raises;      /* result->raises is wanted */
	bool asks_lock;        /* result->lock is wanted */
	bool still;            /* the thread is stopped */
	bool restless;         /* it was seen to move lately: what holds must be plausible, too */
};

struct look_result {
	u16 flags;     /* enum sample_flags */
	bool complete; /* whole and proven */
	bool lock;     /* the thread holds the VM's lock */
	bool raises;   /* it raises or handles an exception */
	bool absent;   /* the task runs, or has ended: there is no stack */
	bool ran;      /* words changed between the copies: it ran while it was read */
	u64 generation;
	u64 carrier; /* see struct walk */

	/* stack in look->stack, leaf first */
};

bool look_init(struct look *look, const struct mem_live *live);
void look_fini(struct look *look);
/* False when out of memory, or when nothing of the process could be read. */
bool look_at(struct look *look, const struct look_subject *subject, struct look_result *result);
