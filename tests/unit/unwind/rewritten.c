/* SPDX-License-Identifier: Apache-2.0
 * rewritten.c - a program with a section as BOLT leaves one, and rows as wrong as BOLT's. */
#include "unit/unwind/compiled.h"

#include "unwind/arch.h"
#include "unwind/step.h"

/* A push that was moved, what an inlined function pushes, and a part that is elsewhere, as BOLT's rows have them: of the block that was
 * there before. */
__asm__(".text\n"
	".macro function name\n"
	".balign 16\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".cfi_startproc\n"
	".endm\n"
	".macro finish\n"
	".cfi_endproc\n"
	".endm\n"
	"function pops_early\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 3, -16\n"
	"test %rdi, %rdi\n"
	"jne pops_elsewhere\n"
	"pop %rbx\n"
	".globl pops_early_popped\n"
	"pops_early_popped:\n"
	"mov %rsi, %rdi\n"
	"jmp *%rax\n"
	"finish\n"
	"function pops_elsewhere\n"
	"nop\n"
	"pop %rbx\n"
	"ret\n"
	"finish\n"
	"function inlines\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 6, -16\n"
	"push %r12\n"
	"push %r13\n"
	".globl inlines_pushed\n"
	"inlines_pushed:\n"
	"call *%rax\n"
	"pop %r13\n"
	"pop %r12\n"
	"pop %rbp\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	"finish\n"
	"function keeps_frames\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 6, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register 6\n"
	".globl keeps_frames_framed\n"
	"keeps_frames_framed:\n"
	"call *%rax\n"
	"leave\n"
	".cfi_def_cfa 7, 8\n"
	"ret\n"
	"finish\n"
	".pushsection .bolt.org.text, \"ax\", @progbits\n"
	"function was_left\n"
	"push %rbx\n"
	".globl was_left_pushed\n"
	"was_left_pushed:\n"
	"pop %rbx\n"
	"ret\n"
	"finish\n"
	".popsection\n");

extern const u8 pops_early[], pops_early_popped[], pops_elsewhere[], inlines[], inlines_pushed[];
extern const u8 keeps_frames_framed[], was_left_pushed[];

static struct unwind_table compile(void)
{
	struct unwind_report report;

	return compile_file("/proc/self/exe", &report);
}

static void assert_from(const struct unwind_table *table, const u8 *address, s64 distance, u8 reg,
			s32 offset)
{
	struct unwind_rule rule = rule_at(table, address, distance);

	assert_int_equal(rule.kind, UNWIND_PLUS);
	assert_int_equal(rule.reg, reg);
	assert_int_equal(rule.offset, offset);
}

static void instructions_are_right(void **state)
{
	struct unwind_table table = compile();

	(void)state;
	assert_from(&table, pops_early, 0, UNWIND_SP, 8);
	assert_from(&table, pops_early, 1, UNWIND_SP, 16);
	assert_from(&table, pops_early_popped, -1, UNWIND_SP, 16);
	assert_from(&table, pops_early_popped, 0, UNWIND_SP, 8);
	assert_from(&table, inlines, 1, UNWIND_SP, 16);
	assert_from(&table, inlines_pushed, 0, UNWIND_SP, 32);
	assert_from(&table, inlines_pushed, 4, UNWIND_SP, 24); /* pop %r13 is behind */
	assert_int_equal(rule_at(&table, inlines_pushed, 0).saved[0], UNWIND_SAVED_SAME);
	unwind_table_free(&table);
}

static void a_part_that_jumps_alone_lead_to_is_no_function(void **state)
{
	struct unwind_table table = compile();

	(void)state;
	assert_from(&table, pops_elsewhere, 0, UNWIND_SP, 16);
	assert_from(&table, pops_elsewhere, 2, UNWIND_SP, 8);
	unwind_table_free(&table);
}

static void what_is_no_distance_from_sp_is_left_as_it_is(void **state)
{
	struct unwind_table table = compile();

	(void)state;
	assert_from(&table, keeps_frames_framed, 0, UNWIND_FP, 16);
	assert_from(&table, was_left_pushed, 0, UNWIND_SP, 8);
	unwind_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_right),
		cmocka_unit_test(a_part_that_jumps_alone_lead_to_is_no_function),
		cmocka_unit_test(what_is_no_distance_from_sp_is_left_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
