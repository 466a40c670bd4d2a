/* SPDX-License-Identifier: Apache-2.0
 * toy.c - the toy runtime on stacks built by hand, and on a toy VM that is alive. */
#include "check.h"

#include "elf/image.h"
#include "mem/self.h"
#include "mem/tape.h"
#include "runtimes/runtime.h"
#include "runtimes/toy/step.h"
#include "target/target.h"
#include "toy/toy.h"

extern const struct runtime toy_runtime;

enum { DEPTH = 5, FRAMES_MAX = 32 };

/* A stack in our own memory, its words wherever the version says. */
struct heap {
	struct toy_state state;
	u8 thread[2][64];
	u8 frame[DEPTH][64];
	u8 code[DEPTH][64];
	u64 first;
};

static u64 address(const void *of)
{
	return (u64)(uintptr_t)of;
}

static void put_u64(u8 *at, u64 value)
{
	memcpy(at, &value, sizeof value);
}

static void put_u32(u8 *at, u32 value)
{
	memcpy(at, &value, sizeof value);
}

/* frame[0] is the leaf: f0:10, f1:11 and so on. */
static void heap_build(struct heap *heap, u32 version)
{
	const struct toy_layout *at;

	*heap = (struct heap){ .state.at = toy_version_find(version)->at };
	at = &heap->state.at;
	for (u32 i = 0; i < DEPTH; i++) {
		put_u64(heap->frame[i] + at->frame_code, address(heap->code[i]));
		put_u32(heap->frame[i] + at->frame_line, 10 + i);
		put_u64(heap->frame[i] + at->frame_prev,
			i + 1 < DEPTH ? address(heap->frame[i + 1]) : 0);
		sprintf((char *)heap->code[i] + at->code_name, "f%u", i);
	}
	put_u64(heap->thread[0] + at->thread_frame, address(heap->frame[0]));
	put_u64(heap->thread[0] + at->thread_root, address(heap->frame[DEPTH - 1]));
	put_u64(heap->thread[0] + at->thread_next, address(heap->thread[1]));
	put_u32(heap->thread[0] + at->thread_tid, 100);
	put_u32(heap->thread[1] + at->thread_tid, 101);
	heap->first = address(heap->thread[0]);
	heap->state.threads = address(&heap->first);
}

static enum step walk(const struct mem *mem, const void *state, u64 thread,
		      struct frame frames[FRAMES_MAX], u32 *depth)
{
	struct walk walk;
	enum step step = toy_runtime.begin(mem, state, thread, &walk);

	*depth = 0;
	while (step == STEP_MORE && *depth < FRAMES_MAX) {
		step = toy_runtime.step(mem, state, &walk, &frames[*depth]);
		*depth += step == STEP_MORE;
	}
	return step;
}

static void check_walk_of(u32 version)
{
	struct frame frames[FRAMES_MAX];
	struct heap heap;
	u32 depth;

	heap_build(&heap, version);
	assert_int_equal(walk(&mem_self, &heap.state, address(heap.thread[0]), frames, &depth),
			 STEP_DONE);
	assert_int_equal(depth, DEPTH);
	for (u32 i = 0; i < DEPTH; i++) {
		assert_int_equal(frames[i].id, address(heap.code[i]));
		assert_int_equal(frames[i].at, address(heap.frame[i]));
		assert_int_equal(frames[i].pos, 10 + i);
		assert_int_equal(frames[i].flags, i ? 0 : FRAME_LEAF);
	}
	/* The second thread has not begun. */
	assert_int_equal(walk(&mem_self, &heap.state, address(heap.thread[1]), frames, &depth),
			 STEP_EMPTY);
}

static void both_versions_are_walked(void **state)
{
	(void)state;
	check_walk_of(0x100);
	check_walk_of(0x200);
	assert_null(toy_version_find(0x300));
}

static void threads_come_in_order(void **state)
{
	struct vm_thread thread;
	struct heap heap;
	u64 where = 0;

	(void)state;
	heap_build(&heap, 0x200);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(toy_runtime.next_thread(&mem_self, &heap.state, &where, &thread),
				 STEP_MORE);
		assert_int_equal(thread.thread, address(heap.thread[i]));
		assert_int_equal(thread.tid, 100 + i);
	}
	assert_int_equal(toy_runtime.next_thread(&mem_self, &heap.state, &where, &thread),
			 STEP_DONE);
}

static void a_stack_that_misses_its_root_is_a_fault(void **state)
{
	struct frame frames[FRAMES_MAX];
	struct heap heap;
	u32 depth;

	(void)state;
	heap_build(&heap, 0x100);
	put_u64(heap.frame[2] + heap.state.at.frame_prev, 0);
	assert_int_equal(walk(&mem_self, &heap.state, address(heap.thread[0]), frames, &depth),
			 STEP_FAULT);
	assert_int_equal(depth, 3);
}

/* Bounding the loop is the engine's part: the walker must not say that such a stack has ended. */
static void a_cycle_never_says_done(void **state)
{
	struct frame frames[FRAMES_MAX];
	struct heap heap;
	u32 depth;

	(void)state;
	heap_build(&heap, 0x100);
	put_u64(heap.frame[DEPTH - 1] + heap.state.at.frame_prev, address(heap.frame[0]));
	assert_int_equal(walk(&mem_self, &heap.state, address(heap.thread[0]), frames, &depth),
			 STEP_MORE);
	assert_int_equal(depth, FRAMES_MAX);
}

