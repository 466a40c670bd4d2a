/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * frame.h - one activation on a stack, before it has a name.
 *
 *	id     what runs: a native pc, a Ruby iseq (of a C function its method's definition), a Python code object
 *	owner  what qualifies it: for Ruby the method entry through which that was called
 *	       (the class in "Foo#bar" hangs on it, one iseq may serve several); for native code the number of its
 *	       file, and the pc is then as linked there, and in front of a return address; else 0
 *	at     where the activation lives: native SP, address of the control frame; or where in the native frame that entered a loop
 *	       through it (FRAME_PLACED)
 *	pos    where in it: the low 32 bits of the VM's pc, or a line for those who have one
 */
#pragma once
#include "base/types.h"

enum frame_kind {
	FRAME_NATIVE,
	FRAME_KERNEL,
	FRAME_MARK,  /* not code: id is an enum frame_mark */
	FRAME_EVENT, /* not code: what happened; id is its number, pos the error that came of it */
	FRAME_MANAGED, /* FRAME_MANAGED + n belongs to the nth runtime of runtimes/list.h */
};

/* What a frame of kind FRAME_MARK says. Texts are in sample/marks.c. */
enum frame_mark {
	MARK_MOVING,     /* the frames under this one changed while they were read */
	MARK_STARTING,   /* the thread or its VM has no stack yet */
	MARK_GC,         /* garbage collection, on top of the stack that caused it */
	MARK_NATIVE,     /* a thread that no runtime knows, or that is outside of it */
	MARK_TRUNCATED,  /* the outer frames could not be read, or were too many */
	MARK_UNREADABLE, /* nothing of the stack could be read */
	MARK_GVL,        /* Ruby's lock is waited for */
	MARK_GIL,        /* Python's */
	MARK_COUNT,
};

enum frame_flags {
	/* managed: a new interpreter loop was entered through this frame; native: a function that enters loops, or a loop that
	 * is just being entered or left */
	FRAME_ENTRY = 1 << 0,
	FRAME_LOOP = 1 << 1, /* native: inside an interpreter loop; stands for managed frames */
	FRAME_C = 1 << 2,    /* managed: a function written in C, known to the runtime by name */
	FRAME_LEAF = 1 << 3, /* managed: the innermost; its pos may be a little old */
	FRAME_TASK = 1 << 4, /* managed: no code, but the task that runs what is inside of it */
	FRAME_INLINED =
		1
		<< 5, /* native: its code was put into its caller's; names have it, samples do not */
	FRAME_PLACED = 1 << 6, /* managed, of an entry: `at` is an address on the native stack */
	FRAME_BEGUN =
		1
		<< 7, /* managed, the innermost, of an entry: it has run something, which its loop did */
};

struct frame {
	u64 id;
	u64 owner;
	u64 at;
	u32 pos;
	u16 kind;
	u16 flags;
};

#ifndef __bpf__
_Static_assert(sizeof(struct frame) == 32, "crosses the kernel boundary");
#endif
