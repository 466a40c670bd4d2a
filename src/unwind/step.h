/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * step.h - from a native frame to its caller.
 *
 *	pc -> rule -> CFA -> return address, and where the caller's registers are
 *
 * Who drives the walk looks up the mapping that unwind_place() lies in and the rule there, and takes one step.
 *
 * Registers that a callee saved are not read when they are met.  Their addresses are noted, and the one that a CFA is
 * computed from, a frame pointer mostly, is read when that frame's turn comes: a frame costs one read, and two
 * where it has a frame pointer; and a CFA by any register that the frames below have kept is right, however
 * rare (ld.so's resolver has its in rbx).
 *
 * BPF-safe text: loops over constants only, no globals, no pointers but to the walk.
 *
 * Invariant: a caller's frame is above its callee's, but behind a signal, whose handler may have a stack of its own, and where
 * a runtime goes from one stack to another. */
#pragma once
#include "mem/mem.h"
#include "unwind/arch.h"
#include "unwind/rule.h"

enum unwind_step {
	UNWIND_MORE,        /* the walk stands at the caller */
	UNWIND_DONE,        /* there is none */
	UNWIND_NO_RULE,     /* nothing is known of this pc */
	UNWIND_NO_REGISTER, /* the CFA is computed from one that is gone */
	UNWIND_NO_MEMORY,   /* the stack could not be read */
	UNWIND_NOT_ABOVE,   /* the caller's frame would not be above this one */
};

struct unwind_walk {
	u64 pc, sp;
	u64 value[UNWIND_REGISTERS];
	u64 at[UNWIND_REGISTERS]; /* where the register was saved; 0: in `value` */
	u32 known;                /* a bit for each that is in either */
	bool is_return;           /* pc is a return address: its call is in front of it */
};

/* The address that says which function and rule the walk is at. */
UNWIND_TEXT u64 unwind_place(const struct unwind_walk *walk)
{
	return walk->pc - walk->is_return;
}

UNWIND_TEXT bool unwind_register(const struct mem *mem, const struct unwind_walk *walk, u32 reg,
				 u64 *out)
{
	if (reg == UNWIND_SP) {
		*out = walk->sp;
		return true;
	}
	reg &= UNWIND_REGISTERS - 1;
	if (!(walk->known & 1u << reg))
		return false;
	*out = walk->value[reg];
	return !walk->at[reg] || mem_read_along(mem, MEM_UP, walk->at[reg], out, 8);
}

UNWIND_TEXT void unwind_note(struct unwind_walk *walk, u32 reg, u64 at)
{
	walk->at[reg] = at;
	walk->known |= 1u << reg;
}

/* The kernel's frame holds all that was in the registers, at known places. */
UNWIND_TEXT enum unwind_step unwind_signal(const struct mem *mem, struct unwind_walk *walk)
{
	u64 frame = walk->sp;

#define NOTE(reg, offset) unwind_note(walk, reg, frame + (offset));
	UNWIND_EACH_SIGNAL_REGISTER(NOTE)
#undef NOTE
	if (!mem_read(mem, frame + UNWIND_SIGNAL_SP, &walk->sp, 8) ||
	    !mem_read(mem, frame + UNWIND_SIGNAL_PC, &walk->pc, 8))
		return UNWIND_NO_MEMORY;
	walk->is_return = false;
	return walk->pc ? UNWIND_MORE : UNWIND_DONE;
}

/* Each register that the handler wants is where this struct says. */
UNWIND_TEXT enum unwind_step unwind_landing(const struct mem *mem, const struct unwind_rule *rule,
					    struct unwind_walk *walk)
{
	u64 context, sp, pc, at;

	if (!unwind_register(mem, walk, rule->reg, &context))
		return UNWIND_NO_REGISTER;
	context += (u64)(s64)rule->offset;
	if (!mem_read(mem, context + UNWIND_CONTEXT_SP, &sp, 8) ||
	    !mem_read(mem, context + UNWIND_CONTEXT_PC, &pc, 8))
		return UNWIND_NO_MEMORY;
	if (sp <= walk->sp)
		return UNWIND_NOT_ABOVE;
	walk->known = 0;
#define NOTE(i, reg)                                        \
	if (!mem_read(mem, context + 8ull * (reg), &at, 8)) \
		return UNWIND_NO_MEMORY;                    \
	if (at)                                             \
		unwind_note(walk, reg, at);
	UNWIND_EACH_SAVED(NOTE)
#undef NOTE
	walk->sp = sp;
	walk->pc = pc;
	walk->is_return = false;
	return pc ? UNWIND_MORE : UNWIND_DONE;
}

UNWIND_TEXT enum unwind_step unwind_cfa(const struct mem *mem, const struct unwind_rule *rule,
					const struct unwind_walk *walk, u64 *cfa)
{
	u64 base;

	if (!unwind_register(mem, walk, rule->reg, &base))
		return UNWIND_NO_REGISTER;
	*cfa = base + (u64)(s64)rule->offset;
	if (rule->kind == UNWIND_PLT && (walk->pc & 15) >= (u8)rule->add)
		*cfa += 8;
	if (rule->kind != UNWIND_DEREF)
		return UNWIND_MORE;
	if (!mem_read(mem, *cfa, cfa, 8))
		return UNWIND_NO_MEMORY;
	*cfa += 8 * (u64)(s64)rule->add;
	return UNWIND_MORE;
}

/* What the callee saved is at its place; what a call does not keep is gone. */
UNWIND_TEXT bool unwind_note_saved(const struct mem *mem, const struct unwind_rule *rule,
				   struct unwind_walk *walk, u64 cfa)
{
	u64 base = cfa;

	if (rule->base == UNWIND_BASE_FP && !unwind_register(mem, walk, UNWIND_FP, &base))
		return false;
	walk->known &= UNWIND_KEPT;
#define NOTE(i, reg)                                  \
	if (rule->saved[i] == UNWIND_SAVED_LOST)      \
		walk->known &= ~(1u << (reg));        \
	else if (rule->saved[i] != UNWIND_SAVED_SAME) \
		unwind_note(walk, reg, base + 8 * (u64)(s64)rule->saved[i]);
	UNWIND_EACH_SAVED(NOTE)
#undef NOTE
	return true;
}

UNWIND_TEXT enum unwind_step unwind_step(const struct mem *mem, const struct unwind_rule *rule,
					 struct unwind_walk *walk)
{
	u64 cfa, pc;

	if (rule->kind == UNWIND_NONE)
		return UNWIND_NO_RULE;
	if (rule->kind == UNWIND_END)
		return UNWIND_DONE;
	if (rule->kind == UNWIND_SIGNAL)
		return unwind_signal(mem, walk);
	if (rule->kind == UNWIND_LANDING)
		return unwind_landing(mem, rule, walk);
	enum unwind_step step = unwind_cfa(mem, rule, walk, &cfa);
	if (step != UNWIND_MORE)
		return step;
	if (rule->kind != UNWIND_SWITCH &&
	    (cfa < walk->sp || (cfa == walk->sp && !rule->return_register)))
		return UNWIND_NOT_ABOVE;
	if (rule->return_register) {
		if (!unwind_register(mem, walk, rule->return_register - 1u, &pc))
			return UNWIND_NO_REGISTER;
	} else if (!mem_read_along(mem, MEM_UP, cfa + UNWIND_RETURN, &pc, 8)) {
		return UNWIND_NO_MEMORY;
	}
	if (!unwind_note_saved(mem, rule, walk, cfa))
		return UNWIND_NO_REGISTER;
	walk->sp = cfa;
	walk->pc = pc;
	walk->is_return = rule->kind != UNWIND_INTERRUPTED;
	return pc ? UNWIND_MORE : UNWIND_DONE;
}
