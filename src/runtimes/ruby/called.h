/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * called.h - what the caller of a frame calls, in a Ruby that publishes frames before it fills them (to 2.7).
 *
 * BPF-safe text, see step.h. */
#pragma once
#include "runtimes/ruby/layout.h"
#include "runtimes/ruby/values.h"

/* Offsets, and marks, of 2.5 to 2.7. */
enum {
	RUBY_CACHE_CLASS = 8, /* struct rb_call_cache, 2.5 and 2.6: the serial of a class */
	RUBY_CACHE_METHOD = 16,
	RUBY_CACHE_METHOD_3 = 32, /* RUBY_CACHES_CLASSES: behind three of them */
	RUBY_CACHE_BYTES_3 = 64,  /* then its call info */
	RUBY_INFO_ARGUMENTS = 12, /* struct rb_call_info */
	RUBY_CAPTURED_CODE =
		16, /* struct rb_captured_block, with which a rb_proc_t begins: behind its self and ep */
	RUBY_TYPED_DATA = 32, /* struct RTypedData: a Proc's rb_proc_t */
	RUBY_CLASS_EXT = 24,
	RUBY_CLASS_EXT_SERIAL = 56, /* 2.5 and 2.6 */
	RUBY_CLASS_SERIAL = 32,     /* RUBY_CACHES_CLASSES */
	/* That a call has at the most: what is more is none. */
	RUBY_ARGUMENTS_MAX = 1 << 10,
	/* Blocks within blocks, up to what was given the one that is called. */
	RUBY_GIVEN_LEVELS = 4,
};

/* Of a block handler, tagged in its lowest bits: what it was captured in, if it is no object (a Proc, or a method's name). */
enum ruby_handler {
	RUBY_HANDLER_MASK = 3,
	RUBY_HANDLER_ISEQ = 1,
	RUBY_HANDLER_IFUNC = 3,
};

/* The block that a method or a C function was given. */
enum ruby_given {
	RUBY_GIVEN_NONE, /* or a method's name */
	RUBY_GIVEN_CODE,
	RUBY_GIVEN_C,
	RUBY_GIVEN_ANY, /* not known */
};

/* What the caller of the innermost frame calls. */
struct ruby_called {
	u64 entry;    /* a method entry; of a block none */
	u64 iseq;     /* 0: a C function */
	u64 cache;    /* 0: it is a block, that the caller may call */
	u64 info;     /* the call's; 0: not known */
	u64 receiver; /* what the caller's sp points to: that, once its arguments are the callee's */
	u32 given;    /* enum ruby_given: as a block, to the caller; asked of what has no cache */
};

/* Is this operand a call cache?  Its call info is the operand before, or follows in one struct. */
RUBY_WALKER bool ruby_read_cache(const struct mem *mem, const struct ruby_state *state, u64 operand,
				 u64 before, struct ruby_called *called)
{
	bool three = state->facts & RUBY_CACHES_CLASSES;
	u64 method = three ? RUBY_CACHE_METHOD_3 : RUBY_CACHE_METHOD;

	called->cache = operand;
	called->info = three ? operand + RUBY_CACHE_BYTES_3 : before;
	return ruby_address_ok(operand) && mem_peek(mem, operand + method, &called->entry, 8) &&
	       ruby_method_code(mem, called->entry, &called->iseq);
}

/* Its instruction's last operand is a call cache, or the last before a block's code.  `a != b` has one for == as well: up to 2.5
 * that is the last one, and as it is not told from 2.6's, neither is believed. */
RUBY_WALKER bool ruby_find_cached(const struct mem *mem, const struct ruby_state *state, u64 pc,
				  struct ruby_called *called)
{
	u64 operands[3];
	struct ruby_called other;

	if (!mem_peek(mem, pc - sizeof operands, operands, sizeof operands))
		return false;
	if (ruby_read_cache(mem, state, operands[2], operands[1], called))
		return (state->facts & RUBY_CACHES_CLASSES) ||
		       !ruby_read_cache(mem, state, operands[0], 0, &other);
	return ruby_is_block_operand(mem, operands[2]) &&
	       ruby_read_cache(mem, state, operands[1], operands[0], called);
}

/* The block that was given to the method or C function that an environment is of, or within; 0: none, or not found. */
RUBY_WALKER u64 ruby_given_block(const struct mem *mem, u64 ep)
{
	struct ruby_env env;

	for (u32 i = 0; i < RUBY_GIVEN_LEVELS; i++) {
		if (!ruby_address_ok(ep) || !mem_peek(mem, ep - 16, &env, sizeof env))
			return 0;
		if (env.flags & RUBY_ENV_LOCAL)
			return env.specval;
		ep = ruby_outer_ep(&env);
	}
	return 0;
}

/* What a block handler has captured: tagged, on the stack, or in a Proc; 0: none. */
RUBY_WALKER u64 ruby_captured(const struct mem *mem, u64 handler)
{
	u64 flags, captured;

	if (handler & 1)
		return handler & ~(u64)RUBY_HANDLER_MASK;
	if (!mem_peek(mem, handler, &flags, 8) || (flags & RUBY_T_MASK) != RUBY_T_DATA ||
	    !mem_peek(mem, handler + RUBY_TYPED_DATA, &captured, 8))
		return 0;
	return captured;
}

/* The block that a caller was given; false: it is no Ruby code. */
RUBY_WALKER bool ruby_find_block(const struct mem *mem, u64 ep, struct ruby_called *called)
{
	u64 handler = ruby_given_block(mem, ep), captured, code, type;

	*called = (struct ruby_called){ 0 };
	if (!(handler & 1) && !ruby_address_ok(handler))
		return false;
	called->given = RUBY_GIVEN_ANY;
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

/* Is the cache for the class of this object?  Of numbers, nil and the like it is not known. */
RUBY_WALKER bool ruby_caches_for(const struct mem *mem, const struct ruby_state *state,
				 const struct ruby_called *called, u64 receiver)
{
	u64 class, serial, serials[3] = { 0 };
	bool one = !(state->facts & RUBY_CACHES_CLASSES);

	if (!ruby_address_ok(receiver) || !mem_peek(mem, receiver + RUBY_BASIC_CLASS, &class, 8) ||
	    !ruby_address_ok(class) ||
	    !mem_peek(mem, class + (one ? RUBY_CLASS_EXT : RUBY_CLASS_SERIAL), &serial, 8))
		return false;
	if (one && (!ruby_address_ok(serial) ||
		    !mem_peek(mem, serial + RUBY_CLASS_EXT_SERIAL, &serial, 8)))
		return false;
	if (!serial ||
	    !mem_peek(mem, called->cache + RUBY_CACHE_CLASS, serials, one ? 8 : sizeof serials))
		return false;
	return serial == serials[0] || serial == serials[1] || serial == serials[2];
}

/* Before a C function has its frame, its arguments lie in front of its caller's sp.  0: not known. */
RUBY_WALKER u64 ruby_pushed_receiver(const struct mem *mem, const struct ruby_called *called,
				     u64 caller_sp)
{
	u32 count;
	u64 receiver;

	if (!ruby_address_ok(called->info) ||
	    !mem_peek(mem, called->info + RUBY_INFO_ARGUMENTS, &count, sizeof count) ||
	    count > RUBY_ARGUMENTS_MAX ||
	    !mem_peek(mem, caller_sp - 8ull * (count + 1), &receiver, 8))
		return 0;
	return receiver;
}
