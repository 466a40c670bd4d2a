/* SPDX-License-Identifier: Apache-2.0
 * lines.c - a line is one however many addresses it has; what has none is told by who called it. */
#include "check.h"

#include "profile/lines.h"
#include "sample/failing_memory.h"

static u32 call(struct names *names, u32 outer, const char *name, u32 line, u64 address)
{
	struct name_function function = { .name = names_text(names, name) };
	struct name_location location = { .function = names_function(names, &function),
					  .line = line,
					  .address = address };

	return names_stack(names, outer, names_location(names, &location));
}

static const struct line *line_of(const struct lines *lines, u32 stack)
{
	return &lines->at.at[lines->of_stack.at[stack]];
}

static void a_function_without_lines_is_told_by_its_site(void **state)
{
	(void)state;
	struct names names;
	struct lines lines = { 0 };

	assert_true(names_init(&names));
	u32 main = call(&names, 0, "main", 0, 0);
	u32 one = call(&names, main, "f", 1, 10), same = call(&names, main, "f", 1, 20);
	u32 copy = call(&names, call(&names, one, "inflate", 0, 0), "memcpy", 0, 5);
	assert_true(lines_learn(&lines, &names));
	u32 copy_same = call(&names, call(&names, same, "read", 0, 0), "memcpy", 0, 6);
	u32 elsewhere = call(&names, call(&names, main, "f", 2, 0), "memcpy", 0, 5);
	assert_true(lines_learn(&lines, &names)); /* those that came since */
	assert_int_equal(lines.of_stack.count, names.stacks.count);
	assert_int_equal(lines.of_stack.at[one], lines.of_stack.at[same]);
	assert_int_equal(line_of(&lines, main)->site, 0);
	assert_int_equal(line_of(&lines, one)->site, 0);
	assert_int_equal(lines.of_stack.at[copy], lines.of_stack.at[copy_same]);
	assert_int_equal(line_of(&lines, copy)->site, names.stacks.at[one].location);
	assert_int_not_equal(lines.of_stack.at[copy], lines.of_stack.at[elsewhere]);
	assert_int_equal(names.locations.at[line_of(&lines, elsewhere)->site].line, 2);
	lines_free(&lines);
	names_free(&names);
}

static void without_memory_it_can_be_tried_again(void **state)
{
	(void)state;
	struct names names;
	struct lines lines = { 0 }, whole = { 0 };
	u32 stack = 0, failures = 0;
	bool worked = false;

	assert_true(names_init(&names));
	for (u32 i = 0; i < 100; i++)
		stack = call(&names, i % 3 ? stack : 0, "f", i % 4, i);
	assert_true(lines_learn(&whole, &names));
	for (long few = 0; !worked; few++) {
		failing_memory_after(few % 3); /* what was learnt stays: it gets on */
		worked = lines_learn(&lines, &names);
		failing_memory_after(-1);
		failures += !worked;
	}
	assert_true(failures > 2);
	assert_int_equal(lines.at.count, whole.at.count);
	assert_memory_equal(lines.of_stack.at, whole.of_stack.at, names.stacks.count * sizeof(u32));
	assert_memory_equal(lines.site_of.at, whole.site_of.at, names.stacks.count * sizeof(u32));
	lines_free(&lines);
	lines_free(&whole);
	names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_without_lines_is_told_by_its_site),
		cmocka_unit_test(without_memory_it_can_be_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
