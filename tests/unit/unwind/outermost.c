/* SPDX-License-Identifier: Apache-2.0
 * outermost.c - behind a function that begins a stack no caller is sought, and behind all others one is. */
#include "check.h"

#include "elf/image.h"
#include "unwind/rows.h"
#include "unwind/rule.h"

#include <fcntl.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_stack_ends_in_those_alone) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
