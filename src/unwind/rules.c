/* SPDX-License-Identifier: Apache-2.0
 * rules.c - see rules.h.
 *
 * Of all DWARF expressions, compilers and the linker write four: a register and a number; the word that
 * stands there (a stack that was realigned: gcc keeps the CFA in the frame), with a number added; the linker's
 * for its PLT stubs; and a signal's frame, which is known by its mark.  Of saved registers: at the CFA, or, where that
 * is in the frame, at the frame pointer. */
#include "unwind/rules.h"

#include "base/cursor.h"
#include "unwind/arch.h"

#include <string.h>

/* DWARF expression operations (DWARF 5, 7.7.1). */
enum {
	OP_DEREF = 0x06,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
};

/* sp + 8 + ((pc & 15) >= N) * 8; the literal N stands at place 6 (binutils, elf_x86_64_eh_frame_plt). */
static const u8 PLT[] = { OP_BREG0 + UNWIND_SP,
			  8,
			  OP_BREG0 + UNWIND_PC,
			  0,
			  OP_LIT0 + 15,
			  OP_AND,
			  0,
			  OP_GE,
			  OP_LIT0 + 3,
			  OP_SHL,
			  OP_PLUS };
enum { PLT_PLACE = 6 };

static bool is_plt(const struct cfi_rule *cfa, struct unwind_rule *rule)
{
	u8 bytes[sizeof PLT];

	if (cfa->length != sizeof PLT)
		return false;
	memcpy(bytes, cfa->expression, sizeof bytes);
	u8 literal = bytes[PLT_PLACE];
	bytes[PLT_PLACE] = 0;
	if (memcmp(bytes, PLT, sizeof PLT) != 0 || literal < OP_LIT0 || literal > OP_LIT0 + 15)
		return false;
	rule->kind = UNWIND_PLT;
	rule->reg = UNWIND_SP;
	rule->offset = 8;
	rule->add = (s8)(literal - OP_LIT0);
	return true;
}

/* A register and a number, which the expression begins with. */
static bool take_register(struct cursor *c, u8 *reg, s64 *offset)
{
	u8 op = cursor_u8(c);

	*reg = op - OP_BREG0;
	*offset = cursor_sleb(c);
	return !c->bad && op >= OP_BREG0 && *reg < UNWIND_REGISTERS;
}

static bool set_offset(struct unwind_rule *rule, s64 offset)
{
	rule->offset = (s32)offset;
	return rule->offset == offset;
}

static bool cfa_of_expression(const struct cfi_rule *cfa, struct unwind_rule *rule)
{
	struct cursor c = cursor_make(cfa->expression, cfa->length);
	s64 offset;
	u64 add = 0;

	if (is_plt(cfa, rule))
		return true;
	if (!take_register(&c, &rule->reg, &offset) || !set_offset(rule, offset))
		return false;
	rule->kind = UNWIND_PLUS;
	if (!cursor_left(&c))
		return true;
	rule->kind = UNWIND_DEREF;
	if (cursor_u8(&c) != OP_DEREF)
		return false;
	if (cursor_left(&c)) {
		if (cursor_u8(&c) != OP_PLUS_UCONST)
			return false;
		add = cursor_uleb(&c);
	}
	rule->add = (s8)(add / 8);
	return !c.bad && !cursor_left(&c) && add % 8 == 0 && add / 8 < 127;
}

static bool set_cfa(const struct cfi_row *row, struct unwind_rule *rule)
{
	const struct cfi_rule *cfa = &row->cfa;

	if (cfa->how == CFI_IS_EXPRESSION)
		return cfa_of_expression(cfa, rule);
	rule->kind = UNWIND_PLUS;
	rule->reg = cfa->reg;
	return cfa->how == CFI_REGISTER_PLUS && cfa->reg < UNWIND_REGISTERS &&
	       set_offset(rule, cfa->offset);
}

static bool set_return(const struct cfi_row *row, struct unwind_rule *rule)
{
	const struct cfi_rule *address = &row->registers[UNWIND_PC];

	if (address->how == CFI_AT_CFA)
		return address->offset == UNWIND_RETURN;
	rule->return_register = address->reg + 1;
	return address->how == CFI_REGISTER_PLUS && !address->offset &&
	       address->reg < UNWIND_REGISTERS;
}

static s8 saved_at(s64 offset)
{
	s64 words = offset / 8;

	return offset % 8 || words <= UNWIND_SAVED_LOST || words >= UNWIND_SAVED_SAME ?
		       UNWIND_SAVED_LOST :
		       (s8)words;
}

static bool at_frame_pointer(const struct cfi_rule *saved, s64 *offset)
{
	u8 reg;

	if (saved->how != CFI_AT_EXPRESSION)
		return false;
	struct cursor c = cursor_make(saved->expression, saved->length);
	return take_register(&c, &reg, offset) && reg == UNWIND_FP && !cursor_left(&c);
}

static s8 saved_of(const struct cfi_rule *saved, u8 base)
{
	s64 offset;

	if (saved->how == CFI_SAME)
		return UNWIND_SAVED_SAME;
	if (base == UNWIND_BASE_CFA)
		return saved->how == CFI_AT_CFA ? saved_at(saved->offset) : UNWIND_SAVED_LOST;
	return at_frame_pointer(saved, &offset) ? saved_at(offset) : UNWIND_SAVED_LOST;
}

static void set_saved(const struct cfi_row *row, struct unwind_rule *rule)
{
	s64 offset;

#define LOOK(i, reg)                                         \
	if (at_frame_pointer(&row->registers[reg], &offset)) \
		rule->base = UNWIND_BASE_FP;
	UNWIND_EACH_SAVED(LOOK)
#undef LOOK
#define SET(i, reg) rule->saved[i] = saved_of(&row->registers[reg], rule->base);
	UNWIND_EACH_SAVED(SET)
#undef SET
}

/* Is the caller's stack pointer the CFA?  At the end of longjmp() it is in a register. */
static bool is_cfa(const struct cfi_rule *sp)
{
	return sp->how == CFI_SAME || (sp->how == CFI_CFA_PLUS && !sp->offset);
}

bool unwind_rule_of_row(const struct cfi_row *row, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){ 0 };
	if (row->is_signal) {
		rule->kind = UNWIND_SIGNAL;
		return true;
	}
	if (row->return_register == UNWIND_PC && row->registers[UNWIND_PC].how == CFI_UNDEFINED) {
		rule->kind = UNWIND_END;
		return true;
	}
	if (row->return_register == UNWIND_PC && is_cfa(&row->registers[UNWIND_SP]) &&
	    set_cfa(row, rule) && set_return(row, rule)) {
		set_saved(row, rule);
		return true;
	}
	*rule = (struct unwind_rule){ 0 };
	return false;
}
