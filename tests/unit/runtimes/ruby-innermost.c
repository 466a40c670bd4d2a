/* SPDX-License-Identifier: Apache-2.0
 * ruby-innermost.c - the innermost frame of a Ruby that publishes it before it fills it: what lies there, and what its
 * caller says of it. */
#include "unit/runtimes/ruby_vm.h"

enum {
	SERIAL = 77, /* of the receiver's class */
	OTHERS = 78,
	NUMBER = 2 * 5 + 1, /* an object without memory */
	CALLER_SP = STACK + 44 * 8,
	PLAIN = RUBY_ENV_LOCAL | RUBY_TYPE_METHOD,
	BLOCK = 0x22220001 | RUBY_ENV_LOCAL, /* as if it knew its method */
};

static u64 leaf, caller, caller_pc, receiver, cache, called_iseq, called_entry;
static bool three; /* what a call cache looks like: 2.7, or before */

static u64 make_instance(u64 serial)
{
	u64 at = make_object(0), class = make_class("Foo"), ext = make_object(0);

	memory_put_u64(&memory, at + RUBY_BASIC_CLASS, class);
	memory_put_u64(&memory, class + RUBY_CLASS_EXT, ext);
	memory_put_u64(&memory, three ? class + RUBY_CLASS_SERIAL : ext + RUBY_CLASS_EXT_SERIAL,
		       serial);
	return at;
}

static u64 make_c_entry(void)
{
	u64 at = make_entry(make_class("Foo"), 0, 0), def;

	assert_true(mem_peek(&memory.mem, at + RUBY_METHOD_DEF, &def, 8));
	memory_put_u64(&memory, def + RUBY_DEF_TYPE, RUBY_DEF_CFUNC);
	return at;
}

/* What the caller's instruction calls, for objects of a class. */
static void put_call(u32 operand, u64 entry, u64 serial)
{
	memory_put_u64(&memory, caller_pc - 8ull * operand, cache);
	memory_put_u64(&memory, cache + (three ? RUBY_CACHE_METHOD_3 : RUBY_CACHE_METHOD), entry);
	memory_put_u64(&memory, cache + RUBY_CACHE_CLASS + (three ? 16 : 0), serial);
}

static void make_caller_c(void)
{
	memory_put_u64(&memory, caller, 0);
	memory_put_u64(&memory, caller + 16, 0);
	memory_put_u64(&memory, STACK + 40 * 8 - 16, make_c_entry());
	memory_put_u64(&memory, STACK + 40 * 8, RUBY_TYPE_CFUNC | RUBY_ENV_LOCAL);
}

static u64 make_c_block(void)
{
	return make_object(RUBY_T_IMEMO | RUBY_IMEMO_IFUNC << RUBY_IMEMO_SHIFT);
}

/* As a caller is given it on the stack, and in a Proc. */
static u64 make_captured(u64 code)
{
	u64 at = make_object(0);

	memory_put_u64(&memory, at + RUBY_CAPTURED_CODE, code);
	return at;
}

static u64 make_proc(u64 code)
{
	u64 at = make_object(RUBY_T_DATA);

	memory_put_u64(&memory, at + RUBY_TYPED_DATA, make_captured(code));
	return at;
}

static void give_block(u64 handler)
{
	memory_put_u64(&memory, STACK + 40 * 8 - 8, handler);
}

/* The leaf has been left by an earlier call of another method, on another object. */
static void set_up(void)
{
	build();
	ruby.facts |= RUBY_FILLS_LATE | (three ? RUBY_CACHES_CLASSES : 0);
	leaf = STACK + STACK_WORDS * 8 - 6ull * ruby.at.frame_size;
	caller = leaf + ruby.at.frame_size;
	assert_true(mem_peek(&memory.mem, caller, &caller_pc, 8));
	memory_put_u64(&memory, caller + 8, CALLER_SP);
	receiver = make_instance(SERIAL);
	memory_put_u64(&memory, CALLER_SP, receiver);
	cache = make_object(0);
	called_iseq = make_iseq("bob", "bob", 0);
	called_entry = make_entry(make_class("Foo"), 0, called_iseq);
	put_frame(5, 50, make_iseq("baz", "baz", 0), PLAIN, called_entry, 0);
	memory_put_u64(&memory, leaf + 24, make_instance(OTHERS));
}

