/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * innermost.h - the innermost frame, where a Ruby publishes it before it fills it (to 2.7).
 *
 * vm_push_frame() moves ec->cfp, and then writes pc, iseq, self, the environment, and last ep and sp.  Until then what lies there
 * is of an earlier call, in part or all of it, and can look like a frame.  Its caller knows better:
 *
 * - An instruction that calls has a call cache, which names the method.  Another thread can have called something else from
 *   there since, but not before the frame is filled: that takes the VM's lock.  So a frame that is of another method, and not
 *   on the receiver, or one on an object of the cache's class, is a leftover.
 * - A C function can call anything, and what it calls ends it, too: such a frame says so (FINISH).  A C function that it calls
 *   has its environment right behind the caller's, if that is on the stack.
 * - A block says whose it is by the environment around it: that of a method of which it is a part; and so do rescue and ensure,
 *   of their caller.
 * - `yield` calls the block that the method was given, and a C function hardly another one.
 *
 * BPF-safe text, see step.h. */
#pragma once
#include "runtimes/ruby/called.h"
#include "runtimes/ruby/given.h"
#include "runtimes/ruby/layout.h"
#include "runtimes/ruby/values.h"
#include "runtimes/walk.h"

/* Is what lies in the innermost frame one frame, or leftovers of an earlier call? Its pc is in its
 * iseq, the iseq is of the kind that the environment says, and that stands above the caller's sp. */
RUBY_WALKER bool ruby_leaf_is_filled(const struct mem *mem, const struct ruby_state *state, u64 at,
				     const struct ruby_control_frame *frame,
				     const struct ruby_env *env)
{
	struct ruby_body body;
	u64 type, caller_sp, body_addr;
	u32 kind = env->flags & RUBY_TYPE_MASK;

	if (!mem_peek(mem, at + state->at.frame_size + 8, &caller_sp, 8) ||
	    (!(env->flags & RUBY_ENV_ESCAPED) && frame->ep < caller_sp + 16))
		return false;
	if (!ruby_imemo_type(mem, false, frame->iseq ? frame->iseq : env->me_cref, &type))
		return false;
	if (!frame->iseq)
		return !frame->pc && (kind != RUBY_TYPE_CFUNC || type == RUBY_IMEMO_MENT);
	if (kind == RUBY_TYPE_IFUNC || !frame->pc)
		return !frame->pc;
	if (type != RUBY_IMEMO_ISEQ ||
	    !mem_peek(mem, frame->iseq + RUBY_ISEQ_BODY, &body_addr, 8) ||
	    !ruby_address_ok(body_addr) ||
	    !mem_peek(mem, body_addr + RUBY_BODY_TYPE, &body, sizeof body))
		return false;
	return (kind == RUBY_TYPE_METHOD) == (body.type == RUBY_ISEQ_TYPE_METHOD) &&
	       frame->pc - body.encoded <= (u64)body.size * 8;
}

/* Has what is called been entered, and what lies there is not of it?  pc is written first, and no earlier call leaves one at a
 * first instruction. */
RUBY_WALKER bool ruby_has_entered(const struct mem *mem, const struct ruby_state *state,
				  const struct ruby_called *called, u64 caller_sp,
				  const struct ruby_control_frame *frame,
				  const struct ruby_env *env)
{
	u64 start, type = env->flags & RUBY_TYPE_MASK;

	if (called->iseq && ruby_iseq_start(mem, called->iseq, &start) && start == frame->pc)
		return true;
	if (!called->cache)
		return false;
	if (ruby_caches_for(mem, state, called, called->receiver))
		return true;
	if (frame->self == called->receiver)
		return false;
	if ((type == RUBY_TYPE_METHOD && !(env->flags & RUBY_FRAME_FINISH)) ||
	    type == RUBY_TYPE_CFUNC)
		return true;
	return !called->iseq &&
	       ruby_caches_for(mem, state, called, ruby_pushed_receiver(mem, called, caller_sp));
}

/* Called from C, what has begun says so; but for C code in a block's place. */
RUBY_WALKER bool ruby_is_called_by_c(const struct mem *mem, const struct ruby_control_frame *frame,
				     const struct ruby_env *env)
{
	u64 start;

	return !frame->pc || (env->flags & RUBY_FRAME_FINISH) ||
	       (ruby_iseq_start(mem, frame->iseq, &start) && start == frame->pc);
}

/* Does an instruction that has no call of its own, but a number as its last operand, call by way of C?  (checkmatch, concatstrings) */
RUBY_WALKER bool ruby_calls_by_c(const struct mem *mem, u64 pc)
{
	u64 operand;

	return mem_peek(mem, pc - 8, &operand, 8) && operand && !ruby_address_ok(operand);
}

