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
	RUBY_CLASS_EXT = 24,
	RUBY_CLASS_EXT_SERIAL = 56, /* 2.5 and 2.6 */
	RUBY_CLASS_SERIAL = 32,     /* RUBY_CACHES_CLASSES */
	/* That a call has at the most: what is more is none. */
	RUBY_ARGUMENTS_MAX = 1 << 10,
};

/* What the caller of the innermost frame calls. */
struct ruby_called {
	u64 entry;    /* a method entry; of a block none */
	u64 iseq;     /* 0: a C function */
	u64 cache;    /* 0: it is a block, that the caller may call */
	u64 info;     /* the call's; 0: not known */
	u64 receiver; /* what the caller's sp points to: that, once its arguments are the callee's */
	u32 given;    /* enum ruby_given, see given.h: asked of what has no cache */
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
