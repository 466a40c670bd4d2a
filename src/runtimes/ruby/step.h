/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * step.h - walking a Ruby stack: threads, the stack's ends, one frame at a time.
 *
 *	vm_stack                                                vm_stack + 8 * size
 *	| values ... ep[-2] ep[-1] ep[0] ... ->     <- cfp | cfp | cfp | dummy |
 *	                                              leaf         root
 *
 * Control frames grow down towards the values.  A frame's environment, three words
 * under its ep, says what it is: a Ruby method or block (iseq), a C function
 * (method entry), or nothing that has a name.  The environment is among the
 * values, or on the heap once a block captured it.
 *
 * BPF-safe text: bounded loops, no globals, no pointers but to the state.
 *
 * Invariants: every address from the target is checked before it is followed, and
 * nothing but the leaf's pc may move without being noticed.  Method entries and
 * imemo flags never change while they live: those are peeked at. */
#pragma once
#include "runtimes/ruby/innermost.h"
#include "runtimes/ruby/jitted.h"
#include "runtimes/ruby/layout.h"
#include "runtimes/ruby/values.h"
#include "runtimes/walk.h"

enum {
	/* Callers that are asked whether JIT code runs them. */
	RUBY_JIT_CALLERS = 5,
	/* Blocks within blocks, from a frame to the method that holds its entry. */
	RUBY_LEVELS_MAX = 64,
	/* Ractors without a thread, while they start or end. */
	RUBY_EMPTY_RACTORS_MAX = 16,
	/* 1 GiB of VM stack; RUBY_THREAD_VM_STACK_SIZE is 1 MiB unless set. */
	RUBY_STACK_WORDS_MAX = 1 << 27,
};

/* ---- threads ------------------------------------------------------------------------------- */

/* The head of every thread, up to and with ec and nt. */
struct ruby_thread_words {
	u64 next, prev, self, w24, w32, w40, w48;
};

RUBY_WALKER u64 ruby_thread_word(const struct ruby_thread_words *words, u16 offset)
{
	switch (offset) {
	case 24:
		return words->w24;
	case 32:
		return words->w32;
	case 40:
		return words->w40;
	case 48:
		return words->w48;
	default:
		return 0;
	}
}

/* The thread that holds the GVL now, 0 when none does. */
RUBY_WALKER bool ruby_lock_owner(const struct mem *mem, const struct ruby_state *state, u64 ractor,
				 u64 *owner)
{
	const struct ruby_layout *at = &state->at;

	if (state->facts & RUBY_HAS_RACTORS) {
		*owner = 0;
		return !at->ractor_owner || mem_peek(mem, ractor + at->ractor_owner, owner, 8);
	}
	if (at->vm_acquired) {
		u64 acquired;
		*owner = 0;
		if (!mem_peek(mem, state->vm + at->vm_acquired, &acquired, 8))
			return false;
		if (!acquired)
			return true;
	}
	return mem_peek(mem, state->vm + at->vm_owner, owner, 8);
}

/* The list of threads is alive: everything is peeked at, and each thread is known by its vm. */
RUBY_WALKER bool ruby_read_thread(const struct mem *mem, const struct ruby_state *state, u64 thread,
				  struct ruby_thread_words *words)
{
	return ruby_address_ok(thread) && mem_peek(mem, thread, words, sizeof *words) &&
	       ruby_thread_word(words, state->at.thread_vm) == state->vm;
}

/* The first thread of the ractor whose list node is `node`, or of one behind it; 0: no more. */
RUBY_WALKER bool ruby_first_of_ractors(const struct mem *mem, const struct ruby_state *state,
				       u64 node, u64 *thread)
{
	const struct ruby_layout *at = &state->at;

	for (u32 i = 0; i < RUBY_EMPTY_RACTORS_MAX; i++) {
		*thread = 0;
		if (node == state->vm + at->vm_ractors)
			return true;
		u64 head = node - at->ractor_node + at->ractor_threads;
		if (!ruby_address_ok(node) || !mem_peek(mem, head, thread, 8))
			return false;
		if (*thread != head)
			return true;
		if (!mem_peek(mem, node, &node, 8))
			return false;
	}
	return false;
}

