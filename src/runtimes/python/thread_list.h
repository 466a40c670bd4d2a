/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * thread_list.h - the threads of a Python: of each interpreter, one at a time, and who of them has the GIL.
 *
 *	runtime -> interpreter -> interpreter -> ...
 *	             thread -> thread -> ...
 *
 * BPF-safe text, as step.h.  The lists are alive: everything is peeked at. */
#pragma once
#include "runtimes/python/layout.h"
#include "runtimes/walk.h"

#ifdef __bpf__
#define PYTHON_WALKER static __always_inline
#else
#define PYTHON_WALKER static inline
#endif

enum {
	/* Interpreters without a thread, while they start or end, and from 3.13 on while they run nothing. */
	PYTHON_EMPTY_MAX = 256,
};

/* A word that could be the address of an object or a struct. */
PYTHON_WALKER bool python_address_ok(u64 addr)
{
	return addr >= 4096 && !(addr & 7) && !(addr >> 56);
}

/* What is of an object for as long as that lives. To 3.11 the epoch is one of names only (python_name_mark). */
PYTHON_WALKER bool python_constant(const struct mem *mem, const struct python_state *state,
				   u64 addr, void *dst, u32 len)
{
	return state->at.code_version ? mem_constant(mem, addr, dst, len) :
					mem_peek(mem, addr, dst, len);
}

/* Who holds the GIL that the interpreter's threads share; 0: nobody, or there is none. */
PYTHON_WALKER u64 python_holder(const struct mem *mem, const struct python_state *state, u64 interp)
{
	const struct python_layout *at = &state->at;
	u64 gil, holder = 0;
	u32 locked;

	if (state->holder)
		return mem_peek_last(mem, state->holder, &holder, 8) ? holder : 0;
	if (!at->interp_gil || (state->facts & PYTHON_FREE_THREADED))
		return 0;
	if (interp == state->main)
		gil = state->gil;
	else if (!mem_peek(mem, interp + at->interp_gil, &gil, 8))
		return 0;
	if (!python_address_ok(gil) || !mem_peek_last(mem, gil + at->gil_locked, &locked, 4) ||
	    locked != 1 || !mem_peek_last(mem, gil + at->gil_holder, &holder, 8))
		return 0;
	return holder;
}

/* The list of threads is alive: everything is peeked at. */
PYTHON_WALKER bool python_interp_of(const struct mem *mem, const struct python_state *state,
				    u64 thread, u64 *interp)
{
	return python_address_ok(thread) &&
	       mem_peek(mem, thread + state->at.thread_interp, interp, 8) &&
	       python_address_ok(*interp);
}

/* The first thread of an interpreter, or, of one without any, which is behind it. */
PYTHON_WALKER bool python_look_into(const struct mem *mem, const struct python_state *state,
				    u64 *interp, u64 *thread)
{
	return python_address_ok(*interp) &&
	       mem_peek(mem, *interp + state->at.interp_threads, thread, 8) &&
	       (*thread || mem_peek(mem, *interp + state->at.interp_next, interp, 8));
}

/* The first thread of `interp`, or of one behind it; 0: no more. */
PYTHON_WALKER bool python_first_of(const struct mem *mem, const struct python_state *state,
				   u64 interp, u64 *thread)
{
	*thread = 0;
	for (u32 i = 0; i < PYTHON_EMPTY_MAX && interp && !*thread; i++)
		if (!WALK_APART(python_look_into)(mem, state, &interp, thread))
			return false;
	return *thread || !interp;
}

/* The thread behind the one at `place`, 0 at the end. */
PYTHON_WALKER bool python_thread_behind(const struct mem *mem, const struct python_state *state,
					u64 place, u64 *thread)
{
	u64 interp, before = walk_place_address(place), from = state->interpreters;

	if (place) {
		if (!python_interp_of(mem, state, before, &interp) ||
		    !mem_peek(mem, before + state->at.thread_next, thread, 8))
			return false;
		if (*thread)
			return true;
		from = interp + state->at.interp_next;
	}
	return mem_peek(mem, from, &interp, 8) && python_first_of(mem, state, interp, thread);
}

PYTHON_WALKER enum vm_thread_state
python_thread_state(const struct mem *mem, const struct python_state *state, u64 thread, u64 interp)
{
	u32 wants = 0;

	if (state->facts & PYTHON_FREE_THREADED)
		return VM_THREAD_UNKNOWN;
	if (python_holder(mem, state, interp) == thread)
		return VM_THREAD_RUNNING;
	if (state->at.thread_wants && mem_peek(mem, thread + state->at.thread_wants, &wants, 4) &&
	    wants)
		return VM_THREAD_WAITING;
	return VM_THREAD_BLOCKED;
}

/* Of a thread that gives up its CPU: is it for the VM's lock?  Older versions do not say. */
PYTHON_WALKER bool python_wants_lock(const struct mem *mem, const struct python_state *state,
				     u64 thread)
{
	u64 interp;

	return python_interp_of(mem, state, thread, &interp) &&
	       python_thread_state(mem, state, thread, interp) == VM_THREAD_WAITING;
}

PYTHON_WALKER enum step python_next_thread(const struct mem *mem, const struct python_state *state,
					   u64 *where, struct vm_thread *out)
{
	const struct python_layout *at = &state->at;
	u32 number = *where ? walk_place_number(*where) + 1 : 0;
	u64 thread, interp;

	if (number >= WALK_PLACES_MAX || !python_thread_behind(mem, state, *where, &thread))
		return STEP_FAULT;
	if (!thread)
		return STEP_DONE;
	if (!python_interp_of(mem, state, thread, &interp))
		return STEP_FAULT;
	out->thread = thread;
	out->native = 0;
	out->tid = 0;
	out->state = python_thread_state(mem, state, thread, interp);
	if (!mem_peek(mem, thread + at->thread_native, &out->native, 8))
		out->native = 0;
	out->carrier = out->native;
	if (state->pthread_tid && out->native) {
		if (!mem_peek(mem, out->native + state->pthread_tid, &out->tid, 4))
			out->tid = 0;
	} else if (at->thread_tid && !mem_peek(mem, thread + at->thread_tid, &out->tid, 4)) {
		out->tid = 0;
	}
	*where = walk_place_make(thread, number);
	return STEP_MORE;
}
