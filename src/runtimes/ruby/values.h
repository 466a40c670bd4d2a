/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * values.h - what walkers ask of a Ruby's objects.  BPF-safe text, see step.h. */
#pragma once
#include "runtimes/ruby/layout.h"
#include "runtimes/walk.h"

#ifdef __bpf__
#define RUBY_WALKER static __always_inline
#else
#define RUBY_WALKER static inline
#endif

/* A word that could be the address of a VALUE or a struct. */
RUBY_WALKER bool ruby_address_ok(u64 addr)
{
	return addr >= 4096 && !(addr & 7) && !(addr >> 56);
}

/* A word that stays while what it is of lives, as this does or may not. */
RUBY_WALKER bool ruby_lasting(const struct mem *mem, bool lives, u64 addr, u64 *word)
{
	return lives ? mem_constant(mem, addr, word, 8) : mem_peek(mem, addr, word, 8);
}

/* The imemo type of an object: 0 when it is none.  It stays if that `lives`. */
RUBY_WALKER bool ruby_imemo_type(const struct mem *mem, bool lives, u64 value, u64 *type)
{
	u64 flags;

	*type = 0;
	if (!ruby_address_ok(value))
		return true;
	if (!ruby_lasting(mem, lives, value, &flags))
		return false;
	if ((flags & RUBY_T_MASK) == RUBY_T_IMEMO)
		*type = flags >> RUBY_IMEMO_SHIFT & RUBY_IMEMO_MASK;
	return true;
}

/* What a method entry runs: Ruby code, or a C function (*iseq is 0).  False: anything else, such as a block or an attribute. */
RUBY_WALKER bool ruby_method_code(const struct mem *mem, u64 entry, u64 *iseq)
{
	u64 type, def, method[2];

	if (!ruby_imemo_type(mem, false, entry, &type) || type != RUBY_IMEMO_MENT ||
	    !mem_peek(mem, entry + RUBY_METHOD_DEF, &def, 8) || !ruby_address_ok(def) ||
	    !mem_peek(mem, def + RUBY_DEF_TYPE, method, sizeof method))
		return false;
	u64 what = method[0] & RUBY_DEF_TYPE_MASK;
	*iseq = what == RUBY_DEF_ISEQ ? method[1] : 0;
	return what == RUBY_DEF_ISEQ || what == RUBY_DEF_CFUNC;
}

/* Its first instruction. */
RUBY_WALKER bool ruby_iseq_start(const struct mem *mem, u64 iseq, u64 *start)
{
	u64 body;

	return ruby_address_ok(iseq) && mem_peek(mem, iseq + RUBY_ISEQ_BODY, &body, 8) &&
	       ruby_address_ok(body) && mem_peek(mem, body + RUBY_BODY_TYPE + 8, start, 8);
}

/* METHOD to DUMMY: 0x1111 to 0x7777, 0x7888, 0x7999. */
RUBY_WALKER bool ruby_is_frame_type(u64 flags)
{
	u64 digits = flags >> 16;

	return flags & 1 && flags < 1ull << 31 && digits >> 12 && digits % 256 % 17 == 0 &&
	       (digits >> 4) % 256 % 17 == 0;
}

/* The environment around one that is not of a method; tagged, it may be a block handler, too. */
RUBY_WALKER u64 ruby_outer_ep(const struct ruby_env *env)
{
	return env->specval & ~3ull;
}

/* Is the frame one of this method, a C function's if there is no `iseq`? */
RUBY_WALKER bool ruby_is_of(u64 entry, u64 iseq, const struct ruby_control_frame *frame,
			    const struct ruby_env *env)
{
	if (iseq)
		return frame->iseq == iseq;
	return !frame->iseq && (env->flags & RUBY_TYPE_MASK) == RUBY_TYPE_CFUNC &&
	       env->me_cref == entry;
}

/* It has entered this code, and not begun; 0: a C function. */
RUBY_WALKER bool ruby_enter(const struct mem *mem, u64 iseq, struct ruby_control_frame *frame)
{
	frame->iseq = iseq;
	frame->pc = 0;
	return !iseq || ruby_iseq_start(mem, iseq, &frame->pc);
}

/* A method that has left stands behind its `leave`, which its last instruction is, too. */
RUBY_WALKER bool ruby_has_left(const struct mem *mem, const struct ruby_control_frame *frame)
{
	struct ruby_body body;
	u64 body_addr, last, leave;

	if (!frame->iseq || !frame->pc ||
	    !mem_peek(mem, frame->iseq + RUBY_ISEQ_BODY, &body_addr, 8) ||
	    !mem_peek(mem, body_addr + RUBY_BODY_TYPE, &body, sizeof body))
		return false;
	u64 end = body.encoded + (u64)body.size * 8;
	return frame->pc == end || (mem_peek(mem, frame->pc - 8, &last, 8) &&
				    mem_peek(mem, end - 8, &leave, 8) && last == leave);
}

/* Has an innermost frame that C entered run an instruction?  Then it is in a loop; or an earlier call left it, which only the native
 * stack can tell. */
RUBY_WALKER bool ruby_has_begun(const struct mem *mem, const struct ruby_state *state,
				const struct walk *walk, const struct ruby_control_frame *frame,
				const struct ruby_env *env)
{
	u64 start;

	return (state->facts & RUBY_FILLS_LATE) && (walk->flags & WALK_STANDS) &&
	       (env->flags & RUBY_FRAME_FINISH) && ruby_iseq_start(mem, frame->iseq, &start) &&
	       start != frame->pc;
}

/* Is it what an instruction that calls has behind its call: a block's code, or none? */
RUBY_WALKER bool ruby_is_block_operand(const struct mem *mem, u64 operand)
{
	u64 type;

	return ruby_imemo_type(mem, false, operand, &type) && (!operand || type == RUBY_IMEMO_ISEQ);
}

/* The flags word is a tagged integer of 32 bits in every version. */
RUBY_WALKER bool ruby_env_ok(const struct ruby_env *env)
{
	return (env->flags & 1) && !(env->flags >> 32);
}

RUBY_WALKER void ruby_know_top(struct walk *walk)
{
	walk->flags &= ~(u32)WALK_TOP_UNSURE;
	walk->flags |= WALK_TOP_KNOWN;
}
