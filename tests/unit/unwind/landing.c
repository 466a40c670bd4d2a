/* SPDX-License-Identifier: Apache-2.0
 * landing.c - rules of functions that land in another frame: of one that is made up, and of the C library's unwinder. */
#include "unit/unwind/compiled.h"

#include "unwind/arch.h"
#include "unwind/step.h"

#include <dlfcn.h>
#include <string.h>

/* As libgcc's, in short: two calls that matter, and one that does not. `thunk` has no struct. */
__asm__(".text\n"
	".macro begin name\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 6, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register 6\n"
	"push %rdx\n"
	".cfi_offset 1, -24\n"
	"push %rax\n"
	".cfi_offset 0, -32\n"
	".endm\n"
	".macro finish name\n"
	"mov 0(%rbp), %rbp\n"
	".cfi_restore 6\n"
	".cfi_def_cfa 2, 8\n"
	".globl \\name\\()_leaps\n"
	"\\name\\()_leaps:\n"
	"mov %rcx, %rsp\n"
	".cfi_def_cfa 7, 8\n"
	"pop %rcx\n"
	".cfi_def_cfa_offset 0\n"
	".cfi_register 16, 2\n"
	".globl \\name\\()_jumps\n"
	"\\name\\()_jumps:\n"
	"jmp *%rcx\n"
	".cfi_endproc\n"
	".size \\name, . - \\name\n"
	".endm\n"
	"idle:\n"
	"endbr64\n"
	"ret\n"
	"busy:\n"
	"inc %rax\n"
	"ret\n"
	"begin lands\n"
	"call busy\n"
	"mov -0x38(%rbp), %rsi\n"
	".globl lands_installs\n"
	"lands_installs:\n"
	"call busy\n"
	"mov -0x198(%rbp), %r9\n"
	"mov -0x1a0(%rbp), %rdi\n"
	"call idle\n"
	"finish lands\n"
	"begin blind\n"
	".globl blind_installs\n"
	"blind_installs:\n"
	"call busy\n"
	"mov -0x1a0(%rbp), %rdi\n"
	"finish blind\n");

extern const u8 lands[], lands_installs[], lands_leaps[], lands_jumps[];
extern const u8 blind_installs[], blind_leaps[];

static struct unwind_table compile(const char *path)
{
	struct unwind_report report;

	return compile_file(path, &report);
}

static void the_handlers_frame_counts_from_the_last_call_on(void **state)
{
	struct unwind_table table = compile("/proc/self/exe");

	(void)state;
	struct unwind_rule rule = rule_at(&table, lands_installs, -1);
	assert_int_equal(rule.kind, UNWIND_PLUS);
	assert_int_equal(rule.reg, UNWIND_FP);
	for (s64 i = 0; i < lands_leaps - lands_installs; i++) {
		rule = rule_at(&table, lands_installs, i);
		assert_int_equal(rule.kind, UNWIND_LANDING);
		assert_int_equal(rule.reg, UNWIND_FP);
		assert_int_equal(rule.offset, -0x1a0 - UNWIND_CONTEXT_SP);
	}
	rule = rule_at(&table, lands_leaps, 0);
	assert_int_equal(rule.kind, UNWIND_INTERRUPTED);
	assert_int_equal(rule.reg, X86_RCX);
	assert_int_equal(rule.offset, 8);
	assert_int_equal(rule.saved[0], UNWIND_SAVED_SAME);
	rule = rule_at(&table, lands_jumps, 0);
	assert_int_equal(rule.kind, UNWIND_INTERRUPTED);
	assert_int_equal(rule.return_register, X86_RCX + 1);
	unwind_table_free(&table);
}

static void nobody_is_called_where_nothing_says_who(void **state)
{
	struct unwind_table table = compile("/proc/self/exe");

	(void)state;
	assert_int_equal(rule_at(&table, blind_installs, -1).kind, UNWIND_PLUS);
	assert_int_equal(rule_at(&table, blind_installs, 0).kind, UNWIND_NONE);
	assert_int_equal(rule_at(&table, blind_leaps, -1).kind, UNWIND_NONE);
	assert_int_equal(rule_at(&table, blind_leaps, 0).kind, UNWIND_INTERRUPTED);
	unwind_table_free(&table);
}

