/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * walk.h - what a walker keeps between two steps.
 *
 * Plain data, the same in the kernel and outside.  A runtime's step.h is text in
 * the subset of C that the BPF verifier accepts: bounded loops, no allocation,
 * no globals, no calls through pointers, offsets by pointer to the state. */
#pragma once
#include "base/types.h"
#include "mem/mem.h"
#include "sample/frame.h"

/* How a step calls what the verifier shall look at once, and not on each way that leads there, nor in each turn of a loop: who
 * includes a step may have a global function of BPF in its place. */
#ifndef WALK_APART
#define WALK_APART(function) function
#endif

enum step {
	STEP_MORE,   /* *out is filled; go on */
	STEP_DONE,   /* nothing left, *out is not filled; the stack is whole */
	STEP_HIDDEN, /* a frame that the language has no name for: *out is not filled, the cursor
		      * stands at the next one, go on.  A step looks at one frame, so that a loop
		      * over any number of these is the caller's, and not the verifier's. */
	STEP_TORN,   /* this frame could not be read or made no sense, but the cursor already stands
		     * at the next one (stacks that are arrays): out->at is set, go on */
	STEP_FAULT,  /* the same, and nothing behind it can be found; what came before stands */
	STEP_EMPTY,  /* begin only: the thread has no stack now, and that is no fault */
};

struct walk {
	u64 thread; /* of the VM */
	u64 cursor; /* the next frame */
	u64 link;   /* the caller of the innermost, if it was found by other ways than its link */
	u64 limit;  /* where the outermost ends, for stacks that are arrays */
	u64 base;   /* the other end */
	u64 generation; /* see struct sample */
	u64 epoch;      /* see mem_constant(); 0: not known */
	u64 carrier;    /* see struct vm_thread; 0: not known */
	u32 depth;      /* frames given out so far */
	u32 flags;      /* enum walk_flags */
};

enum walk_flags {
	WALK_GC = 1 << 0, /* the thread is collecting garbage: the engine puts MARK_GC on top */
	/* The innermost frame was published before it was filled (Ruby <= 2.7) and left out: the engine puts
	 * MARK_MOVING in its place. */
	WALK_TOP_UNSET = 1 << 1,
	/* Frames are published before they are filled: even of a thread that stands still the innermost may be a
	 * leftover of an earlier call. */
	WALK_TOP_UNSURE = 1 << 2,
	/* The innermost frame does not lead to its caller: <runtime>_mend() of step.h may find it. */
	WALK_TOP_UNLINKED = 1 << 3,
	/* Frames are a list, and some outlive their calls (generators): each fits its neighbours, and still they can be
	 * of two stacks; and it may end before the native stack does (greenlets). */
	WALK_LINKED = 1 << 4,
	/* Set behind begin by who wants it: entries say where on the native stack they are (FRAME_PLACED). */
	WALK_PLACES = 1 << 5,
	/* With a fault, and WALK_TOP_UNSET: there may be no function at all, or one that has been entered and is not filled
	 * yet. Who sees that the thread is not in the interpreter's loop knows that there is none. */
	WALK_MAY_BE_EMPTY = 1 << 6,
	/* Set behind begin by who knows that the thread stands still: all reads are of one instant, and what takes some
	 * more of them to be found is worth it. */
	WALK_STANDS = 1 << 7,
	/* What the innermost is was found out by other ways than by what lies there: nothing of it is unsure. */
	WALK_TOP_KNOWN = 1 << 8,
};

/* After begin or step: is there a step to come? */
static inline bool step_goes_on(enum step step)
{
	return step == STEP_MORE || step == STEP_HIDDEN || step == STEP_TORN;
}

/* Where the bytes lie by which name_frame() of a runtime names a function, for who keeps them while they are there:
 * the function itself, its two strings, the member of its type that leads to that's name, this name, and what its
 * lines are found by.  0: there is no such. */
enum name_place {
	NAME_FUNCTION,
	NAME_LABEL,
	NAME_PATH,
	NAME_TYPE,
	NAME_OF_TYPE,
	NAME_LINES,
	NAME_PLACES,
};

struct name_places {
	u64 at[NAME_PLACES];
	u64 lines_length; /* bytes */
};

/* A thread of the VM, as next_thread gives it. */
struct vm_thread {
	u64 thread; /* its address: the identity while it lives */
	u64 native; /* pthread_t, or 0 */
	u32 tid;    /* in the target's own pid namespace; 0: not known, or not on a native thread */
	u32 state;  /* enum vm_thread_state */
	/* Equal as long as it stays on its native thread: pthread_t, or what the VM has for one. 0: not
	 * known.  A native thread that has ended its thread of the VM can be given another. */
	u64 carrier;
};

/* A carrier, and no address: the VM says that the thread is on no native thread now. One that is parked has all of
 * its stack, and is not what the native thread that it was on runs. */
enum { CARRIER_NONE = 1 };

enum vm_thread_state {
	VM_THREAD_UNKNOWN,
	VM_THREAD_RUNNING, /* holds the VM's lock */
	VM_THREAD_WAITING, /* wants it */
	VM_THREAD_BLOCKED, /* sleeps, or runs native code without the lock */
};

/* A place in a list of threads: the address of one, which is a multiple of 8 below 2^48, and how many came
 * before it, in the bits that are free: a list that bends back on itself ends. */
enum { WALK_PLACES_MAX = 1 << 19 };

static inline u64 walk_place_make(u64 thread, u32 number)
{
	return thread | (number & 7) | (u64)(number >> 3) << 48;
}

static inline u64 walk_place_address(u64 place)
{
	return place & 0xfffffffffff8;
}

static inline u32 walk_place_number(u64 place)
{
	return (u32)(place & 7) | (u32)(place >> 48) << 3;
}