static void set_leaf(u64 self, u64 type, u64 words)
{
	u64 iseq, start, body;

	assert_true(mem_peek(&memory.mem, leaf + 16, &iseq, 8));
	assert_true(mem_peek(&memory.mem, iseq + RUBY_ISEQ_BODY, &body, 8));
	bool block = (type & RUBY_TYPE_MASK) == RUBY_TYPE_BLOCK;

	memory_put_u32(&memory, body, block ? 2 : RUBY_ISEQ_TYPE_METHOD);
	assert_true(ruby_iseq_start(&memory.mem, iseq, &start));
	for (u32 i = 0; i < 8; i++) /* instructions, all of them different */
		memory_put_u64(&memory, start + 8ull * i, 0x4000 + i);
	memory_put_u64(&memory, leaf, start + 8 * words);
	memory_put_u64(&memory, leaf + 24, self);
	memory_put_u64(&memory, STACK + 50 * 8, type);
}

enum outcome { KEPT, CALLED, LEFT_OUT, NAMELESS };

static enum outcome outcome(void)
{
	struct result r;
	u64 iseq, start;

	walk(MAIN, &r);
	assert_int_equal(r.end, STEP_DONE);
	assert_int_equal(r.torn, 0);
	if (r.walk.flags & WALK_TOP_UNSET) {
		assert_int_equal(r.count, FRAMES - 2);
		return LEFT_OUT;
	}
	if (r.count == FRAMES - 2)
		return NAMELESS;
	assert_int_equal(r.count, FRAMES - 1);
	assert_true(mem_peek(&memory.mem, leaf + 16, &iseq, 8));
	if (iseq && r.frames[0].id == iseq)
		return KEPT;
	/* at its first instruction, and nothing is unsure of it */
	assert_int_equal(r.walk.flags & WALK_TOP_UNSURE, 0);
	assert_int_equal(entered(&r.frames[0]), called_iseq ? called_iseq : called_entry);
	assert_int_equal(!!(r.frames[0].flags & FRAME_C), !called_iseq);
	start = 0;
	assert_true(!called_iseq || ruby_iseq_start(&memory.mem, called_iseq, &start));
	assert_int_equal(r.frames[0].pos, (u32)start);
	return CALLED;
}

static void leftovers_are_left_out(void **state)
{
	struct result r;

	(void)state;
	build();
	ruby.facts |= RUBY_FILLS_LATE;
	walk(MAIN, &r);
	assert_int_equal(r.walk.flags & WALK_TOP_UNSET, 0);
	assert_int_equal(r.count, FRAMES - 1);
	leaf = STACK + STACK_WORDS * 8 - 6ull * ruby.at.frame_size;
	/* A pc in another method's code. */
	memory_put_u64(&memory, leaf, BASE + 0x2000);
	walk(MAIN, &r);
	assert_int_equal(r.end, STEP_DONE);
	assert_int_equal(r.walk.flags & WALK_TOP_UNSET, WALK_TOP_UNSET);
	assert_int_equal(r.count, FRAMES - 2);
	assert_int_equal(r.torn, 0);
	/* There can be one only: more that make no sense are no leftovers. */
	memory_put_u64(&memory, leaf + ruby.at.frame_size, BASE + 0x2000);
	walk(MAIN, &r);
	assert_int_equal(r.end, STEP_DONE);
	assert_int_equal(r.count, FRAMES - 3);
	assert_int_equal(r.torn, 1);
}

/* Its pc is written first: a first instruction, of what the call cache names. */
static void an_entered_method_is_known_by_its_call(void **state)
{
	u64 start;

	(void)state;
	for (u32 operand = 1; operand <= 2; operand++) {
		set_up();
		assert_true(ruby_iseq_start(&memory.mem, called_iseq, &start));
		memory_put_u64(&memory, leaf, start);
		assert_int_equal(outcome(), LEFT_OUT); /* nobody says what is called */
		put_call(operand, called_entry, OTHERS);
		assert_int_equal(outcome(), CALLED);
		stands = 0; /* of what runs it is not asked */
		assert_int_equal(outcome(), LEFT_OUT);
		stands = WALK_STANDS;
		memory_put_u64(&memory, leaf, start + 8);
		memory_put_u64(&memory, leaf + 24, receiver);
		assert_int_equal(outcome(), LEFT_OUT);
	}
	/* a cache in front of what is no block's code is of an earlier instruction */
	memory_put_u64(&memory, leaf, start);
	memory_put_u64(&memory, caller_pc - 8, make_iseq("block in bar", "bar", called_iseq));
	assert_int_equal(outcome(), CALLED);
	memory_put_u64(&memory, caller_pc - 8, make_object(RUBY_T_STRING));
	assert_int_equal(outcome(), LEFT_OUT);
}

