/* SPDX-License-Identifier: Apache-2.0
 * rules.c - rows of call frame information as rules. */
#include "check.h"

#include "unwind/arch.h"
#include "unwind/rules.h"

#include <string.h>

static struct cfi_row usual(u8 reg, s64 offset)
{
	struct cfi_row row = { .cfa = { .how = CFI_REGISTER_PLUS, .reg = reg, .offset = offset },
			       .return_register = UNWIND_PC };

	row.registers[UNWIND_PC] = (struct cfi_rule){ .how = CFI_AT_CFA, .offset = UNWIND_RETURN };
	return row;
}

#define EXPRESSION(how_, ...)                                                 \
	(struct cfi_rule)                                                     \
	{                                                                     \
		.how = (how_), .length = sizeof((const u8[]){ __VA_ARGS__ }), \
		.expression = (const u8[])                                    \
		{                                                             \
			__VA_ARGS__                                           \
		}                                                             \
	}

static s8 saved(const struct unwind_rule *rule, u32 reg)
{
#define FIND(i, number)      \
	if (reg == (number)) \
		return rule->saved[i];
	UNWIND_EACH_SAVED(FIND)
#undef FIND
	fail_msg("register %u is not kept", reg);
	return 0;
}

static void a_register_and_a_number(void **state)
{
	struct cfi_row row = usual(X86_RSP, 4096);
	struct unwind_rule rule;

	(void)state;
	row.registers[X86_RBP] = (struct cfi_rule){ .how = CFI_AT_CFA, .offset = -16 };
	row.registers[X86_R12] = (struct cfi_rule){ .how = CFI_AT_CFA, .offset = -8192 };
	row.registers[X86_R13] = (struct cfi_rule){ .how = CFI_UNDEFINED };
	assert_true(unwind_rule_of_row(&row, &rule));
	assert_int_equal(rule.kind, UNWIND_PLUS);
	assert_int_equal(rule.reg, X86_RSP);
	assert_int_equal(rule.offset, 4096);
	assert_int_equal(rule.return_register, 0);
	assert_int_equal(saved(&rule, X86_RBP), -2);
	assert_int_equal(saved(&rule, X86_RBX), UNWIND_SAVED_SAME);
	assert_int_equal(saved(&rule, X86_R12), UNWIND_SAVED_LOST); /* too far to tell */
	assert_int_equal(saved(&rule, X86_R13), UNWIND_SAVED_LOST);
}

/* gcc keeps the CFA of a realigned frame at rbp - 8, and the registers from there on. */
static void a_realigned_frame(void **state)
{
	struct cfi_row row = usual(0, 0);
	struct unwind_rule rule;

	(void)state;
	row.cfa = EXPRESSION(CFI_IS_EXPRESSION, 0x76, 0x78, 0x06);
	row.registers[X86_RBP] = EXPRESSION(CFI_AT_EXPRESSION, 0x76, 0);
	row.registers[X86_RBX] = EXPRESSION(CFI_AT_EXPRESSION, 0x76, 0x68);
	assert_true(unwind_rule_of_row(&row, &rule));
	assert_int_equal(rule.kind, UNWIND_DEREF);
	assert_int_equal(rule.reg, X86_RBP);
	assert_int_equal(rule.offset, -8);
	assert_int_equal(rule.base, UNWIND_BASE_FP);
	assert_int_equal(saved(&rule, X86_RBP), 0);
	assert_int_equal(saved(&rule, X86_RBX), -3);
}

static void a_word_and_a_number(void **state)
{
	struct cfi_row row = usual(0, 0);
	struct unwind_rule rule;

	(void)state;
	row.cfa = EXPRESSION(CFI_IS_EXPRESSION, 0x77, 0x90, 0x01, 0x06, 0x23, 8);
	assert_true(unwind_rule_of_row(&row, &rule));
	assert_int_equal(rule.kind, UNWIND_DEREF);
	assert_int_equal(rule.offset, 144);
	assert_int_equal(rule.add, 1);
}

static void a_stub_of_the_linker(void **state)
{
	struct cfi_row row = usual(0, 0);
	struct unwind_rule rule;

	(void)state;
	row.cfa = EXPRESSION(CFI_IS_EXPRESSION, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33,
			     0x24, 0x22);
	assert_true(unwind_rule_of_row(&row, &rule));
	assert_int_equal(rule.kind, UNWIND_PLT);
	assert_int_equal(rule.reg, X86_RSP);
	assert_int_equal(rule.offset, 8);
	assert_int_equal(rule.add, 11);
}

static void ends_and_signals(void **state)
{
	struct cfi_row row = usual(X86_RSP, 8);
	struct unwind_rule rule;

	(void)state;
	row.registers[UNWIND_PC].how = CFI_UNDEFINED;
	assert_true(unwind_rule_of_row(&row, &rule));
	assert_int_equal(rule.kind, UNWIND_END);
	row.is_signal = true;
	assert_true(unwind_rule_of_row(&row, &rule));
	assert_int_equal(rule.kind, UNWIND_SIGNAL);
}

/* vfork() takes its return address off the stack. */
static void a_return_address_in_a_register(void **state)
{
	struct cfi_row row = usual(X86_RSP, 0);
	struct unwind_rule rule;

	(void)state;
	row.registers[UNWIND_PC] = (struct cfi_rule){ .how = CFI_REGISTER_PLUS, .reg = X86_RDI };
	assert_true(unwind_rule_of_row(&row, &rule));
	assert_int_equal(rule.return_register, X86_RDI + 1);
}

static void what_cannot_be_told_is_no_rule(void **state)
{
	struct unwind_rule rule;
	struct cfi_row rows[] = { usual(X86_RSP, 1ll << 40), usual(UNWIND_PC, 8), usual(X86_RSP, 8),
				  usual(X86_RSP, 8),         usual(X86_RSP, 8),   usual(X86_RSP, 8),
				  usual(X86_RDI, 0) };

	(void)state;
	rows[2].cfa = (struct cfi_rule){ .how = CFI_UNDEFINED };
	rows[3].cfa = EXPRESSION(CFI_IS_EXPRESSION, 0x77, 8, 0x06, 0x06);
	rows[4].cfa = EXPRESSION(CFI_IS_EXPRESSION, 0x77, 8, 0x06, 0x23, 9);
	rows[5].registers[UNWIND_PC].offset = -16;
	/* the end of longjmp() */
	rows[6].registers[UNWIND_PC] = (struct cfi_rule){ .how = CFI_REGISTER_PLUS,
							  .reg = X86_RDX };
	rows[6].registers[X86_RSP] = (struct cfi_rule){ .how = CFI_REGISTER_PLUS, .reg = X86_R8 };
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		assert_false(unwind_rule_of_row(&rows[i], &rule));
		assert_int_equal(rule.kind, UNWIND_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_register_and_a_number),
		cmocka_unit_test(a_realigned_frame),
		cmocka_unit_test(a_word_and_a_number),
		cmocka_unit_test(a_stub_of_the_linker),
		cmocka_unit_test(ends_and_signals),
		cmocka_unit_test(a_return_address_in_a_register),
		cmocka_unit_test(what_cannot_be_told_is_no_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