/* The thread behind the one at `place`, 0 at the end. */
RUBY_WALKER bool ruby_thread_behind(const struct mem *mem, const struct ruby_state *state,
				    u64 place, u64 *thread)
{
	const struct ruby_layout *at = &state->at;
	struct ruby_thread_words words;
	bool ractors = state->facts & RUBY_HAS_RACTORS;
	u64 node;

	if (!place) {
		u64 head = state->vm + (ractors ? at->vm_ractors : at->vm_threads);
		if (!mem_peek(mem, head, &node, 8))
			return false;
		if (ractors)
			return ruby_first_of_ractors(mem, state, node, thread);
		*thread = node == head ? 0 : node;
		return true;
	}
	if (!ruby_read_thread(mem, state, walk_place_address(place), &words))
		return false;
	*thread = words.next;
	if (!ractors) {
		if (words.next == state->vm + at->vm_threads)
			*thread = 0;
		return true;
	}
	u64 ractor = ruby_thread_word(&words, at->thread_ractor);
	if (words.next != ractor + at->ractor_threads)
		return true;
	return mem_peek(mem, ractor + at->ractor_node, &node, 8) &&
	       ruby_first_of_ractors(mem, state, node, thread);
}

RUBY_WALKER enum vm_thread_state
ruby_thread_state(const struct mem *mem, const struct ruby_state *state, u64 thread, u64 owner)
{
	u32 status = 0;
	u64 next = 0, node = thread + state->at.thread_ready;

	if (owner == thread)
		return VM_THREAD_RUNNING;
	/* A waiter that comes out of a blocking region still has the status it had in there. */
	if (state->at.thread_ready && !mem_peek(mem, node, &next, 8))
		return VM_THREAD_UNKNOWN;
	if (next && next != node)
		return VM_THREAD_WAITING;
	if (!mem_peek(mem, thread + state->at.thread_status, &status, 4))
		return VM_THREAD_UNKNOWN;
	/* THREAD_RUNNABLE is 0: it would run if it had the lock. */
	return (status & 3) ? VM_THREAD_BLOCKED : VM_THREAD_WAITING;
}

/* On to the outermost `keep` frames; false: there are no more than these. */
RUBY_WALKER bool ruby_skip(const struct ruby_state *state, struct walk *walk, u32 keep)
{
	u64 kept = (u64)keep * state->at.frame_size;

	if (walk->cursor >= walk->limit || walk->limit - walk->cursor <= kept)
		return false;
	walk->cursor = walk->limit - kept;
	return true;
}

/* What a frame does not say nothing else says. */
RUBY_WALKER bool ruby_mend(const struct mem *mem, const struct ruby_state *state, struct walk *walk)
{
	(void)mem, (void)state, (void)walk;
	return false;
}

/* Who holds the lock that the thread runs under; 0: nobody. */
RUBY_WALKER bool ruby_owner_beside(const struct mem *mem, const struct ruby_state *state,
				   u64 thread, u64 *owner)
{
	struct ruby_thread_words words;

	return ruby_read_thread(mem, state, thread, &words) &&
	       ruby_lock_owner(mem, state, ruby_thread_word(&words, state->at.thread_ractor),
			       owner);
}

/* Methods hardly die: their names are read while they are there. */
RUBY_WALKER bool ruby_name_places(const struct mem *mem, const struct ruby_state *state, u64 id,
				  struct name_places *out)
{
	(void)mem, (void)state, (void)id, (void)out;
	return false;
}

/* Of a thread that gives up its CPU: is it for the VM's lock? */
RUBY_WALKER bool ruby_wants_lock(const struct mem *mem, const struct ruby_state *state, u64 thread)
{
	u64 owner;

	return ruby_owner_beside(mem, state, thread, &owner) &&
	       ruby_thread_state(mem, state, thread, owner) == VM_THREAD_WAITING;
}

/* Since Ruby 3.3 several threads may share a native one (M:N), and one that is parked is on none. */
RUBY_WALKER u64 ruby_carrier(const struct ruby_state *state, const struct ruby_thread_words *words)
{
	u64 nt = ruby_thread_word(words, state->at.thread_nt);

	return nt ? nt : CARRIER_NONE;
}

