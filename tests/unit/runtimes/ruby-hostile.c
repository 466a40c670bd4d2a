/* SPDX-License-Identifier: Apache-2.0
 * ruby-hostile.c - the small Ruby of ruby_vm.h, damaged.
 *
 * Every read fails in turn, every word is overwritten, lists are bent
 * into loops: a walk ends, what it gives is in order, and nothing reads out of bounds. */
#include "unit/runtimes/ruby_vm.h"

#include "runtimes/ruby/names.h"
#include "runtimes/ruby/objects.h"

#include "base/rng.h"

static const char *name_of(const struct frame *frame, struct frame_name *name)
{
	str_clear(&name->label);
	str_clear(&name->path);
	return ruby_name_frame(&memory.mem, &ruby, frame, name) ? name->label.text : NULL;
}

static void the_whole_walk(void **state)
{
	struct frame_name name = { 0 };
	struct result r;

	(void)state;
	build();
	walk(MAIN, &r);
	assert_int_equal(r.end, STEP_DONE);
	assert_int_equal(r.walk.flags, WALK_GC | WALK_STANDS);
	assert_int_equal(r.walk.generation, 9 * 4 + 1);
	/* The IFUNC is not shown. */
	assert_int_equal(r.count, FRAMES - 1);
	assert_string_equal(name_of(&r.frames[0], &name), "block in Foo#bar");
	assert_int_equal(name.line, 5);
	assert_string_equal(name.path.text, "file.rb");
	assert_int_equal(r.frames[0].flags, FRAME_LEAF);
	assert_int_equal(r.frames[1].flags, FRAME_ENTRY);
	assert_int_equal(r.frames[2].flags, FRAME_C);
	/* No table of symbols: no name. */
	assert_null(name_of(&r.frames[2], &name));
	assert_string_equal(name_of(&r.frames[3], &name), "Foo#bar");
	str_free(&name.label);
	str_free(&name.path);
}

/* Who calls by way of a Method makes an entry of its own each time. */
static void a_c_function_is_one_by_whatever_entry(void **state)
{
	struct result first, second;
	u64 entry, def, clone;

	(void)state;
	build();
	walk(MAIN, &first);
	entry = first.frames[2].owner;
	assert_true(mem_peek(&memory.mem, entry + RUBY_METHOD_DEF, &def, 8));
	assert_int_equal(first.frames[2].id, def);
	clone = make_imemo(RUBY_IMEMO_MENT);
	memory_put_u64(&memory, clone + RUBY_METHOD_DEF, def);
	memory_put_u64(&memory, STACK + 8 * (20 - 2), clone);
	walk(MAIN, &second);
	assert_int_equal(second.frames[2].owner, clone);
	assert_int_equal(second.frames[2].id, def);
	/* it leads nowhere */
	memory_put_u64(&memory, clone + RUBY_METHOD_DEF, 8);
	walk(MAIN, &second);
	assert_int_equal(second.torn, 1);
}

static void threads_are_listed(void **state)
{
	struct vm_thread thread;
	u64 where = 0;

	(void)state;
	build();
	assert_int_equal(ruby_next_thread(&memory.mem, &ruby, &where, &thread), STEP_MORE);
	assert_int_equal(thread.thread, MAIN);
	assert_int_equal(thread.tid, 4242);
	assert_int_equal(thread.state, VM_THREAD_RUNNING);
	assert_int_equal(ruby_next_thread(&memory.mem, &ruby, &where, &thread), STEP_MORE);
	assert_int_equal(thread.thread, OTHER);
	assert_int_equal(thread.tid, 0);
	assert_int_equal(thread.state, VM_THREAD_WAITING);
	assert_int_equal(ruby_next_thread(&memory.mem, &ruby, &where, &thread), STEP_DONE);
	/* It has no stack yet. */
	struct result r;
	walk(OTHER, &r);
	assert_int_equal(r.end, STEP_EMPTY);
}