/* What is called runs on the receiver, and another thread can have called something else only once it does. */
static void a_frame_on_another_object_is_a_leftover(void **state)
{
	(void)state;
	set_up();
	put_call(1, called_entry, OTHERS);
	memory_put_u64(&memory, CALLER_SP, NUMBER); /* whose class is not looked for */
	assert_int_equal(outcome(), CALLED);
	set_leaf(NUMBER, PLAIN, 3);
	assert_int_equal(outcome(), KEPT);
	/* that C code called: such a one can be on another object, as the hash of a key of [] */
	set_leaf(receiver, PLAIN | RUBY_FRAME_FINISH, 3);
	assert_int_equal(outcome(), KEPT);
}

/* The cache is for the class of the very object. */
static void what_is_called_on_a_class_is_known(void **state)
{
	(void)state;
	set_up();
	set_leaf(receiver, PLAIN, 3);
	put_call(1, called_entry, OTHERS);
	assert_int_equal(outcome(), KEPT); /* another thread has called the other */
	set_leaf(receiver, PLAIN, 8);
	assert_int_equal(outcome(), LEFT_OUT); /* or it has left */
	set_leaf(receiver, PLAIN, 3);
	put_call(1, called_entry, SERIAL);
	assert_int_equal(outcome(), CALLED);
	set_leaf(receiver, BLOCK, 3);
	assert_int_equal(outcome(), CALLED);
	memory_put_u64(&memory, leaf + 16, called_iseq); /* is what is called */
	set_leaf(receiver, PLAIN, 3);
	assert_int_equal(outcome(), KEPT);
}

/* Behind a `leave` in its midst. */
static void a_method_may_have_left_early(void **state)
{
	u64 iseq, start;

	(void)state;
	set_up();
	put_call(1, called_entry, OTHERS);
	set_leaf(receiver, PLAIN, 3);
	assert_int_equal(outcome(), KEPT);
	assert_true(mem_peek(&memory.mem, leaf + 16, &iseq, 8));
	assert_true(ruby_iseq_start(&memory.mem, iseq, &start));
	memory_put_u64(&memory, start + 2 * 8, 0x4007);
	assert_int_equal(outcome(), LEFT_OUT);
}

/* Its arguments still lie in front of the caller's sp. */
static void a_c_function_is_known_by_what_was_pushed(void **state)
{
	(void)state;
	set_up();
	called_iseq = 0;
	called_entry = make_c_entry();
	put_call(1, called_entry, SERIAL);
	u64 info = three ? cache + RUBY_CACHE_BYTES_3 : make_object(0);
	memory_put_u64(&memory, caller_pc - 16, info);
	memory_put_u64(&memory, CALLER_SP, 0);
	memory_put_u64(&memory, CALLER_SP - 3 * 8, receiver);
	set_leaf(NUMBER, BLOCK, 3);
	assert_int_equal(outcome(), KEPT);
	memory_put_u32(&memory, info + RUBY_INFO_ARGUMENTS, 2);
	assert_int_equal(outcome(), CALLED);
	memory_put_u32(&memory, info + RUBY_INFO_ARGUMENTS, UINT32_MAX);
	assert_int_equal(outcome(), KEPT);
	set_leaf(NUMBER, PLAIN, 3);
	assert_int_equal(outcome(), CALLED);
	/* its own frame */
	memory_put_u64(&memory, leaf, 0);
	memory_put_u64(&memory, leaf + 16, 0);
	memory_put_u64(&memory, STACK + 50 * 8 - 16, called_entry);
	memory_put_u64(&memory, STACK + 50 * 8, RUBY_TYPE_CFUNC | RUBY_ENV_LOCAL);
	assert_int_equal(outcome(), CALLED);
}