RUBY_WALKER enum step ruby_next_thread(const struct mem *mem, const struct ruby_state *state,
				       u64 *where, struct vm_thread *out)
{
	const struct ruby_layout *at = &state->at;
	struct ruby_thread_words words;
	u32 number = *where ? walk_place_number(*where) + 1 : 0;
	u64 thread, owner;

	if (number >= WALK_PLACES_MAX || !ruby_thread_behind(mem, state, *where, &thread))
		return STEP_FAULT;
	if (!thread)
		return STEP_DONE;
	if (!ruby_read_thread(mem, state, thread, &words) ||
	    !ruby_lock_owner(mem, state, ruby_thread_word(&words, at->thread_ractor), &owner))
		return STEP_FAULT;

	out->thread = thread;
	out->native = 0;
	out->tid = 0;
	out->state = ruby_thread_state(mem, state, thread, owner);
	u64 nt = at->thread_nt ? ruby_thread_word(&words, at->thread_nt) : thread;
	out->carrier = at->thread_nt ? ruby_carrier(state, &words) : 0;
	u64 native = nt + (at->thread_nt ? at->nt_native : at->thread_native);
	u64 tid = nt + (at->thread_nt ? at->nt_tid : at->thread_tid);
	if (nt && !mem_peek(mem, native, &out->native, 8))
		out->native = 0;
	if (!at->thread_nt)
		out->carrier = out->native;
	if (state->pthread_tid)
		tid = out->native ? out->native + state->pthread_tid : 0;
	if (nt && tid != nt && !mem_peek(mem, tid, &out->tid, 4))
		out->tid = 0;
	*where = walk_place_make(thread, number);
	return STEP_MORE;
}

/* ---- a stack's ends ------------------------------------------------------------------------ */

/* The garbage collector's state: whether it runs, and a number that changes before an address can
 * mean another object.  Objects are freed by the sweep that follows the marking, and moved only
 * while the compacting flag is set; count is raised before marking begins. */
RUBY_WALKER void ruby_read_gc(const struct mem *mem, const struct ruby_state *state, u64 thread,
			      u64 ractor, struct walk *walk)
{
	const struct ruby_layout *at = &state->at;
	u64 count, owner;
	u32 flags;

	if (!state->objspace || !at->gc_flags ||
	    !mem_peek_last(mem, state->objspace + at->gc_flags, &flags, 4))
		return;
	/* mode: 2 bits (1 marking), immediate_sweep, dont_gc, dont_incremental, during_gc,
	 * during_compacting. */
	if ((flags & 0x20) && ruby_lock_owner(mem, state, ractor, &owner) && owner == thread)
		walk->flags |= WALK_GC;
	if (!at->gc_count || !mem_peek_last(mem, state->objspace + at->gc_count, &count, 8))
		return;
	walk->generation = count * 4 + ((flags & 0x40) ? 2 : (flags & 3) == 1 ? 1 : 3);
	/* While they move, addresses mean nothing for long; and a collection is counted before it marks. */
	bool is_counted = (flags & 0x20) && !(flags & 3);
	walk->epoch = (flags & 0x40) || is_counted ? 0 : walk->generation;
}

/* A native thread's own word is the execution context of the fiber that runs (ruby_current_ec, a thread-local
 * variable); to 2.7 the thread (under the key ruby_native_thread_key). */
RUBY_WALKER bool ruby_thread_of(const struct mem *mem, const struct ruby_state *state, u64 word,
				u64 *thread)
{
	*thread = word;
	if (!(state->facts & RUBY_HAS_RACTORS))
		return ruby_address_ok(word);
	return ruby_address_ok(word) && mem_peek(mem, word + state->at.ec_thread_ptr, thread, 8) &&
	       ruby_address_ok(*thread);
}

/* Its word says which thread runs. */
RUBY_WALKER bool ruby_has_turns(const struct mem *mem, const struct ruby_state *state)
{
	(void)mem, (void)state;
	return false;
}

