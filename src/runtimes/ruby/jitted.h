/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * jitted.h - the innermost frame, where YJIT's code publishes it before it fills it.
 *
 * The code moves ec->cfp before it writes the callee's frame, and what lies there until then may be all of an earlier call.  But
 * the callee's environment is written before that, above the caller's:
 *
 *	caller's ep | values, receiver, arguments, other locals, method entry, block handler, flags
 *
 * None that an earlier call left lies in between, since its words are those values now; but newer code keeps arguments in
 * registers (3.4 on), and then one may.  So where both could be, the caller's instruction decides, by the name that it calls.
 *
 * BPF-safe text, see step.h. */
#pragma once
#include "runtimes/ruby/layout.h"
#include "runtimes/ruby/values.h"
#include "runtimes/walk.h"

enum {
	/* From the caller's environment to the callee's. */
	RUBY_VALUES_SOUGHT = 24,
	/* In no iseq: the line is not known. */
	RUBY_POS_UNKNOWN = 1,
	/* struct rb_callinfo, from 3.0 on: a number with an ID above, or an imemo with an ID. */
	RUBY_INFO_ID_SHIFT = 32,
	RUBY_INFO_ID = 16,
	RUBY_METHOD_CALLED_ID = 24,
};

/* jit_return is set in a frame that JIT code runs.  It can be out of date, so any such frame among the innermost callers will
 * do. */
RUBY_WALKER bool ruby_jit_runs(const struct mem *mem, const struct ruby_state *state, u64 at)
{
	u64 jit_return;

	return (state->facts & RUBY_HAS_JIT_RETURN) &&
	       mem_peek(mem, at + state->at.frame_size - 8, &jit_return, 8) && jit_return;
}

/* The object that keeps an environment which a block has captured; 0: it is on the stack. It stands where the flags
 * were there, for the garbage collector (vm_make_env_each()). */
RUBY_WALKER u64 ruby_env_object(const struct mem *mem, u64 ep, const struct ruby_env *env)
{
	u64 object;

	return env->flags & RUBY_ENV_ESCAPED && mem_peek(mem, ep + 8, &object, 8) ? object : 0;
}

/* The callee's of what stands on the stack; or what was there, if `object` keeps it. */
RUBY_WALKER bool ruby_find_env(const struct mem *mem, u64 caller_ep, u64 object,
			       struct ruby_env *env)
{
	if (!ruby_address_ok(caller_ep))
		return false;
	for (u32 i = 1; i <= RUBY_VALUES_SOUGHT; i++) {
		if (!mem_peek(mem, caller_ep + 8ull * i, env, sizeof *env))
			return false;
		if (ruby_is_frame_type(env->flags) || (object && env->flags == object))
			return true;
	}
	return false;
}

/* The callee's environment is written before, so it says what the frame has to be: a method that has not begun. */
RUBY_WALKER bool ruby_fill(const struct mem *mem, struct ruby_control_frame *frame,
			   const struct ruby_env *env)
{
	u64 iseq;

	if ((env->flags & RUBY_TYPE_MASK) != RUBY_TYPE_METHOD ||
	    !ruby_method_code(mem, env->me_cref, &iseq) || !iseq || iseq == frame->iseq)
		return true; /* not known to be another's */
	return ruby_enter(mem, iseq, frame);
}

/* The name that an instruction calls, by its last operand or the last before a block's code; 0: none. */
RUBY_WALKER u64 ruby_called_id(const struct mem *mem, u64 pc)
{
	u64 operands[2], info, id, type;

	if (!ruby_address_ok(pc) || !mem_peek(mem, pc - sizeof operands, operands, sizeof operands))
		return 0;
	u64 data = operands[!ruby_is_block_operand(mem, operands[1])];
	if (!ruby_address_ok(data) || !mem_peek(mem, data, &info, 8))
		return 0;
	if (info & 1)
		return info >> RUBY_INFO_ID_SHIFT;
	if (!ruby_imemo_type(mem, false, info, &type) || !type ||
	    !mem_peek(mem, info + RUBY_INFO_ID, &id, 8))
		return 0;
	return id;
}

/* Is it of this name? */
RUBY_WALKER bool ruby_has_id(const struct mem *mem, u64 entry, u64 id)
{
	u64 called;

	return mem_peek(mem, entry + RUBY_METHOD_CALLED_ID, &called, 8) && called == id;
}

/* Does the frame's own environment say what the frame is? */
RUBY_WALKER bool ruby_is_one(const struct mem *mem, const struct ruby_control_frame *frame,
			     const struct ruby_env *env)
{
	u64 iseq, type = env->flags & RUBY_TYPE_MASK;

	return (type == RUBY_TYPE_METHOD || type == RUBY_TYPE_CFUNC) &&
	       ruby_method_code(mem, env->me_cref, &iseq) && iseq == frame->iseq;
}

/* What the innermost frame is, whose caller, at `at`, JIT code runs; false: not known.  `ok`: its parts are such as a frame has. */
RUBY_WALKER bool ruby_settle_jitted(const struct mem *mem, const struct ruby_state *state,
				    struct walk *walk, u64 at, bool ok,
				    struct ruby_control_frame *frame, struct ruby_env *env)
{
	struct ruby_control_frame caller;
	struct ruby_env found;
	u64 iseq, object = ok ? ruby_env_object(mem, frame->ep, env) : 0;

	if (!(walk->flags & WALK_STANDS) || !mem_peek(mem, at, &caller, sizeof caller) ||
	    caller.ep < walk->base || caller.ep >= walk->limit ||
	    !ruby_find_env(mem, caller.ep, object, &found))
		return ok && ruby_fill(mem, frame, env);
	if (object && found.flags == object) {
		ruby_know_top(walk);
		return true;
	}
	if (!ruby_method_code(mem, found.me_cref, &iseq))
		return ok && ruby_fill(mem, frame, env);
	bool is_found = ok && ruby_is_of(found.me_cref, iseq, frame, env);
	if (!is_found && ok && (state->facts & RUBY_JIT_KEEPS_ARGUMENTS) &&
	    ruby_is_one(mem, frame, env)) {
		u64 id = ruby_called_id(mem, caller.pc);
		bool is_other = ruby_has_id(mem, found.me_cref, id);
		if (ruby_has_id(mem, env->me_cref, id) == is_other)
			return true; /* and unsure */
		is_found = !is_other;
	}
	ruby_know_top(walk);
	if (is_found)
		return true;
	*env = found;
	return ruby_enter(mem, iseq, frame);
}