static void so_do_those_of_libgcc(void **state)
{
	enum { FUNCTION_MAX = 2048 };
	static const char *const names[] = { "_Unwind_RaiseException", "_Unwind_Resume",
					     "_Unwind_ForcedUnwind", "_Unwind_Resume_or_Rethrow" };

	(void)state;
	void *library = dlopen("libgcc_s.so.1", RTLD_NOW);
	if (!library)
		skip(); /* another unwinder */
	for (u32 i = 0; i < COUNT_OF(names); i++) {
		const u8 *function = dlsym(library, names[i]);
		struct unwind_rule rule;
		Dl_info where;
		u32 landing = 0, interrupted = 0;
		assert_non_null(function);
		assert_int_not_equal(dladdr(function, &where), 0);
		struct unwind_table table = compile(where.dli_fname);
		u64 linked = (u64)function - (u64)where.dli_fbase;
		for (u64 at = 0; at < FUNCTION_MAX; at++) {
			if (!unwind_find_rule(&table, linked + at, &rule))
				break;
			landing += rule.kind == UNWIND_LANDING;
			interrupted += rule.kind == UNWIND_INTERRUPTED;
			if (interrupted && rule.kind != UNWIND_INTERRUPTED)
				break;
		}
		assert_in_range(landing, 1, FUNCTION_MAX / 2);
		assert_in_range(interrupted, 1, 16);
		unwind_table_free(&table);
	}
	dlclose(library);
}

/* ---- steps --------------------------------------------------------------------------------- */

enum { BASE = 0x10000, BYTES = 0x1000, FP = BASE + 0x400, CONTEXT = BASE + 0x200 };

struct stack {
	struct mem mem;
	u64 words[BYTES / 8];
};

static bool stack_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct stack *stack = (const struct stack *)mem;

	(void)hold;
	if (addr < BASE || addr + len > BASE + BYTES)
		return false;
	memcpy(dst, (const u8 *)stack->words + (addr - BASE), len);
	return true;
}

static void a_step_leads_to_the_handler(void **state)
{
	const struct unwind_rule rule = { .kind = UNWIND_LANDING,
					  .reg = UNWIND_FP,
					  .offset = CONTEXT - FP };
	static struct stack stack;
	struct unwind_walk walk = { .pc = 1, .sp = BASE, .is_return = true };
	u64 rbx;

	(void)state;
	stack.mem.read = stack_read;
	stack.words[(CONTEXT - BASE + UNWIND_CONTEXT_SP) / 8] = FP + 64;
	stack.words[(CONTEXT - BASE + UNWIND_CONTEXT_PC) / 8] = 0x1234;
	stack.words[(CONTEXT - BASE) / 8 + X86_RBX] = FP + 8;
	stack.words[(FP + 8 - BASE) / 8] = 42;
	walk.known = 1u << UNWIND_FP | 1u << X86_R12;
	walk.value[UNWIND_FP] = FP;
	assert_int_equal(unwind_step(&stack.mem, &rule, &walk), UNWIND_MORE);
	assert_int_equal(walk.sp, FP + 64);
	assert_int_equal(unwind_place(&walk), 0x1234); /* nobody has called from there */
	assert_true(unwind_register(&stack.mem, &walk, X86_RBX, &rbx));
	assert_int_equal(rbx, 42);
	assert_false(unwind_register(&stack.mem, &walk, X86_R12, &rbx));
	assert_int_equal(unwind_step(&stack.mem, &rule, &walk), UNWIND_NO_REGISTER);
	walk = (struct unwind_walk){ .sp = FP + 64, .known = 1u << UNWIND_FP };
	walk.value[UNWIND_FP] = FP;
	assert_int_equal(unwind_step(&stack.mem, &rule, &walk), UNWIND_NOT_ABOVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_handlers_frame_counts_from_the_last_call_on),
		cmocka_unit_test(nobody_is_called_where_nothing_says_who),
		cmocka_unit_test(so_do_those_of_libgcc),
		cmocka_unit_test(a_step_leads_to_the_handler),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
