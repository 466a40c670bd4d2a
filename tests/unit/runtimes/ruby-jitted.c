/* SPDX-License-Identifier: Apache-2.0
 * ruby-jitted.c - the innermost frame below code of a JIT, which publishes it before it fills it: its environment was written
 * before, and says what it is. */
#include "unit/runtimes/ruby_vm.h"

enum { CALLER_WORD = 40, LEAF_WORD = 50 };

static u64 leaf, caller, left_iseq, left_entry, called_iseq, called_entry;

static u64 env_at(u32 word)
{
	return STACK + word * 8ull;
}

static void put_env(u32 word, u64 entry, u64 flags)
{
	memory_put_u64(&memory, env_at(word) - 16, entry);
	memory_put_u64(&memory, env_at(word) - 8, 0);
	memory_put_u64(&memory, env_at(word), flags);
}

/* The leaf is one that an earlier call has left, of another method, and further up. */
static void set_up(void)
{
	build();
	ruby.facts &= ~(u32)RUBY_JIT_KEEPS_ARGUMENTS;
	leaf = STACK + STACK_WORDS * 8 - 6ull * ruby.at.frame_size;
	caller = leaf + ruby.at.frame_size;
	memory_put_u64(&memory, caller + ruby.at.frame_size - 8, HEAP); /* jit_return */
	left_iseq = make_iseq("baz", "baz", 0);
	called_iseq = make_iseq("bob", "bob", 0);
	called_entry = make_entry(make_class("Foo"), 0, called_iseq);
	left_entry = make_entry(make_class("Foo"), 0, left_iseq);
	put_frame(5, LEAF_WORD, left_iseq, RUBY_TYPE_METHOD | RUBY_ENV_LOCAL, left_entry, 0);
}

static void check(u64 called, u64 pos, u32 flags)
{
	struct result r;

	walk(MAIN, &r);
	assert_int_equal(r.end, STEP_DONE);
	assert_int_equal(r.torn, 0);
	assert_int_equal(r.count, FRAMES - 1);
	assert_int_equal(entered(&r.frames[0]), called);
	assert_int_equal(r.frames[0].pos, (u32)pos);
	assert_int_equal(r.walk.flags & (WALK_TOP_UNSURE | WALK_TOP_KNOWN), flags);
}

static u64 start_of(u64 iseq)
{
	u64 start;

	assert_true(ruby_iseq_start(&memory.mem, iseq, &start));
	return start;
}

static void its_own_environment_is_the_first(void **state)
{
	(void)state;
	set_up();
	check(left_iseq, start_of(left_iseq) + 16, WALK_TOP_KNOWN);
	stands = 0;
	check(left_iseq, start_of(left_iseq) + 16, WALK_TOP_UNSURE);
	stands = WALK_STANDS;
}

static void a_method_is_known_before_it_is_filled(void **state)
{
	(void)state;
	for (u32 word = CALLER_WORD + 3; word < LEAF_WORD - 2; word++) {
		set_up();
		put_env(word, called_entry, RUBY_TYPE_METHOD | RUBY_ENV_LOCAL);
		check(called_iseq, start_of(called_iseq), WALK_TOP_KNOWN);
	}
	/* in the place of the other one's */
	set_up();
	put_env(LEAF_WORD, called_entry, RUBY_TYPE_METHOD | RUBY_ENV_LOCAL);
	check(called_iseq, start_of(called_iseq), WALK_TOP_KNOWN);
}

static void a_c_function_is_known_before_it_is_filled(void **state)
{
	u64 def, entry;

	(void)state;
	set_up();
	entry = make_entry(make_class("Foo"), 0, 0);
	assert_true(mem_peek(&memory.mem, entry + RUBY_METHOD_DEF, &def, 8));
	memory_put_u64(&memory, def + RUBY_DEF_TYPE, RUBY_DEF_CFUNC);
	put_env(LEAF_WORD, entry, RUBY_TYPE_CFUNC | RUBY_ENV_LOCAL);
	check(entry, 0, WALK_TOP_KNOWN);
	put_env(LEAF_WORD - 4, entry, RUBY_TYPE_CFUNC | RUBY_ENV_LOCAL);
	check(entry, 0, WALK_TOP_KNOWN);
}