/* It is on the heap, and not yet marked as escaped: the object around it says that it is there. */
static void an_environment_that_is_being_captured_is_a_frames(void **state)
{
	u64 method_at, object, heap, word;
	struct result r;

	(void)state;
	build();
	method_at = STACK + STACK_WORDS * 8 - 2ull * ruby.at.frame_size;
	object = make_imemo(RUBY_IMEMO_ENV);
	heap = make_object(0) + 0x40;
	for (u32 i = 0; i < 3; i++) {
		assert_true(mem_peek(&memory.mem, STACK + 8 * (10 - i), &word, 8));
		memory_put_u64(&memory, heap - 8ull * i, word);
	}
	memory_put_u64(&memory, method_at + 32, heap);
	memory_put_u64(&memory, heap + 8, object);
	memory_put_u64(&memory, object + 16, heap);
	walk(MAIN, &r);
	assert_int_equal(r.torn, 0);
	assert_int_equal(r.count, FRAMES - 1);
	/* another's */
	memory_put_u64(&memory, object + 16, heap + 8);
	walk(MAIN, &r);
	assert_int_equal(r.torn, 1);
	/* no environment */
	memory_put_u64(&memory, heap + 8, make_imemo(RUBY_IMEMO_MENT));
	walk(MAIN, &r);
	assert_int_equal(r.torn, 1);
}

/* Frames that a damaged walk gives are frames of the whole one, in the same order, and whatever is
 * missing is admitted: STEP_TORN, STEP_FAULT, or a begin that failed. */
static void every_read_fails(void **state)
{
	struct result whole, r;

	(void)state;
	build();
	memory.reads = 0;
	walk(MAIN, &whole);
	u32 reads = memory.reads;
	assert_true(reads > 10);
	for (u32 n = 1; n <= reads; n++) {
		u32 k = 0;
		memory.reads = 0;
		memory.fail_at = n;
		walk(MAIN, &r);
		for (u32 i = 0; i < r.count; i++) {
			while (k < whole.count && whole.frames[k].at != r.frames[i].at)
				k++;
			assert_true(k < whole.count);
			assert_int_equal(r.frames[i].id, whole.frames[k].id);
			assert_int_equal(r.frames[i].owner, whole.frames[k].owner);
		}
		/* Without the GC's state a walk is whole all the same. */
		assert_true(r.count == whole.count || r.torn || r.end == STEP_FAULT);
	}
	memory.fail_at = 0;
}

/* Ends, whatever the memory says. */
static void exercise(void)
{
	struct frame_name name = { 0 };
	struct vm_thread thread;
	struct result r;
	u64 where = 0;
	u32 threads = 0;

	while (ruby_next_thread(&memory.mem, &ruby, &where, &thread) == STEP_MORE && threads < 8) {
		walk(thread.thread, &r);
		for (u32 i = 0; i < r.count; i++)
			(void)name_of(&r.frames[i], &name);
		(void)name_of(&(struct frame){ .id = thread.thread, .pos = FRAME_POS_THREAD },
			      &name);
		threads++;
	}
	walk(MAIN, &r);
	str_free(&name.label);
	str_free(&name.path);
}

static void every_word_is_damaged(void **state)
{
	static const u64 values[] = { 0,          1,    8,     BASE,       MAIN,
				      STACK + 80, HEAP, ~0ull, 1ull << 47, 1ull << 63 };
	struct rng rng = { 3 };

	(void)state;
	build();
	for (u64 at = BASE; at < BASE + SIZE; at += 8) {
		u64 before;
		memcpy(&before, memory.bytes + (at - BASE), 8);
		memory_put_u64(&memory, at, values[at / 8 % COUNT_OF(values)]);
		exercise();
		memory_put_u64(&memory, at, rng_u64(&rng));
		exercise();
		memory_put_u64(&memory, at, before);
	}
}

/* More and more of it, with addresses that lead back into it. */
static void damage_adds_up(void **state)
{
	struct rng rng = { 5 };

	(void)state;
	for (u32 round = 0; round < 200; round++) {
		build();
		for (u32 i = 0; i < 60; i++) {
			u64 value = rng_below(&rng, 3) ? BASE + rng_below(&rng, SIZE / 8) * 8 :
							 rng_u64(&rng);
			memory_put_u64(&memory, BASE + rng_below(&rng, SIZE / 8) * 8, value);
			exercise();
		}
	}
}

/* Any address reads as random bytes: nothing ends by running into a hole. */
static bool random_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	struct rng rng = { addr };

	(void)mem;
	(void)hold;
	for (u32 i = 0; i < len; i++)
		((u8 *)dst)[i] = (u8)rng_u64(&rng);
	return true;
}