RUBY_WALKER u64 ruby_in_turn(const struct mem *mem, const struct ruby_state *state, u64 thread)
{
	(void)mem, (void)state;
	return thread;
}

RUBY_WALKER enum step ruby_begin(const struct mem *mem, const struct ruby_state *state, u64 thread,
				 struct walk *walk)
{
	struct {
		u64 vm_stack, size, cfp;
	} head;
	struct ruby_thread_words words;
	u64 thread_ptr;

	walk->cursor = walk->limit = walk->base = 0;
	walk->generation = walk->epoch = walk->carrier = 0;
	walk->depth = 0;
	walk->flags = (state->facts & RUBY_FILLS_LATE) ? WALK_TOP_UNSURE : 0;
	/* Whatever fiber is current at this instant is a true answer. */
	if (!ruby_read_thread(mem, state, thread, &words))
		return STEP_FAULT;
	ruby_read_gc(mem, state, thread, ruby_thread_word(&words, state->at.thread_ractor), walk);
	if (state->at.thread_nt)
		walk->carrier = ruby_carrier(state, &words);
	else if (!mem_peek(mem, thread + state->at.thread_native, &walk->carrier, 8))
		walk->carrier = 0;

	/* Two reads, side by side: what lies between (tag, interrupt flags) may change at will. */
	u64 ec = ruby_thread_word(&words, state->at.thread_ec);
	if (!ec)
		return STEP_EMPTY;
	if (!ruby_address_ok(ec) || !mem_read(mem, ec + RUBY_EC_VM_STACK, &head, sizeof head) ||
	    !mem_read(mem, ec + state->at.ec_thread_ptr, &thread_ptr, 8))
		return STEP_FAULT;
	if (!head.vm_stack || !head.cfp)
		return STEP_EMPTY;
	if (thread_ptr != thread || !ruby_address_ok(head.vm_stack) || !ruby_address_ok(head.cfp) ||
	    head.size > RUBY_STACK_WORDS_MAX)
		return STEP_FAULT;

	/* The outermost is a dummy, pushed when the stack was made. */
	u64 end = head.vm_stack + head.size * 8, size = state->at.frame_size;
	if (head.cfp == end)
		return STEP_EMPTY;
	if (head.cfp < head.vm_stack || head.cfp > end - size ||
	    size < sizeof(struct ruby_control_frame))
		return STEP_FAULT;
	if ((end - head.cfp) % size)
		return STEP_FAULT;
	walk->cursor = head.cfp;
	walk->limit = end - size;
	walk->base = head.vm_stack;
	return STEP_MORE;
}

/* ---- frames -------------------------------------------------------------------------------- */

RUBY_WALKER bool ruby_read_frame(const struct mem *mem, u64 at, bool leaf,
				 struct ruby_control_frame *frame)
{
	if (!leaf)
		return mem_read_along(mem, MEM_UP, at, frame, sizeof *frame);
	/* While the leaf runs, its pc and sp move all the time. */
	return mem_peek(mem, at, frame, 16) &&
	       mem_read(mem, at + 16, &frame->iseq, sizeof *frame - 16);
}

RUBY_WALKER bool ruby_read_env(const struct mem *mem, u64 ep, struct ruby_env *env)
{
	return ruby_address_ok(ep) && mem_read(mem, ep - 16, env, sizeof *env) && ruby_env_ok(env);
}

/* One that a block is nested in.  Captured ones lie in the heap, and what is asked of them stays while they live: the kind,
 * what it is nested in and, be it behind special variables or not, the method entry. */
RUBY_WALKER bool ruby_read_outer_env(const struct mem *mem, const struct walk *walk, bool lives,
				     u64 ep, struct ruby_env *env)
{
	bool is_constant = lives && walk->epoch && (ep < walk->base || ep >= walk->limit);

	if (!is_constant)
		return ruby_read_env(mem, ep, env);
	return ruby_address_ok(ep) && mem_constant(mem, ep - 16, env, sizeof *env) &&
	       ruby_env_ok(env);
}