/* `a != b` has a cache for == as well, and which is which is not known up to 2.6. */
static void two_caches_are_not_mixed_up(void **state)
{
	u64 other = make_object(0);

	(void)state;
	set_up();
	put_call(1, called_entry, SERIAL);
	memory_put_u64(&memory, other + (three ? RUBY_CACHE_METHOD_3 : RUBY_CACHE_METHOD),
		       make_entry(make_class("Foo"), 0, make_iseq("==", "==", 0)));
	memory_put_u64(&memory, caller_pc - (three ? 16 : 24), other);
	assert_int_equal(outcome(), three ? CALLED : KEPT);
}

/* It can call anything; what has begun says that it was called so. */
static void below_a_c_function_a_frame_says_so(void **state)
{
	u64 start;

	(void)state;
	set_up();
	make_caller_c();
	give_block(0);
	set_leaf(NUMBER, PLAIN, 3);
	assert_int_equal(outcome(), LEFT_OUT);
	set_leaf(NUMBER, PLAIN | RUBY_FRAME_FINISH, 3);
	assert_int_equal(outcome(), KEPT);
	set_leaf(NUMBER, PLAIN, 0); /* has not begun */
	assert_int_equal(outcome(), KEPT);
	/* the block that it was given */
	assert_true(ruby_iseq_start(&memory.mem, called_iseq, &start));
	memory_put_u64(&memory, leaf, start);
	assert_int_equal(outcome(), LEFT_OUT);
	give_block(make_captured(called_iseq) | RUBY_HANDLER_TAGGED);
	assert_int_equal(outcome(), CALLED);
	/* a block in C has a frame without a name */
	give_block(make_captured(make_c_block()) | RUBY_HANDLER_MASK);
	assert_int_equal(outcome(), NAMELESS);
}

/* What a caller can have been given, and what the leftover of another block or method is then. */
struct given {
	u64 handler;
	enum outcome of_block, of_yield;
};

enum { GIVEN = 8 };

static void make_given(struct given out[GIVEN])
{
	const struct given given[GIVEN] = {
		{ 0, LEFT_OUT, KEPT },
		{ 0x30c, LEFT_OUT, KEPT }, /* a method's name */
		{ make_captured(called_iseq) | RUBY_HANDLER_TAGGED, LEFT_OUT, LEFT_OUT },
		{ make_proc(called_iseq), LEFT_OUT, LEFT_OUT },
		{ make_captured(make_c_block()) | RUBY_HANDLER_MASK, NAMELESS, NAMELESS },
		{ make_proc(make_c_block()), NAMELESS, NAMELESS },
		{ make_proc(make_object(RUBY_T_STRING)), KEPT, KEPT }, /* of a Proc, say */
		{ make_object(RUBY_T_STRING), KEPT, KEPT }, /* a method's long name, say */
	};
	memcpy(out, given, sizeof given);
}

/* As each_with_index has for each: what it calls ends it, too.  (Its own frame has no name.) */
static void below_c_code_in_a_blocks_place_a_frame_says_so(void **state)
{
	struct result r;

	(void)state;
	set_up();
	memory_put_u64(&memory, caller, 0);
	memory_put_u64(&memory, caller + 16, make_c_block());
	memory_put_u64(&memory, STACK + 40 * 8, RUBY_TYPE_IFUNC);
	set_leaf(NUMBER, PLAIN, 3);
	walk(MAIN, &r);
	assert_int_equal(r.walk.flags & WALK_TOP_UNSET, WALK_TOP_UNSET);
	assert_int_equal(r.count, FRAMES - 3);
	set_leaf(NUMBER, PLAIN | RUBY_FRAME_FINISH, 3);
	walk(MAIN, &r);
	assert_int_equal(r.walk.flags & WALK_TOP_UNSET, 0);
	assert_int_equal(r.count, FRAMES - 2);
}

