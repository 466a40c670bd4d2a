/* SPDX-License-Identifier: Apache-2.0
 * outermost.c - behind a function that begins a stack no caller is sought, and behind all others one is. */
#include "unit/unwind/compiled.h"

#include "unwind/rule.h"

#include <dlfcn.h>
#include <string.h>
#include <ucontext.h>

/* Named as greenlet's are, each with rows of its own. */
__asm__(".text\n"
	".macro function name\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".cfi_startproc\n"
	"ret\n"
	".fill 31, 1, 0x90\n"
	".cfi_endproc\n"
	".size \\name, . - \\name\n"
	".endm\n"
	"function in_front\n"
	"function _ZN8greenlet12UserGreenlet15inner_bootstrapEP9_greenletP7_object\n"
	"function _ZN8greenlet12UserGreenlet13g_initialstubEPv\n"
	"function _ZN8greenlet12UserGreenlet15inner_bootstrapEP9_greenletP7_object.cold\n"
	"function behind\n");

static enum unwind_kind kind_at(const struct image *image, const struct unwind_table *table,
				const char *name, u64 offset)
{
	struct image_symbol symbol;
	struct unwind_rule rule;

	assert_true(image_symbol_named(image, name, &symbol));
	assert_true(unwind_find_rule(table, symbol.value + offset, &rule));
	return rule.kind;
}

static void a_stack_ends_in_those_alone(void **state)
{
	static const struct {
		const char *name;
		enum unwind_kind kind;
	} functions[] = {
		{ "in_front", UNWIND_PLUS },
		{ "_ZN8greenlet12UserGreenlet15inner_bootstrapEP9_greenletP7_object", UNWIND_END },
		{ "_ZN8greenlet12UserGreenlet13g_initialstubEPv", UNWIND_PLUS },
		{ "_ZN8greenlet12UserGreenlet15inner_bootstrapEP9_greenletP7_object.cold",
		  UNWIND_END },
		{ "behind", UNWIND_PLUS },
	};
	struct err err = { 0 };
	struct unwind_report report;
	struct unwind_table table;
	struct image *image = image_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self",
					 &err);

	(void)state;
	assert_non_null(image);
	assert_true(unwind_compile(image, &table, &report, &err));
	for (u32 i = 0; i < COUNT_OF(functions); i++) {
		assert_int_equal(kind_at(image, &table, functions[i].name, 0), functions[i].kind);
		assert_int_equal(kind_at(image, &table, functions[i].name, 31), functions[i].kind);
	}
	unwind_table_free(&table);
	image_close(image);
}

static void nothing(void)
{
}

/* Its first function returns to what makecontext() put there, in the C library. */
static void a_context_ends_in_what_goes_on_to_the_next(void **state)
{
	static u8 stack[1 << 14];
	struct unwind_report report;
	struct unwind_rule rule;
	ucontext_t context;
	Dl_info where;
	u64 way_back;

	(void)state;
	assert_int_equal(getcontext(&context), 0);
	context.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = sizeof stack };
	context.uc_link = NULL;
	makecontext(&context, nothing, 0);
	memcpy(&way_back, (const void *)context.uc_mcontext.gregs[REG_RSP], sizeof way_back);
	assert_int_not_equal(dladdr((const void *)way_back, &where), 0);
	struct unwind_table table = compile_file(where.dli_fname, &report);
	u64 linked = way_back - (u64)where.dli_fbase; /* as libraries are, from 0 on */
	for (u32 i = 0; i < 2; i++) {
		assert_true(unwind_find_rule(&table, linked - i, &rule));
		assert_int_equal(rule.kind, UNWIND_END);
	}
	unwind_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_ends_in_those_alone),
		cmocka_unit_test(a_context_ends_in_what_goes_on_to_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