/* A frame's own: those that nobody captured lie below their callees'. */
RUBY_WALKER bool ruby_read_own_env(const struct mem *mem, const struct walk *walk, u64 ep,
				   struct ruby_env *env)
{
	if (ep < walk->base || ep >= walk->cursor)
		return ruby_read_env(mem, ep, env);
	return ruby_address_ok(ep) && mem_read_along(mem, MEM_DOWN, ep - 16, env, sizeof *env) &&
	       ruby_env_ok(env);
}

/* A frame's environment that a block captures is moved to the heap, and for an instruction or two it is there and not marked as
 * escaped (vm_make_env_each() in vm.c): the object that it is a part of, an imemo_env, leads back to it. */
RUBY_WALKER bool ruby_is_captured(const struct mem *mem, u64 ep)
{
	struct {
		u64 flags, iseq, ep;
	} object;
	u64 at;

	return mem_peek(mem, ep + 8, &at, 8) && ruby_address_ok(at) &&
	       mem_peek(mem, at, &object, sizeof object) && object.ep == ep &&
	       (object.flags & RUBY_T_MASK) == RUBY_T_IMEMO &&
	       (object.flags >> RUBY_IMEMO_SHIFT & RUBY_IMEMO_MASK) == RUBY_IMEMO_ENV;
}

/* Where the environment lies, and an iseq where there must be one. */
RUBY_WALKER bool ruby_frame_ok(const struct mem *mem, const struct walk *walk,
			       const struct ruby_control_frame *frame, const struct ruby_env *env)
{
	bool on_stack = frame->ep >= walk->base + 16 && frame->ep < walk->cursor;

	if (!(env->flags & RUBY_ENV_ESCAPED) && !on_stack && !ruby_is_captured(mem, frame->ep))
		return false;
	if ((env->flags & RUBY_TYPE_MASK) == RUBY_TYPE_CFUNC)
		return !frame->iseq && ruby_address_ok(env->me_cref);
	return !frame->iseq || ruby_address_ok(frame->iseq);
}

/* The method entry through which this code was called, as rb_vm_frame_method_entry() finds it: in
 * the method's own environment.  A method made of a block (BMETHOD) has its entry in the block's;
 * Ruby names such a frame after the block, so that nobody needs the entry.  `lives`: the frame is none
 * that an earlier call left. */
RUBY_WALKER bool ruby_find_owner(const struct mem *mem, const struct walk *walk, bool lives,
				 struct ruby_env *env, u64 *owner)
{
	u64 type;

	*owner = 0;
	for (u32 i = 0; i < RUBY_LEVELS_MAX && !(env->flags & RUBY_ENV_LOCAL); i++) {
		if (env->flags & RUBY_FRAME_BMETHOD)
			return true;
		if (!WALK_APART(ruby_read_outer_env)(mem, walk, lives, ruby_outer_ep(env), env))
			return false;
	}
	if (!(env->flags & RUBY_ENV_LOCAL))
		return true;
	u64 entry = env->me_cref;
	if (mem_recall(mem, entry, owner))
		return true;
	if (!ruby_imemo_type(mem, lives, entry, &type))
		return false;
	/* $~ and $_ push the entry aside, behind a special-variables object. */
	if (type == RUBY_IMEMO_SVAR && (!mem_peek(mem, entry + RUBY_SVAR_ME_CREF, &entry, 8) ||
					!ruby_imemo_type(mem, lives, entry, &type)))
		return false;
	if (type == RUBY_IMEMO_MENT)
		*owner = entry;
	mem_note(mem, env->me_cref, *owner);
	return true;
}

/* A C function is what its method entry leads to: calls by way of a Method or an UnboundMethod make an entry each, for the time of
 * the call, and all of them lead to that. */
RUBY_WALKER bool ruby_find_definition(const struct mem *mem, bool lives, u64 entry, u64 *definition)
{
	return ruby_lasting(mem, lives, entry + RUBY_METHOD_DEF, definition) &&
	       ruby_address_ok(*definition);
}

/* An IFUNC has no name of its own, and Ruby's backtraces pass it over; so they do with a frame that
 * has not begun (pc NULL), but for TOP: a C extension that is being loaded.  JIT code leaves its frame's pc as it is until it
 * calls something that may look at it, and a slot that a C function had has none: so a leaf that it runs can have no line. */