/* A block, or a method whose entry stands behind special variables: what lies in the frame is what there is. */
static void what_has_no_entry_is_not_known(void **state)
{
	(void)state;
	set_up();
	put_env(LEAF_WORD - 4, 0, 0x22220001);
	check(left_iseq, start_of(left_iseq) + 16, WALK_TOP_UNSURE);
	put_env(LEAF_WORD - 4, make_imemo(RUBY_IMEMO_SVAR), RUBY_TYPE_METHOD | RUBY_ENV_LOCAL);
	check(left_iseq, start_of(left_iseq) + 16, WALK_TOP_UNSURE);
	/* words that are no flags */
	put_env(LEAF_WORD - 4, called_entry, 0x11120001);
	check(left_iseq, start_of(left_iseq) + 16, WALK_TOP_KNOWN);
	put_env(LEAF_WORD - 4, called_entry, 0x11110000);
	check(left_iseq, start_of(left_iseq) + 16, WALK_TOP_KNOWN);
}

/* Captured by a block: on the stack the object that keeps it has the place of its flags. */
static void an_environment_on_the_heap_is_its_own(void **state)
{
	u64 object = make_object(0), heap = object + 0x40;

	(void)state;
	set_up();
	put_env(LEAF_WORD + 6, called_entry, RUBY_TYPE_METHOD | RUBY_ENV_LOCAL); /* is left there */
	memory_put_u64(&memory, heap - 16, left_entry);
	memory_put_u64(&memory, heap, RUBY_TYPE_METHOD | RUBY_ENV_LOCAL | RUBY_ENV_ESCAPED);
	memory_put_u64(&memory, heap + 8, object);
	memory_put_u64(&memory, leaf + 32, heap);
	memory_put_u64(&memory, env_at(LEAF_WORD), object);
	check(left_iseq, start_of(left_iseq) + 16, WALK_TOP_KNOWN);
	memory_put_u64(&memory, env_at(LEAF_WORD), object + 8); /* another's */
	check(called_iseq, start_of(called_iseq), WALK_TOP_KNOWN);
}

/* Captured by a block: where the caller's values lie is not known. */
static void below_an_environment_on_the_heap_nothing_is_known(void **state)
{
	u64 heap = make_object(0) + 0x40;

	(void)state;
	set_up();
	put_env(LEAF_WORD - 4, called_entry, RUBY_TYPE_METHOD | RUBY_ENV_LOCAL);
	for (u32 i = 0; i < 3; i++) {
		u64 word;
		assert_true(mem_peek(&memory.mem, env_at(CALLER_WORD - i), &word, 8));
		memory_put_u64(&memory, heap - 8ull * i, i ? word : word | RUBY_ENV_ESCAPED);
	}
	memory_put_u64(&memory, caller + 32, heap);
	check(left_iseq, start_of(left_iseq) + 16, WALK_TOP_UNSURE);
}

/* Its arguments are in registers: in their place on the stack can stand an environment that an earlier call left. */
static void of_two_the_name_that_is_called_decides(void **state)
{
	enum { LEFT = 7, CALLED = 8 };
	u64 pc, data, info, word;

	(void)state;
	set_up();
	ruby.facts |= RUBY_JIT_KEEPS_ARGUMENTS;
	put_env(LEAF_WORD - 4, called_entry, RUBY_TYPE_METHOD | RUBY_ENV_LOCAL);
	memory_put_u64(&memory, left_entry + RUBY_METHOD_CALLED_ID, LEFT);
	memory_put_u64(&memory, called_entry + RUBY_METHOD_CALLED_ID, CALLED);
	check(left_iseq, start_of(left_iseq) + 16, WALK_TOP_UNSURE); /* it calls none */
	data = make_object(0);
	info = make_imemo(10);
	assert_true(mem_peek(&memory.mem, caller, &pc, 8));
	for (u32 operand = 1; operand <= 2; operand++) {
		memory_put_u64(&memory, pc - 8ull * operand, data);
		for (u32 is_packed = 0; is_packed < 2; is_packed++)
			for (u64 id = LEFT; id <= CALLED + 1; id++) {
				memory_put_u64(&memory, info + RUBY_INFO_ID, id);
				word = is_packed ? id << RUBY_INFO_ID_SHIFT | 1 : info;
				memory_put_u64(&memory, data, word);
				if (id == CALLED)
					check(called_iseq, start_of(called_iseq), WALK_TOP_KNOWN);
				else
					check(left_iseq, start_of(left_iseq) + 16,
					      id == LEFT ? WALK_TOP_KNOWN : WALK_TOP_UNSURE);
			}
		memory_put_u64(&memory, pc - 8ull * operand, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_own_environment_is_the_first),
		cmocka_unit_test(a_method_is_known_before_it_is_filled),
		cmocka_unit_test(a_c_function_is_known_before_it_is_filled),
		cmocka_unit_test(what_has_no_entry_is_not_known),
		cmocka_unit_test(an_environment_on_the_heap_is_its_own),
		cmocka_unit_test(below_an_environment_on_the_heap_nothing_is_known),
		cmocka_unit_test(of_two_the_name_that_is_called_decides),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(memory.bytes);
	return failed;
}
