/* SPDX-License-Identifier: Apache-2.0
 * names.c - each thing is stored once, number 0 is the empty one, and running out of
 * memory is said and not half done. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "sample/failing_memory.h"
#include "sample/names.h"

static void number_zero_is_empty(void **state)
{
	(void)state;
	struct names names;
	assert_true(names_init(&names));
	assert_int_equal(names_string(&names, "", 0), 0);
	assert_int_equal(names_text(&names, ""), 0);
	assert_int_equal(names_function(&names, &(struct name_function){ 0 }), 0);
	assert_int_equal(names_location(&names, &(struct name_location){ 0 }), 0);
	assert_string_equal(names.strings.at[0].text, "");
	assert_int_equal(names.stacks.count, 1);
	/* One unnamed frame is a stack, and not the empty one. */
	assert_int_equal(names_stack(&names, 0, 0), 1);
	assert_int_equal(names.stacks.at[1].depth, 1);
	names_free(&names);
}

static void equal_things_have_one_number(void **state)
{
	(void)state;
	struct names names;
	assert_true(names_init(&names));
	u32 map = names_text(&names, "Array#map");
	assert_int_equal(map, names_string(&names, "Array#mapper", 9));
	assert_int_not_equal(map, names_text(&names, "Array#mapp"));
	/* Bytes, not C strings. */
	u32 nul = names_string(&names, "a\0b", 3);
	assert_int_not_equal(nul, names_text(&names, "a"));
	assert_int_equal(nul, names_string(&names, "a\0b", 3));
	assert_int_equal(names.strings.at[nul].length, 3);
	assert_memory_equal(names.strings.at[nul].text, "a\0b", 4);

	struct name_function function = { .name = map, .first_line = 3 };
	u32 at3 = names_function(&names, &function);
	function.first_line = 4;
	u32 at4 = names_function(&names, &function);
	assert_int_not_equal(at3, at4);
	struct name_location location = { .function = at3, .line = 5 };
	u32 line5 = names_location(&names, &location);
	assert_int_equal(line5, names_location(&names, &location));
	location.address = 1;
	assert_int_not_equal(line5, names_location(&names, &location));

	u32 outer = names_stack(&names, 0, line5), inner = names_stack(&names, outer, line5);
	assert_int_not_equal(outer, inner);
	assert_int_equal(inner, names_stack(&names, outer, line5));
	assert_int_equal(names.stacks.at[inner].depth, 2);
	assert_int_equal(names.stacks.at[inner].outer, outer);
	assert_false(names.bad);
	names_free(&names);
}

static void deep_and_many_stacks_keep_their_numbers(void **state)
{
	(void)state;
	enum { DEPTH = 10000, ROUNDS = 20 };
	struct names names;
	assert_true(names_init(&names));
	u32 first = 0;
	for (u32 round = 0; round < ROUNDS; round++) {
		u32 stack = 0;
		for (u32 depth = 0; depth < DEPTH; depth++) {
			struct name_location location = { .line = depth % 7 + 1 };
			stack = names_stack(&names, stack, names_location(&names, &location));
		}
		first = first ? first : stack;
		assert_int_equal(stack, first);
	}
	assert_int_equal(names.stacks.at[first].depth, DEPTH);
	assert_int_equal(names.stacks.count, DEPTH + 1);
	/* Outer before inner: exporters go through the array once. */
	for (u32 i = 1; i < names.stacks.count; i++)
		assert_true(names.stacks.at[i].outer < i);
	names_free(&names);
}

static void marks_have_their_texts(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"[moving]",    "(starting)",   "(garbage collection)",  "[native]",
		"[truncated]", "[unreadable]", "(waiting for the GVL)", "(waiting for the GIL)"
	};
	struct names names;
	assert_true(names_init(&names));
	assert_int_equal(COUNT_OF(texts), MARK_COUNT);
	for (u32 mark = 0; mark < MARK_COUNT; mark++) {
		u32 location = names_mark(&names, mark);
		assert_int_equal(location, names_mark(&names, mark));
		const struct name_function *function =
			&names.functions.at[names.locations.at[location].function];
		assert_string_equal(names.strings.at[function->name].text, texts[mark]);
		assert_string_equal(frame_mark_text(mark), texts[mark]);
		assert_int_equal(function->language, 0);
	}
	assert_string_equal(frame_mark_text(MARK_COUNT), "[unreadable]");
	names_free(&names);
}

/* Enough items for every array and table to grow; true when all numbers were given. */
static bool fill(struct names *names)
{
	if (!names_init(names))
		return false;
	u32 stack = 0;
	for (u32 i = 0; i < 3000; i++) {
		char text[64];
		snprintf(text, sizeof text, "function %u of a name that fills the arena", i);
		struct name_function function = { .name = names_text(names, text) };
		struct name_location location = { .function = names_function(names, &function) };
		stack = names_stack(names, stack, names_location(names, &location));
	}
	return !names->bad;
}

static void no_memory_is_said_and_nothing_is_half_done(void **state)
{
	(void)state;
	long n = 0;
	bool worked = false;
	while (!worked) {
		struct names names;
		failing_memory_after(n++);
		worked = fill(&names);
		failing_memory_after(-1);
		assert_true(worked || names.bad);
		if (names.stacks.count) { /* init worked */
			assert_int_equal(names.strings.count, names.string_table.count);
			assert_int_equal(names.functions.count, names.function_table.count);
			assert_int_equal(names.locations.count, names.location_table.count);
			assert_int_equal(names.stacks.count, names.stack_table.count + 1);
			assert_int_equal(names_text(&names, ""), 0);
			u32 late = names_text(&names, "memory is back");
			assert_int_equal(late, names_text(&names, "memory is back"));
			assert_int_not_equal(late, 0);
		}
		names_free(&names);
	}
	assert_true(n > 30); /* each array and table grew several times */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(number_zero_is_empty),
		cmocka_unit_test(equal_things_have_one_number),
		cmocka_unit_test(deep_and_many_stacks_keep_their_numbers),
		cmocka_unit_test(marks_have_their_texts),
		cmocka_unit_test(no_memory_is_said_and_nothing_is_half_done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