/* Any address reads as words that lead elsewhere, and look like what is looked for. */
static bool plausible_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	static const u64 flags[] = { 0x601a, 0x701a, 0x201a, 0x05, 0x2005,
				     0x07,   0x02,   0x03,   0x1c, 0x11110003 };
	struct rng rng = { addr / 8 };

	(void)mem;
	(void)hold;
	for (u32 i = 0; i < len; i += 8) {
		u64 word = rng_below(&rng, 2) ? 0x10000 + rng_below(&rng, 1 << 20) * 8 :
						flags[rng_below(&rng, COUNT_OF(flags))];
		memcpy((u8 *)dst + i, &word, len - i < 8 ? len - i : 8);
	}
	return true;
}

static void random_memory(void **state)
{
	struct frame_name name = { 0 };
	struct rng rng = { 9 };

	(void)state;
	build();
	for (u32 round = 0; round < 20000; round++) {
		struct mem mem = { .read = round & 1 ? random_read : plausible_read };
		struct walk w = { .cursor = 0x20000,
				  .limit = 0x20000 + ruby.at.frame_size * 20ull,
				  .base = 0x10000 };
		struct frame frame = { .id = rng_below(&rng, 1 << 24) * 8,
				       .owner = rng_below(&rng, 1 << 24) * 8,
				       .pos = (u32)rng_u64(&rng),
				       .flags = round & 2 ? FRAME_C : 0 };
		struct vm_thread thread;
		u64 where = 0;
		ruby.vm = rng_below(&rng, 1 << 24) * 8;
		ruby_next_thread(&mem, &ruby, &where, &thread);
		ruby_begin(&mem, &ruby, rng_below(&rng, 1 << 24) * 8, &w);
		str_clear(&name.label);
		str_clear(&name.path);
		ruby_name_frame(&mem, &ruby, &frame, &name);
		assert_true(name.label.length < 1 << 20 && name.path.length <= RUBY_TEXT_MAX);
		w = (struct walk){ .cursor = 0x20000,
				   .limit = 0x20000 + ruby.at.frame_size * 20ull,
				   .base = 0x10000 };
		for (u32 i = 0; i < 24; i++) {
			enum step step = ruby_step(&mem, &ruby, &w, &frame);
			if (step == STEP_DONE || step == STEP_FAULT)
				break;
		}
	}
	str_free(&name.label);
	str_free(&name.path);
}

/* A list that never comes back to its head. */
static void a_loop_of_threads_ends(void **state)
{
	struct vm_thread thread;
	u64 where = 0;
	u32 threads = 0;
	enum step step;

	(void)state;
	build();
	memory_put_u64(&memory, OTHER, MAIN);
	while ((step = ruby_next_thread(&memory.mem, &ruby, &where, &thread)) == STEP_MORE)
		threads++;
	assert_int_equal(step, STEP_FAULT);
	assert_int_equal(threads, WALK_PLACES_MAX);
}

/* A thread that was freed while we stood on it: its first words are malloc's now. */
static void a_thread_that_is_gone_is_a_fault(void **state)
{
	struct vm_thread thread;
	struct result r;
	u64 where = 0;

	(void)state;
	build();
	assert_int_equal(ruby_next_thread(&memory.mem, &ruby, &where, &thread), STEP_MORE);
	memory_put_u64(&memory, MAIN, 0x123456789);
	memory_put_u64(&memory, MAIN + ruby.at.thread_vm, 0);
	assert_int_equal(ruby_next_thread(&memory.mem, &ruby, &where, &thread), STEP_FAULT);
	walk(MAIN, &r);
	assert_int_equal(r.end, STEP_FAULT);
}

/* A caller that JIT code runs may have published a frame that is not written yet. */
static void under_a_jit_the_top_is_unsure(void **state)
{
	struct result r;
	u64 leaf = STACK + STACK_WORDS * 8 - 6ull * 56;

	(void)state;
	build();
	assert_int_equal(ruby.at.frame_size, 56);
	memory_put_u64(&memory, leaf + 48, HEAP);
	walk(MAIN, &r);
	assert_int_equal(r.walk.flags & WALK_TOP_UNSURE, 0);
	memory_put_u64(&memory, leaf + 56 + 48, HEAP);
	walk(MAIN, &r);
	assert_int_equal(r.walk.flags & WALK_TOP_UNSURE, WALK_TOP_UNSURE);
	assert_int_equal(r.count, FRAMES - 1);
	ruby.facts &= ~(u32)RUBY_HAS_JIT_RETURN;
	walk(MAIN, &r);
	assert_int_equal(r.walk.flags & WALK_TOP_UNSURE, 0);
}