/* Is a block not a part of what the environment around it is of?  Of a method, that is; of another block it is not asked. */
RUBY_WALKER bool ruby_is_elsewhere(const struct mem *mem, const struct ruby_state *state,
				   const struct ruby_control_frame *frame,
				   const struct ruby_env *env)
{
	struct ruby_env outer;
	u64 body, local, iseq;

	if ((env->flags & RUBY_TYPE_MASK) != RUBY_TYPE_BLOCK || (env->flags & RUBY_ENV_LOCAL) ||
	    !mem_peek(mem, ruby_outer_ep(env) - 16, &outer, sizeof outer))
		return false;
	if (!ruby_is_frame_type(outer.flags))
		return true;
	if ((outer.flags & RUBY_TYPE_MASK) != RUBY_TYPE_METHOD ||
	    !ruby_method_code(mem, outer.me_cref, &iseq) || !iseq)
		return false;
	return mem_peek(mem, frame->iseq + RUBY_ISEQ_BODY, &body, 8) &&
	       mem_peek(mem, body + state->at.body_local_iseq, &local, 8) && local != iseq;
}

/* Can the caller have called this?  `by_c`: that is a C function. */
RUBY_WALKER bool ruby_can_be_called(const struct mem *mem, const struct ruby_state *state,
				    const struct ruby_control_frame *caller, bool by_c,
				    const struct ruby_control_frame *frame,
				    const struct ruby_env *env)
{
	if ((env->flags & RUBY_TYPE_MASK) == RUBY_TYPE_CFUNC)
		return frame->ep == caller->sp + 16 || (env->flags & RUBY_ENV_ESCAPED) ||
		       !(by_c || ruby_calls_by_c(mem, caller->pc));
	if ((env->flags & RUBY_TYPE_MASK) == RUBY_TYPE_RESCUE)
		return ruby_outer_ep(env) == caller->ep;
	return !ruby_is_elsewhere(mem, state, frame, env) &&
	       (!by_c || ruby_is_called_by_c(mem, frame, env));
}

RUBY_WALKER bool ruby_fill_called(const struct mem *mem, const struct ruby_called *called,
				  bool by_c, struct ruby_control_frame *frame, struct ruby_env *env)
{
	env->me_cref = called->entry;
	env->flags = (called->iseq ? RUBY_TYPE_METHOD : RUBY_TYPE_CFUNC) | RUBY_ENV_LOCAL |
		     (by_c ? RUBY_FRAME_FINISH : 0);
	return ruby_enter(mem, called->iseq, frame);
}

/* Is it another block than the caller was given?  A `yield` calls that one and none else (or the method that it names), and a C
 * function hardly another that has left. */
RUBY_WALKER bool ruby_is_another_block(const struct mem *mem, const struct ruby_state *state,
				       const struct ruby_control_frame *caller, bool by_c,
				       const struct ruby_called *called,
				       const struct ruby_control_frame *frame,
				       const struct ruby_env *env)
{
	if (ruby_is_given(called, frame, env))
		return false;
	if (by_c)
		return (env->flags & RUBY_TYPE_MASK) == RUBY_TYPE_BLOCK &&
		       ruby_has_left(mem, frame);
	return called->given != RUBY_GIVEN_NONE && ruby_yields(mem, state, caller->pc);
}

/* What the innermost frame is. */
enum ruby_innermost {
	RUBY_INNERMOST_UNKNOWN,
	RUBY_INNERMOST_FILLED,
	RUBY_INNERMOST_NAMELESS, /* not filled; the caller was given C code as a block, whose frame has no name */
};

/* `ok`: its parts are such as a frame has.  Of a thread that runs, what is called is gone before it can be read. */
RUBY_WALKER enum ruby_innermost
ruby_settle_innermost(const struct mem *mem, const struct ruby_state *state, struct walk *walk,
		      u64 at, bool ok, struct ruby_control_frame *frame, struct ruby_env *env)
{
	struct ruby_called called;
	struct ruby_control_frame caller;
	bool is_filled = ok && ruby_leaf_is_filled(mem, state, at, frame, env);

	/* what has called one that is left out is not the innermost */
	if ((walk->flags & (WALK_STANDS | WALK_TOP_UNSET)) != WALK_STANDS ||
	    !mem_peek(mem, at + state->at.frame_size, &caller, sizeof caller))
		return is_filled ? RUBY_INNERMOST_FILLED : RUBY_INNERMOST_UNKNOWN;
	/* C code in the place of a block has something for an iseq */
	bool by_c = !caller.pc;
	bool is_cached = !by_c && ruby_find_cached(mem, state, caller.pc, &called);
	bool is_known = is_cached ? mem_peek(mem, caller.sp, &called.receiver, 8) :
				    ruby_find_block(mem, caller.ep, &called);
	if (is_cached && is_known && is_filled &&
	    ruby_is_of(called.entry, called.iseq, frame, env)) {
		ruby_know_top(walk);
		return RUBY_INNERMOST_FILLED;
	}
	if (is_known && ruby_has_entered(mem, state, &called, caller.sp, frame, env)) {
		ruby_know_top(walk);
		return ruby_fill_called(mem, &called, by_c, frame, env) ? RUBY_INNERMOST_FILLED :
									  RUBY_INNERMOST_UNKNOWN;
	}
	if (is_filled && ruby_can_be_called(mem, state, &caller, by_c, frame, env) &&
	    !(is_cached ? ruby_has_left(mem, frame) :
			  ruby_is_another_block(mem, state, &caller, by_c, &called, frame, env)))
		return RUBY_INNERMOST_FILLED;
	if (is_cached || called.given != RUBY_GIVEN_C)
		return RUBY_INNERMOST_UNKNOWN;
	ruby_know_top(walk);
	return RUBY_INNERMOST_NAMELESS;
}