RUBY_WALKER bool ruby_has_name(const struct ruby_control_frame *frame, u32 type, bool jit_leaf)
{
	return type == RUBY_TYPE_CFUNC || (frame->iseq && type != RUBY_TYPE_IFUNC &&
					   (frame->pc || type == RUBY_TYPE_TOP || jit_leaf));
}

/* The innermost frame was not filled, and is left out.  It can be one only: more are torn. */
RUBY_WALKER enum step ruby_leave_out(struct walk *walk)
{
	if (walk->flags & WALK_TOP_UNSET)
		return STEP_TORN;
	walk->flags |= WALK_TOP_UNSET;
	return STEP_HIDDEN;
}

/* One control frame a call.  The first with a name is the leaf, whatever is hidden above it. */
RUBY_WALKER enum step ruby_step(const struct mem *mem, const struct ruby_state *state,
				struct walk *walk, struct frame *out)
{
	struct ruby_control_frame frame;
	struct ruby_env env = { 0 };
	bool leaf = walk->depth == 0;

	if (walk->cursor >= walk->limit)
		return walk->cursor == walk->limit ? STEP_DONE : STEP_FAULT;
	out->at = walk->cursor;
	bool read = ruby_read_frame(mem, walk->cursor, leaf, &frame);
	bool ok = read && ruby_read_own_env(mem, walk, frame.ep, &env) &&
		  ruby_frame_ok(mem, walk, &frame, &env);
	walk->cursor += state->at.frame_size;
	if (leaf && (state->facts & RUBY_FILLS_LATE) && !(walk->flags & WALK_TOP_KNOWN)) {
		enum ruby_innermost is = read ? ruby_settle_innermost(mem, state, walk, out->at, ok,
								      &frame, &env) :
						RUBY_INNERMOST_UNKNOWN;
		if (is == RUBY_INNERMOST_NAMELESS)
			return STEP_HIDDEN;
		ok = is == RUBY_INNERMOST_FILLED;
		if (!ok)
			return ruby_leave_out(walk);
	}
	bool jit_leaf = leaf && walk->cursor < walk->limit &&
			ruby_jit_runs(mem, state, walk->cursor);
	if (jit_leaf) {
		ok = read && ruby_settle_jitted(mem, state, walk, out->at + state->at.frame_size,
						ok, &frame, &env);
		if (!ok)
			return ruby_leave_out(walk);
	}
	if (!ok)
		return STEP_TORN;
	if (!ruby_has_name(&frame, env.flags & RUBY_TYPE_MASK, jit_leaf))
		return STEP_HIDDEN;

	bool c = (env.flags & RUBY_TYPE_MASK) == RUBY_TYPE_CFUNC;
	out->id = frame.iseq;
	out->pos = jit_leaf && !c && !frame.pc ? RUBY_POS_UNKNOWN : (u32)frame.pc;
	out->flags = (c ? FRAME_C : 0) | ((env.flags & RUBY_FRAME_FINISH) ? FRAME_ENTRY : 0) |
		     (leaf ? FRAME_LEAF : 0);
	if (leaf && !c && ruby_has_begun(mem, state, walk, &frame, &env))
		out->flags |= FRAME_BEGUN;
	out->owner = c ? env.me_cref : 0;
	bool lives = !jit_leaf && !(leaf && (state->facts & RUBY_FILLS_LATE));
	if (c ? !ruby_find_definition(mem, lives, out->owner, &out->id) :
		(state->facts & RUBY_HAS_CLASS_PATHS) &&
			    !ruby_find_owner(mem, walk, lives, &env, &out->owner))
		return STEP_TORN;
	if (!leaf && !c && walk->depth <= RUBY_JIT_CALLERS &&
	    !(walk->flags & (WALK_TOP_UNSURE | WALK_TOP_KNOWN)) &&
	    ruby_jit_runs(mem, state, out->at))
		walk->flags |= WALK_TOP_UNSURE;
	walk->depth++;
	return STEP_MORE;
}
