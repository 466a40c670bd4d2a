/* SPDX-License-Identifier: Apache-2.0
 * go.c - rules from Go's table of functions. */
#include "check.h"

#include "../elf/go_file.h"
#include "unwind/arch.h"
#include "unwind/rows.h"
#include "unwind/rule.h"
#include "unwind/step.h"

static struct unwind_table compile(u32 magic)
{
	struct go_bytes bytes = go_table_bytes(magic, GO_TEXT);
	struct image *image = go_open(&bytes);
	struct unwind_report report;
	struct unwind_table table;
	struct err err = { 0 };

	assert_non_null(image);
	assert_true(unwind_compile(image, &table, &report, &err));
	assert_true(table.words && unwind_table_is_good(table.words, table.count));
	image_close(image);
	return table;
}

static struct unwind_rule rule_at(const struct unwind_table *table, u64 offset)
{
	struct unwind_rule rule;

	assert_true(unwind_find_rule(table, GO_TEXT + offset, &rule));
	return rule;
}

static void a_function_has_its_depths(void **unused)
{
	struct unwind_table table = compile(0xfffffff1);
	struct unwind_rule rule = rule_at(&table, 0);

	(void)unused;
	assert_int_equal(rule.kind, UNWIND_PLUS);
	assert_int_equal(rule.reg, UNWIND_SP);
	assert_int_equal(rule.offset, 8);
	assert_int_equal(rule.saved[1], UNWIND_SAVED_SAME);
	rule = rule_at(&table, 4);
	assert_int_equal(rule.offset, 32);
	assert_int_equal(rule.saved[1], -2);
	assert_int_equal(rule.saved[0], UNWIND_SAVED_LOST);
	rule = rule_at(&table, 48);
	assert_int_equal(rule.offset, 8);
	rule = rule_at(&table, 0x80);
	assert_int_equal(rule.kind, UNWIND_END);
	unwind_table_free(&table);
}

static void the_way_back_from_another_stack_is_rbp(void **unused)
{
	(void)unused;
	/* told by a flag, and where there is none by its name */
	for (u32 i = 0; i < 2; i++) {
		struct unwind_table table = compile(i ? 0xfffffff1 : 0xfffffffb);
		struct unwind_rule rule = rule_at(&table, 0x40);
		assert_int_equal(rule.kind, UNWIND_PLUS);
		assert_int_equal(rule.offset, 8);
		rule = rule_at(&table, 0x42); /* pushed; rbp is still its caller's */
		assert_int_equal(rule.kind, UNWIND_PLUS);
		assert_int_equal(rule.offset, 16);
		rule = rule_at(&table, 0x60);
		assert_int_equal(rule.kind, UNWIND_SWITCH);
		assert_int_equal(rule.reg, UNWIND_FP);
		assert_int_equal(rule.offset, 16);
		rule = rule_at(&table, 0x7d);
		assert_int_equal(rule.kind, UNWIND_PLUS);
		unwind_table_free(&table);
	}
}

/* Memory of two stacks: the lower one's words are its addresses. */
static bool read_words(const struct mem *mem, u64 addr, void *out, u32 length, enum mem_hold hold)
{
	static const u64 other[] = { 0x1111,
				     GO_TEXT + 10 }; /* its caller's rbp, and where that goes on */

	(void)mem;
	(void)hold;
	if (addr < 0x1000 || addr + length > 0x1000 + sizeof other)
		return false;
	memcpy(out, (const u8 *)other + (addr - 0x1000), length);
	return true;
}

static void a_walk_goes_down_to_the_stack_it_came_from(void **unused)
{
	const struct mem mem = { .read = read_words };
	struct unwind_table table = compile(0xfffffff1);
	struct unwind_rule rule = rule_at(&table, 0x60);
	struct unwind_walk walk = { .pc = GO_TEXT + 0x60, .sp = 0x9000, .is_return = true };

	(void)unused;
	walk.value[X86_RBP] = 0x1000;
	walk.known = 1u << X86_RBP;
	assert_int_equal(unwind_step(&mem, &rule, &walk), UNWIND_MORE);
	assert_true(walk.pc == GO_TEXT + 10 && walk.sp == 0x1010);
	u64 fp;
	assert_true(unwind_register(&mem, &walk, X86_RBP, &fp));
	assert_int_equal(fp, 0x1111);
	/* a frame of its own stack has to be above */
	rule.kind = UNWIND_PLUS;
	walk = (struct unwind_walk){ .pc = GO_TEXT + 0x60, .sp = 0x9000, .is_return = true };
	walk.value[X86_RBP] = 0x1000;
	walk.known = 1u << X86_RBP;
	assert_int_equal(unwind_step(&mem, &rule, &walk), UNWIND_NOT_ABOVE);
	unwind_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_has_its_depths),
		cmocka_unit_test(the_way_back_from_another_stack_is_rbp),
		cmocka_unit_test(a_walk_goes_down_to_the_stack_it_came_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