/* JIT code writes no pc until it calls something: a method's frame in a slot that a C function had last has none. */
static void a_leaf_without_a_pc_runs_under_a_jit(void **state)
{
	struct result r;
	u64 leaf = STACK + STACK_WORDS * 8 - 6ull * 56;

	(void)state;
	build();
	walk(MAIN, &r);
	assert_int_equal(r.frames[0].at, leaf);
	memory_put_u64(&memory, leaf, 0);
	walk(MAIN, &r);
	assert_int_equal(r.count, FRAMES - 2); /* it has not begun */
	assert_int_not_equal(r.frames[0].at, leaf);
	memory_put_u64(&memory, leaf + 56 + 48, HEAP);
	walk(MAIN, &r);
	assert_int_equal(r.count, FRAMES - 1);
	assert_int_equal(r.frames[0].at, leaf);
	assert_int_equal(r.frames[0].pos, RUBY_POS_UNKNOWN);
}

/* A chain of enumerators puts an IFUNC between each two of its C functions and more. */
static void any_number_of_frames_is_hidden(void **state)
{
	enum { HIDDEN = 20 };
	struct result r;

	(void)state;
	build();
	walk(MAIN, &r);
	struct frame leaf = r.frames[0];
	for (u32 i = 0; i < HIDDEN; i++)
		put_frame(6 + i, 60, make_imemo(4), RUBY_TYPE_IFUNC | 0x80, 0, 0);
	walk(MAIN, &r);
	assert_int_equal(r.end, STEP_DONE);
	assert_int_equal(r.count, FRAMES - 1);
	/* What lies under hidden ones only is the leaf. */
	assert_int_equal(r.frames[0].flags, leaf.flags);
	u64 iseq = make_iseq("top", "top", 0);
	put_frame(6 + HIDDEN, 60, iseq, 0x11110001 | RUBY_ENV_LOCAL, 0, 0);
	walk(MAIN, &r);
	assert_int_equal(r.end, STEP_DONE);
	assert_int_equal(r.count, FRAMES);
	assert_int_equal(r.frames[0].id, iseq);
	assert_int_equal(r.frames[1].id, leaf.id);
	assert_int_equal(r.frames[1].flags, leaf.flags & ~(u32)FRAME_LEAF);
}

/* The frame's environment is reached from the method's through so many blocks. */
static u64 owner_behind(u32 levels, bool loop)
{
	struct result r;
	u64 ep, block;

	build();
	walk(MAIN, &r);
	block = r.frames[0].id;
	ep = STACK + 40 * 8; /* one level below the method */
	for (u32 i = 1; i < levels; i++)
		ep = put_frame(5, 47 + 3 * i, block, 0x22220001, 0, ep | 1);
	if (loop)
		memory_put_u64(&memory, STACK + 40 * 8 - 8, ep | 1);
	walk(MAIN, &r);
	assert_int_equal(r.end, STEP_DONE);
	return r.frames[0].owner;
}

static void deep_blocks_find_their_method(void **state)
{
	(void)state;
	u64 owner = owner_behind(2, false);
	assert_int_not_equal(owner, 0);
	assert_int_equal(owner_behind(20, false), owner);
	assert_int_equal(owner_behind(50, false), owner);
	/* Environments that lead to each other. */
	assert_int_equal(owner_behind(20, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_walk),
		cmocka_unit_test(a_c_function_is_one_by_whatever_entry),
		cmocka_unit_test(threads_are_listed),
		cmocka_unit_test(an_environment_that_is_being_captured_is_a_frames),
		cmocka_unit_test(every_read_fails),
		cmocka_unit_test(every_word_is_damaged),
		cmocka_unit_test(damage_adds_up),
		cmocka_unit_test(random_memory),
		cmocka_unit_test(a_loop_of_threads_ends),
		cmocka_unit_test(a_thread_that_is_gone_is_a_fault),
		cmocka_unit_test(under_a_jit_the_top_is_unsure),
		cmocka_unit_test(a_leaf_without_a_pc_runs_under_a_jit),
		cmocka_unit_test(any_number_of_frames_is_hidden),
		cmocka_unit_test(deep_blocks_find_their_method),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(memory.bytes);
	return failed;
}