/* A C function calls the block that it was given, and hardly another one. */
static void another_block_that_has_left_is_a_leftover(void **state)
{
	const u64 block = BLOCK | RUBY_FRAME_FINISH;
	struct given given[GIVEN];

	(void)state;
	set_up();
	make_given(given);
	make_caller_c();
	for (u32 i = 0; i < GIVEN; i++) {
		give_block(given[i].handler);
		set_leaf(NUMBER, block, 8);
		assert_int_equal(outcome(), given[i].of_block);
		set_leaf(NUMBER, block, 3);
		assert_int_equal(outcome(), KEPT); /* is on its way */
		set_leaf(NUMBER, PLAIN | RUBY_FRAME_FINISH, 8);
		assert_int_equal(outcome(), KEPT); /* any method */
	}
	memory_put_u64(&memory, leaf + 16, called_iseq); /* the very block */
	give_block(make_proc(called_iseq));
	set_leaf(NUMBER, block, 8);
	assert_int_equal(outcome(), KEPT);
}

static bool has_begun(void)
{
	struct result r;

	walk(MAIN, &r);
	assert_int_equal(r.count, FRAMES - 1);
	return r.frames[0].flags & FRAME_BEGUN;
}

/* Whether it does so in a loop only the native stack can tell, of a thread that stands still. */
static void what_c_enters_says_whether_it_has_begun(void **state)
{
	(void)state;
	set_up();
	make_caller_c();
	set_leaf(NUMBER, PLAIN | RUBY_FRAME_FINISH, 0);
	assert_false(has_begun());
	set_leaf(NUMBER, PLAIN | RUBY_FRAME_FINISH, 3);
	assert_true(has_begun());
	stands = 0;
	assert_false(has_begun());
	stands = WALK_STANDS;
	ruby.facts &= ~(u32)RUBY_FILLS_LATE; /* what is there is filled */
	assert_false(has_begun());
}

/* `yield` calls the block that the method was given: its call cache is as it was made. */
static void a_yield_calls_the_block(void **state)
{
	struct given given[GIVEN];

	(void)state;
	set_up();
	make_given(given);
	memory_put_u64(&memory, STACK + 40 * 8, BLOCK | RUBY_FRAME_FINISH);
	memory_put_u64(&memory, caller_pc - 8, cache);
	for (u32 i = 0; i < GIVEN; i++) {
		give_block(given[i].handler);
		set_leaf(NUMBER, PLAIN, 3);
		assert_int_equal(outcome(), three ? given[i].of_yield : KEPT);
	}
	give_block(make_proc(called_iseq));
	memory_put_u64(&memory, cache + RUBY_CACHE_METHOD_3, make_object(0)); /* is none */
	assert_int_equal(outcome(), KEPT);
	memory_put_u64(&memory, cache + RUBY_CACHE_METHOD_3, 0);
	memory_put_u64(&memory, leaf + 16, called_iseq);
	set_leaf(NUMBER, BLOCK, 3);
	assert_int_equal(outcome(), KEPT);
}

/* By C, or by an instruction that calls by way of C: its environment is right behind what the caller has. */
static void a_c_function_that_c_calls_is_behind_its_caller(void **state)
{
	(void)state;
	for (u32 by_c = 0; by_c < 2; by_c++) {
		set_up();
		put_frame(5, 50, 0, RUBY_TYPE_CFUNC | RUBY_ENV_LOCAL, called_entry, 0);
		memory_put_u64(&memory, STACK + 50 * 8 - 16, make_c_entry());
		called_iseq = 0;
		if (by_c) {
			make_caller_c();
			give_block(0);
		} else {
			memory_put_u64(&memory, caller_pc - 8, 3); /* checkmatch rescue */
		}
		assert_int_equal(outcome(), LEFT_OUT);
		memory_put_u64(&memory, caller + 8, STACK + 48 * 8);
		assert_true(mem_peek(&memory.mem, STACK + 50 * 8 - 16, &called_entry, 8));
		struct result r;
		walk(MAIN, &r);
		assert_int_equal(entered(&r.frames[0]), called_entry);
	}
}

/* What is left of another method's has that one's environment around it. */
static void a_rescue_is_its_callers(void **state)
{
	u64 ep;

	(void)state;
	set_up();
	assert_true(mem_peek(&memory.mem, caller + 32, &ep, 8));
	set_leaf(NUMBER, BLOCK, 3);
	memory_put_u64(&memory, STACK + 50 * 8, RUBY_TYPE_RESCUE);
	memory_put_u64(&memory, STACK + 50 * 8 - 8, (ep + 64) | 1);
	assert_int_equal(outcome(), LEFT_OUT);
	memory_put_u64(&memory, STACK + 50 * 8 - 8, ep | 1);
	assert_int_equal(outcome(), KEPT);
}