static void every_read_fails_in_turn(void **state)
{
	struct frame whole[FRAMES_MAX], frames[FRAMES_MAX];
	struct mem_faulty faulty;
	struct heap heap;
	u32 depth, reads;

	(void)state;
	heap_build(&heap, 0x200);
	mem_faulty_init(&faulty, &mem_self, UINT64_MAX);
	walk(&faulty.mem, &heap.state, address(heap.thread[0]), whole, &depth);
	reads = (u32)faulty.count;
	assert_true(reads >= 2 + 3 * DEPTH);
	for (u32 n = 0; n < reads; n++) {
		mem_faulty_init(&faulty, &mem_self, n);
		assert_int_equal(
			walk(&faulty.mem, &heap.state, address(heap.thread[0]), frames, &depth),
			STEP_FAULT);
		assert_int_equal(depth, n < 2 ? 0 : (n - 2) / 3);
		assert_memory_equal(frames, whole, depth * sizeof *frames);
	}
}

static void a_name_without_an_end_is_refused(void **state)
{
	struct frame_name name = { 0 };
	struct frame frame = { 0 };
	struct heap heap;

	(void)state;
	heap_build(&heap, 0x100);
	frame.id = address(heap.code[3]);
	frame.pos = 77;
	assert_true(toy_runtime.name_frame(&mem_self, &heap.state, &frame, &name));
	assert_string_equal(name.label.text, "f3");
	assert_int_equal(name.line, 77);
	memset(heap.code[3], 'x', sizeof heap.code[3]);
	assert_false(toy_runtime.name_frame(&mem_self, &heap.state, &frame, &name));
	frame.id = 8;
	assert_false(toy_runtime.name_frame(&mem_self, &heap.state, &frame, &name));
	str_free(&name.label);
	str_free(&name.path);
}

static bool attach_to(const struct target *target, void *state, struct err *err)
{
	bool attached = false;

	for (u32 i = 0; i < target->maps.all.count && !attached; i++) {
		const struct mapping *mapping = &target->maps.all.at[i];
		struct image *image = NULL;

		if (mapping->executable)
			image = target_open_image(target, mapping, NULL);
		if (image)
			attached = toy_runtime.attach(target, image, state, err);
		image_close(image);
	}
	return attached;
}

static void check_living_stack(const struct target *target, const void *state, u64 thread,
			       const char *want)
{
	struct frame frames[FRAMES_MAX];
	struct frame_name name = { 0 };
	struct str text = { 0 };
	u32 depth;

	assert_int_equal(walk(&target->mem.mem, state, thread, frames, &depth), STEP_DONE);
	for (u32 i = 0; i < depth; i++) {
		str_clear(&name.label);
		str_clear(&name.path);
		assert_true(toy_runtime.name_frame(&target->mem.mem, state, &frames[i], &name));
		str_addf(&text, "%s%s:%u", i ? ";" : "", name.label.text, name.line);
	}
	assert_string_equal(text.text, want);
	str_free(&text);
	str_free(&name.label);
	str_free(&name.path);
}

/* Every stack that the VM says it has, from the process itself. */
static void check_living(const char *program)
{
	_Alignas(8) u8 state[RUNTIME_STATE_MAX] = { 0 };
	struct vm_thread thread;
	struct target target;
	struct toy toy;
	struct err err = { 0 };
	char path[500];
	u64 where = 0;

	snprintf(path, sizeof path, "%s/tests/targets/%s", getenv("SONDE_BUILD"), program);
	assert_true(toy_start(&toy, path, "park", 16) && toy_read(&toy));
	assert_int_equal(toy.thread_count, 16);
	assert_true(target_open(&target, (u32)toy.pid, &err));
	if (!attach_to(&target, state, &err))
		fail_msg("%s", err.text);
	for (u32 i = 0; i < toy.thread_count; i++) {
		assert_int_equal(toy_runtime.next_thread(&target.mem.mem, state, &where, &thread),
				 STEP_MORE);
		assert_int_equal(thread.tid, toy.tids[i]);
		check_living_stack(&target, state, thread.thread, toy.stacks[i]);
	}
	target_close(&target);
	toy_end(&toy);
}

static void a_living_vm_is_read_in_both_versions(void **state)
{
	(void)state;
	check_living("toy-1");
	check_living("toy-2");
}

/* This very process: an ELF file without a toy in it. */
static void another_program_is_not_mine(void **state)
{
	_Alignas(8) u8 bytes[RUNTIME_STATE_MAX];
	struct target target;
	struct err err = { 0 };

	(void)state;
	assert_true(target_open(&target, (u32)getpid(), &err));
	assert_false(attach_to(&target, bytes, &err));
	assert_int_equal(err.code, ERR_NOT_MINE);
	target_close(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_versions_are_walked),
		cmocka_unit_test(threads_come_in_order),
		cmocka_unit_test(a_stack_that_misses_its_root_is_a_fault),
		cmocka_unit_test(a_cycle_never_says_done),
		cmocka_unit_test(every_read_fails_in_turn),
		cmocka_unit_test(a_name_without_an_end_is_refused),
		cmocka_unit_test(a_living_vm_is_read_in_both_versions),
		cmocka_unit_test(another_program_is_not_mine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
