/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * given.h - the block that the caller of a frame was given, in a Ruby that publishes frames before it fills them (to 2.7).
 *
 * BPF-safe text, see step.h. */
#pragma once
#include "runtimes/ruby/called.h"
#include "runtimes/ruby/layout.h"
#include "runtimes/ruby/values.h"

/* Offsets of 2.5 to 2.7. */
enum {
	RUBY_CAPTURED_CODE = 16, /* struct rb_captured_block: behind its self and ep */
	RUBY_TYPED_DATA = 32,    /* struct RTypedData: of a Proc, what begins with one */
	/* Blocks within blocks, up to what was given the one that is called. */
	RUBY_GIVEN_LEVELS = 4,
};

/* Of a block handler: it is an object (a Proc, or a method's name), or tagged in its lowest bits what was captured, on the stack. */
enum ruby_handler {
	RUBY_HANDLER_MASK = 3,
	RUBY_HANDLER_TAGGED = 1, /* the other bit: it is C code */
};

/* The block that a method or a C function was given. */
enum ruby_given {
	RUBY_GIVEN_NONE, /* or a method's name */
	RUBY_GIVEN_CODE,
	RUBY_GIVEN_C,
	RUBY_GIVEN_ANY, /* not known */
};

/* The block that was given to the method or C function that an environment is of, or within; 0: none.  False: not found. */
RUBY_WALKER bool ruby_given_block(const struct mem *mem, u64 ep, u64 *handler)
{
	struct ruby_env env;

	for (u32 i = 0; i < RUBY_GIVEN_LEVELS; i++) {
		if (!ruby_address_ok(ep) || !mem_peek(mem, ep - 16, &env, sizeof env))
			return false;
		*handler = env.specval;
		if (env.flags & RUBY_ENV_LOCAL)
			return true;
		ep = ruby_outer_ep(&env);
	}
	return false;
}

/* What a block handler has captured; 0: nothing. */
RUBY_WALKER u64 ruby_captured(const struct mem *mem, u64 handler)
{
	u64 flags, captured;

	if (handler & RUBY_HANDLER_TAGGED)
		return handler & ~(u64)RUBY_HANDLER_MASK;
	if (!mem_peek(mem, handler, &flags, 8) || (flags & RUBY_T_MASK) != RUBY_T_DATA ||
	    !mem_peek(mem, handler + RUBY_TYPED_DATA, &captured, 8))
		return 0;
	return captured;
}

/* The block that a caller was given; false: it is no Ruby code. */
RUBY_WALKER bool ruby_find_block(const struct mem *mem, u64 ep, struct ruby_called *called)
{
	u64 handler, captured, code, type;

	*called = (struct ruby_called){ .given = RUBY_GIVEN_ANY };
	if (!ruby_given_block(mem, ep, &handler))
		return false;
	if (!(handler & RUBY_HANDLER_TAGGED) && !ruby_address_ok(handler)) {
		called->given = RUBY_GIVEN_NONE;
		return false;
	}
	captured = ruby_captured(mem, handler);
	if (!ruby_address_ok(captured) || !mem_peek(mem, captured + RUBY_CAPTURED_CODE, &code, 8) ||
	    !ruby_imemo_type(mem, false, code, &type))
		return false;
	if (type == RUBY_IMEMO_IFUNC)
		called->given = RUBY_GIVEN_C;
	if (type != RUBY_IMEMO_ISEQ)
		return false;
	called->given = RUBY_GIVEN_CODE;
	called->iseq = code;
	return true;
}

/* Is the caller's instruction a `yield`?  Its call cache stays as it was made, for no method is looked for.  (Before 2.7 it has none.) */
RUBY_WALKER bool ruby_yields(const struct mem *mem, const struct ruby_state *state, u64 pc)
{
	u64 operand, serial, method;

	return (state->facts & RUBY_CACHES_CLASSES) && mem_peek(mem, pc - 8, &operand, 8) &&
	       ruby_address_ok(operand) && mem_peek(mem, operand, &serial, 8) && !serial &&
	       mem_peek(mem, operand + RUBY_CACHE_METHOD_3, &method, 8) && !method;
}

/* Can this frame be of the block that the caller was given? */
RUBY_WALKER bool ruby_is_given(const struct ruby_called *called,
			       const struct ruby_control_frame *frame, const struct ruby_env *env)
{
	if (called->given == RUBY_GIVEN_CODE)
		return frame->iseq == called->iseq;
	if (called->given == RUBY_GIVEN_C)
		return (env->flags & RUBY_TYPE_MASK) == RUBY_TYPE_IFUNC;
	return called->given == RUBY_GIVEN_ANY;
}