/* A block of another method, and one around which there is none. */
static void a_block_is_a_part_of_what_is_around_it(void **state)
{
	u64 iseq, body, outer;

	(void)state;
	set_up();
	outer = make_object(0) + 0x40;
	put_frame(5, 50, make_iseq("block in bob", "bob", called_iseq), PLAIN, 0, 0);
	set_leaf(NUMBER, BLOCK, 3);
	memory_put_u64(&memory, STACK + 50 * 8, RUBY_TYPE_BLOCK);
	memory_put_u64(&memory, STACK + 50 * 8 - 8, outer | 1);
	assert_int_equal(outcome(), LEFT_OUT);
	memory_put_u64(&memory, outer - 16, called_entry);
	memory_put_u64(&memory, outer, PLAIN);
	assert_true(mem_peek(&memory.mem, leaf + 16, &iseq, 8));
	assert_true(mem_peek(&memory.mem, iseq + RUBY_ISEQ_BODY, &body, 8));
	memory_put_u64(&memory, body + ruby.at.body_local_iseq, called_iseq);
	assert_int_equal(outcome(), KEPT);
	memory_put_u64(&memory, body + ruby.at.body_local_iseq, iseq);
	assert_int_equal(outcome(), LEFT_OUT);
}

static void a_block_that_a_method_yields_to_is_known(void **state)
{
	u64 start, captured = make_object(0);

	(void)state;
	set_up();
	assert_true(ruby_iseq_start(&memory.mem, called_iseq, &start));
	memory_put_u64(&memory, captured + RUBY_CAPTURED_CODE, called_iseq);
	give_block(captured | RUBY_HANDLER_TAGGED);
	memory_put_u64(&memory, STACK + 40 * 8, PLAIN);
	assert_int_equal(outcome(), KEPT);
	memory_put_u64(&memory, leaf, start);
	assert_int_equal(outcome(), CALLED);
	/* of a block this is what it is nested in */
	memory_put_u64(&memory, STACK + 40 * 8, BLOCK & ~RUBY_ENV_LOCAL);
	memory_put_u64(&memory, captured, PLAIN);
	ruby.facts &= ~(u32)RUBY_HAS_CLASS_PATHS;
	assert_int_equal(outcome(), LEFT_OUT);
	memory_put_u64(&memory, captured - 8, make_proc(called_iseq));
	assert_int_equal(outcome(), CALLED);
	memory_put_u64(&memory, captured,
		       BLOCK & ~RUBY_ENV_LOCAL); /* and that in itself, for ever */
	memory_put_u64(&memory, captured - 8, captured | 1);
	assert_int_equal(outcome(), LEFT_OUT);
}

static int before_2_7(void **state)
{
	(void)state;
	three = false;
	return 0;
}

static int of_2_7(void **state)
{
	(void)state;
	three = true;
	return 0;
}

#define OF_BOTH(test) cmocka_unit_test_setup(test, before_2_7), cmocka_unit_test_setup(test, of_2_7)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leftovers_are_left_out),
		OF_BOTH(an_entered_method_is_known_by_its_call),
		OF_BOTH(a_frame_on_another_object_is_a_leftover),
		OF_BOTH(what_is_called_on_a_class_is_known),
		OF_BOTH(a_method_may_have_left_early),
		OF_BOTH(a_c_function_is_known_by_what_was_pushed),
		OF_BOTH(two_caches_are_not_mixed_up),
		OF_BOTH(below_a_c_function_a_frame_says_so),
		OF_BOTH(below_c_code_in_a_blocks_place_a_frame_says_so),
		OF_BOTH(another_block_that_has_left_is_a_leftover),
		OF_BOTH(what_c_enters_says_whether_it_has_begun),
		OF_BOTH(a_yield_calls_the_block),
		OF_BOTH(a_c_function_that_c_calls_is_behind_its_caller),
		OF_BOTH(a_rescue_is_its_callers),
		OF_BOTH(a_block_is_a_part_of_what_is_around_it),
		OF_BOTH(a_block_that_a_method_yields_to_is_known),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(memory.bytes);
	return failed;
}
