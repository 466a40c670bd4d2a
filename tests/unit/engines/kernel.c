/* SPDX-License-Identifier: Apache-2.0
 * kernel.c - the parts of the kernel engine that need no kernel. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines/engine.h"
#include "engines/kernel/assemble.h"
#include "engines/kernel/walk_on.h"
#include "engines/kernel/watched.h"

static void a_walk_goes_on_in_its_piece_of_stack_only(void **unused)
{
	static struct kernel_rest rest;
	struct walk_on on;
	u64 word;

	(void)unused;
	rest.walk.sp = 0x7000;
	rest.stack[8] = 42;
	walk_on_begin(&on, &rest, offsetof(struct kernel_rest, stack) + 16);
	assert_true(on.walk.sp == 0x7000);
	assert_true(mem_read(&on.mem, 0x7008, &word, 8));
	assert_int_equal(word, 42);
	assert_false(mem_read(&on.mem, 0x6fff, &word, 1));
	assert_false(mem_read(&on.mem, 0x7009, &word, 8));
	assert_false(mem_read(&on.mem, 0x7010, &word, 1));
	assert_false(mem_read(&on.mem, UINT64_MAX, &word, 8));
	/* no stack came with it, or less than the walk itself */
	walk_on_begin(&on, &rest, offsetof(struct kernel_rest, stack));
	assert_false(mem_read(&on.mem, 0x7000, &word, 1));
	walk_on_begin(&on, &rest, 3);
	assert_false(mem_read(&on.mem, 0x7000, &word, 1));
}

static void threads_are_found_by_tid_and_forgotten(void **unused)
{
	static const u32 tids[] = { 50, 10, 40, 20, 30, 20 };
	struct unwind_files files = { 0 };
	struct watched *process = watched_new(1, NULL, 1, &files);

	(void)unused;
	assert_non_null(process);
	for (u32 i = 0; i < COUNT_OF(tids); i++)
		watched_thread(process, tids[i])->runtime_ns = tids[i];
	assert_int_equal(process->threads.count, 5);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(process->threads.at[i].tid, 10 * (i + 1));
	struct watched_thread *before = watched_thread(process, 30);
	u32 life = before->life;
	watched_forget_thread(process, before);
	assert_int_equal(process->threads.count, 4);
	/* its number again: another thread */
	struct watched_thread *after = watched_thread(process, 30);
	assert_int_equal(after->runtime_ns, 0);
	assert_int_not_equal(after->life, life);
	assert_int_equal(watched_thread(process, 40)->runtime_ns, 40);
	watched_free(process);
}

/* A child that has ended before anybody looked has its parent's code and names. */
static void a_fork_has_what_its_parent_has(void **unused)
{
	struct unwind_files files = { 0 };
	struct target target;
	struct err err = { 0 };
	struct kernel_mappings no_news = { 0 };
	u64 here = (u64)(uintptr_t)a_fork_has_what_its_parent_has;

	(void)unused;
	assert_true(target_open(&target, (u32)getpid(), &err));
	struct watched *parent = watched_new(target.pid, &target, 1, &files);
	assert_non_null(parent);
	assert_true(watched_read_maps(parent, &no_news, &err));
	parent->space_number = 7;
	const struct unwind_range *range = unwind_space_at(&parent->space, here);
	assert_non_null(range);
	/* there is no such process: pids end at 2^22 */
	struct watched *child = watched_fork(parent, 1 << 30, 12345, 2);
	assert_non_null(child);
	const struct unwind_range *same = unwind_space_at(&child->space, here);
	assert_non_null(same);
	assert_ptr_equal(same->file, range->file);
	assert_int_equal(child->space_number, 7);
	assert_int_equal(child->target->pid, 1 << 30);
	assert_int_equal(child->target->maps.all.count, target.maps.all.count);
	assert_string_equal(child->target->comm, target.comm);
	/* the first thread ends, as it does when another one calls exec */
	struct watched_thread *first = watched_thread(child, 1 << 30);
	first->runtime_ns = 5000;
	watched_forget_thread(child, first);
	assert_non_null(watched_thread(child, (1 << 30) + 1));
	assert_true(watched_has_ended(child, 1 << 30, 5000));
	/* and behind an exec nothing of it, but the one thread that is left, with the first one's number */
	struct kernel_head exec = { .execs = 1, .tid = 1 << 30, .runtime_ns = 7000 };
	watched_exec(child, &exec, 3);
	assert_int_equal(child->execs, 1);
	assert_int_equal(child->threads.count, 1);
	assert_int_equal(child->threads.at[0].tid, 1 << 30);
	assert_int_equal(child->threads.at[0].paid_ns,
			 7000); /* what it used before is no part of the new program */
	assert_false(watched_has_ended(child, 1 << 30, 8000));
	assert_null(unwind_space_at(&child->space, here));
	assert_false(watched_read_maps(child, &no_news, &err));
	watched_free(child);
	watched_free(parent);
	unwind_files_free(&files);
	target_close(&target);
}

/* ---- records ------------------------------------------------------------------------------- */

enum { LOOP_BEGIN = 0x5000, LOOP_END = 0x6000, SHELL_BEGIN = 0x6000, SHELL_END = 0x6100 };

/* A record as the kernel writes it, a frame each; pcs are marked as return addresses behind the first. */
struct made_record {
	struct kernel_record record;
	u8 room[4096];
};

static size_t make_record(struct made_record *made, const u64 *pcs, u32 pc_count,
			  const struct frame *managed, u32 managed_count)
{
	u8 *at = made->room;

	memset(made, 0, sizeof *made);
	made->record.head.native_count = pc_count;
	made->record.head.vms[0] = (struct kernel_vm){ .count = (u16)managed_count,
						       .end = STEP_DONE,
						       .thread = managed_count ? 1 : 0 };
	made->record.head.end = UNWIND_DONE;
	for (u32 i = 0; i < pc_count; i++, at += sizeof(struct kernel_frame)) {
		struct kernel_frame frame = { pcs[i] | (i ? KERNEL_IS_RETURN : 0), 0x7000 + i };
		memcpy(at, &frame, sizeof frame);
	}
	if (managed_count)
		memcpy(at, managed, managed_count * sizeof *managed);
	at += managed_count * sizeof *managed;
	return sizeof made->record + (size_t)(at - made->room);
}

static struct watched *with_a_machine(struct unwind_files *files)
{
	struct watched *process = watched_new(1, NULL, 1, files);

	assert_non_null(process);
	process->space.is_filled = true; /* with nothing: addresses stay as they are */
	process->vms[0].number = 1;
	process->vms[0].machine = (struct machine){
		.code = { .loop_count = 2,
			  .loops = { { LOOP_BEGIN, LOOP_END, MACHINE_LOOP },
				     { SHELL_BEGIN, SHELL_END, MACHINE_SHELL } } }
	};
	return process;
}

struct assembled {
	struct assembly *assembly;
	struct sample *sample;
};

static struct assembled new_assembly(void)
{
	struct assembled got = {
		assembly_new(), calloc(1, sizeof *got.sample + ASSEMBLED_MAX * sizeof(struct frame))
	};

	assert_non_null(got.assembly);
	assert_non_null(got.sample);
	return got;
}

static struct assembled run_assembly(struct watched *process, const struct made_record *made,
				     size_t size, bool event_at_root)
{
	struct assembled got = new_assembly();

	assemble(got.assembly, process, &made->record, size, event_at_root, got.sample);
	return got;
}

static void check_ids(struct assembled got, const u64 *wanted, u32 count)
{
	assert_int_equal(got.sample->depth, count);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(got.sample->frames[i].id, wanted[i]);
	assembly_free(got.assembly);
	free(got.sample);
}

static const struct frame two_segments[] = {
	{ .id = 0xa1, .kind = FRAME_MANAGED, .flags = FRAME_ENTRY },
	{ .id = 0xb1, .kind = FRAME_MANAGED },
	{ .id = 0xb2, .kind = FRAME_MANAGED, .flags = FRAME_ENTRY },
};

static void managed_frames_take_the_place_of_loops_and_shells(void **unused)
{
	/* memcpy <- loop <- shell <- rb_yield <- loop <- shell <- main */
	static const u64 pcs[] = { 0x100, 0x5010, 0x6010, 0x200, 0x5020, 0x6020, 0x300 };
	static const u64 wanted[] = { 0x100, 0xa1, 0x1ff, 0xb1, 0xb2, 0x2ff };
	struct unwind_files files = { 0 };
	struct watched *process = with_a_machine(&files);
	struct made_record made;
	size_t size = make_record(&made, pcs, COUNT_OF(pcs), two_segments, 3);

	(void)unused;
	made.record.head.kernel_count = 0;
	struct assembled got = run_assembly(process, &made, size, false);
	assert_int_equal(got.sample->leftover, 0);
	assert_int_equal(got.sample->flags, 0);
	check_ids(got, wanted, COUNT_OF(wanted));
	assert_int_equal(assembled_end(&made.record, size), 0x2ff);
	watched_free(process);
}

static void check_thin(const u64 *pcs, u32 pc_count, const u64 *wanted, u32 count)
{
	struct unwind_files files = { 0 };
	struct watched *process = with_a_machine(&files);
	struct made_record made;
	size_t size = make_record(&made, pcs, pc_count, two_segments, 3);

	process->vms[0].machine.code.is_thin = true;
	struct assembled got = run_assembly(process, &made, size, false);
	assert_int_equal(got.sample->leftover, 0);
	check_ids(got, wanted, count);
	watched_free(process);
}

static void what_a_thin_loop_calls_is_its_instruction(void **unused)
{
	/* memcpy <- an instruction <- loop <- PyObject_Call <- an instruction <- loop <- main */
	static const u64 pcs[] = { 0x100, 0x110, 0x5010, 0x200, 0x120, 0x5020, 0x300 };
	static const u64 wanted[] = { 0x100, 0xa1, 0x1ff, 0xb1, 0xb2, 0x2ff };

	(void)unused;
	check_thin(pcs, COUNT_OF(pcs), wanted, COUNT_OF(wanted));
}

/* The first instruction has not been called yet. */
static void a_thin_loop_can_be_the_leaf(void **unused)
{
	static const u64 pcs[] = { 0x5010, 0x5020, 0x300 };
	static const u64 wanted[] = { 0xa1, 0xb1, 0xb2, 0x2ff };

	(void)unused;
	check_thin(pcs, COUNT_OF(pcs), wanted, COUNT_OF(wanted));
}

static void two_vms_have_a_loop_each(void **unused)
{
	/* Python's loop <- ffi <- Ruby's loop <- shell <- main */
	static const u64 pcs[] = { 0x7010, 0x200, 0x5020, 0x6020, 0x300 };
	static const u64 wanted[] = { 0xc1, 0x1ff, 0xb1, 0xb2, 0x2ff };
	static const struct frame frames[] = {
		{ .id = 0xb1, .kind = FRAME_MANAGED },
		{ .id = 0xb2, .kind = FRAME_MANAGED, .flags = FRAME_ENTRY },
		{ .id = 0xc1, .kind = FRAME_MANAGED + 1, .flags = FRAME_ENTRY },
	};
	struct unwind_files files = { 0 };
	struct watched *process = with_a_machine(&files);
	struct made_record made;
	size_t size = make_record(&made, pcs, COUNT_OF(pcs), frames, 3);

	(void)unused;
	made.record.head.vms[0].count = 2;
	made.record.head.vms[1] = (struct kernel_vm){ .count = 1, .end = STEP_DONE, .thread = 1 };
	process->vms[1].number = 2;
	process->vms[1].machine = (struct machine){
		.code = { .loop_count = 1, .loops = { { 0x7000, 0x7100, MACHINE_LOOP } } }
	};
	struct assembled got = run_assembly(process, &made, size, false);
	assert_int_equal(got.sample->leftover, 0);
	check_ids(got, wanted, COUNT_OF(wanted));
	watched_free(process);
}

static void a_shell_that_is_entered_has_its_frame_already(void **unused)
{
	/* shell <- rb_yield <- loop <- shell <- main: the leaf's loop has not begun */
	static const u64 pcs[] = { 0x6000, 0x200, 0x5020, 0x6020, 0x300 };
	static const u64 wanted[] = { 0xa1, 0x1ff, 0xb1, 0xb2, 0x2ff };
	struct unwind_files files = { 0 };
	struct watched *process = with_a_machine(&files);
	struct made_record made;
	size_t size = make_record(&made, pcs, COUNT_OF(pcs), two_segments, 3);

	(void)unused;
	check_ids(run_assembly(process, &made, size, false), wanted, COUNT_OF(wanted));
	watched_free(process);
}

static void check_begun(u16 flags, const u64 *pcs, u32 pc_count, const u64 *wanted, u32 count)
{
	struct unwind_files files = { 0 };
	struct watched *process = with_a_machine(&files);
	struct made_record made;
	struct frame frames[COUNT_OF(two_segments)];

	memcpy(frames, two_segments, sizeof frames);
	frames[0].flags |= flags;
	size_t size = make_record(&made, pcs, pc_count, frames, COUNT_OF(frames));
	struct assembled got = run_assembly(process, &made, size, false);
	check_ids(got, wanted, count);
	watched_free(process);
}

/* What is pushed and in no loop yet has run nothing: an earlier call left it where a frame is yet to be filled. */
static void what_has_begun_without_a_loop_is_a_leftover(void **unused)
{
	/* rb_yield <- loop <- shell <- main, and with a loop of its own */
	static const u64 pcs[] = { 0x200, 0x5020, 0x6020, 0x300 };
	static const u64 in_loop[] = { 0x5010, 0x6010, 0x200, 0x5020, 0x6020, 0x300 };
	static const u64 pushed[] = { 0xa1, 0x200, 0xb1, 0xb2, 0x2ff };
	static const u64 left_out[] = { 0x200, MARK_MOVING, 0xb1, 0xb2, 0x2ff };
	static const u64 runs[] = { 0xa1, 0x1ff, 0xb1, 0xb2, 0x2ff };

	(void)unused;
	check_begun(0, pcs, COUNT_OF(pcs), pushed, COUNT_OF(pushed));
	check_begun(FRAME_BEGUN, pcs, COUNT_OF(pcs), left_out, COUNT_OF(left_out));
	check_begun(FRAME_BEGUN, in_loop, COUNT_OF(in_loop), runs, COUNT_OF(runs));
}

static void what_was_cut_says_so(void **unused)
{
	static const u64 pcs[] = { 0x100, 0x5010, 0x200 };
	static const u64 wanted[] = { 0x100, 0xa1, 0x1ff, 0xb1, 0xb2, MARK_TRUNCATED };
	struct unwind_files files = { 0 };
	struct watched *process = with_a_machine(&files);
	struct made_record made;
	size_t size = make_record(&made, pcs, COUNT_OF(pcs), two_segments, 3);

	(void)unused;
	made.record.head.end = UNWIND_NO_RULE;
	struct assembled got = run_assembly(process, &made, size, false);
	assert_true(got.sample->flags & SAMPLE_TRUNCATED);
	check_ids(got, wanted, COUNT_OF(wanted));
	watched_free(process);
}

/* The kernel walked by the table of what had been there before, unless it saw by the mark that it is the right one. */
static void a_caller_found_by_anothers_table_is_left_out(void **unused)
{
	static const u64 pcs[] = { 0x100, 0x5010, 0x200 };
	static const u64 cut[] = { 0x100, 0xa1, MARK_TRUNCATED }, whole[] = { 0x100, 0xa1, 0x1ff };
	struct unwind_files files = { 0 };
	struct watched *process = with_a_machine(&files);
	struct made_record made;
	size_t size = make_record(&made, pcs, COUNT_OF(pcs), two_segments, 1);
	struct kernel_frame *native = (struct kernel_frame *)made.room;

	(void)unused;
	made.record.head.time_ns = 1000;
	replaced_doubt(&process->replaced, 500);
	for (u32 i = 0; i < COUNT_OF(pcs); i++)
		native[i].pc |= KERNEL_IS_SURE;
	check_ids(run_assembly(process, &made, size, false), whole, COUNT_OF(whole));
	native[1].pc &= ~KERNEL_IS_SURE;
	check_ids(run_assembly(process, &made, size, false), cut, COUNT_OF(cut));
	watched_free(process);
}

/* bar calls baz from one place and bob from the next, and then its leaf is baz at the second. */
static void a_leaf_of_an_earlier_call_is_left_out(void **unused)
{
	enum { BAR = 0xb1, BAZ = 0xa1, BOB = 0xa2, FIRST = 8, SECOND = 16, SIGHTINGS = 1000 };
	static const u64 pcs[] = { 0x100, 0x5010, 0x6010, 0x300 };
	static const u64 wanted[] = { 0x100, MARK_MOVING, BAR, 0x2ff };
	static const struct frame stacks[][2] = {
		{ { .id = BAZ, .kind = FRAME_MANAGED },
		  { .id = BAR, .pos = FIRST, .kind = FRAME_MANAGED } },
		{ { .id = BOB, .kind = FRAME_MANAGED },
		  { .id = BAR, .pos = SECOND, .kind = FRAME_MANAGED } },
		{ { .id = BAZ, .kind = FRAME_MANAGED },
		  { .id = BAR, .pos = SECOND, .kind = FRAME_MANAGED } },
	};
	struct unwind_files files = { 0 };
	struct watched *process = with_a_machine(&files);
	struct assembled got = new_assembly();
	struct made_record made;

	(void)unused;
	for (u32 i = 0; i <= 2 * SIGHTINGS; i++) {
		size_t size = make_record(&made, pcs, COUNT_OF(pcs),
					  stacks[i == 2 * SIGHTINGS ? 2 : i % 2], 2);
		made.record.head.vms[0].flags = WALK_TOP_UNSURE;
		got.sample->depth = 0;
		assemble(got.assembly, process, &made.record, size, false, got.sample);
		assert_true(got.sample->frames[1].kind == FRAME_MANAGED || i == 2 * SIGHTINGS);
	}
	check_ids(got, wanted, COUNT_OF(wanted));
	watched_free(process);
}

static void an_event_is_the_leaf_or_the_root(void **unused)
{
	static const u64 pcs[] = { 0x100, 0x200 };
	static const u64 as_leaf[] = { 6, 0x100, 0x1ff }, as_root[] = { 0x100, 0x1ff, 6 };
	struct unwind_files files = { 0 };
	struct watched *process = with_a_machine(&files);
	struct made_record made;
	size_t size = make_record(&made, pcs, COUNT_OF(pcs), NULL, 0);

	(void)unused;
	made.record.head.event = 7;
	made.record.head.result = 2;
	struct assembled got = run_assembly(process, &made, size, false);
	assert_int_equal(got.sample->frames[0].kind, FRAME_EVENT);
	assert_int_equal(got.sample->frames[0].pos, 2);
	check_ids(got, as_leaf, COUNT_OF(as_leaf));
	check_ids(run_assembly(process, &made, size, true), as_root, COUNT_OF(as_root));
	watched_free(process);
}

static void a_record_that_says_more_than_it_has_is_not_read_past(void **unused)
{
	static const u64 pcs[] = { 0x100, 0x5010, 0x200 };
	static const u64 wanted[] = { MARK_TRUNCATED };
	struct unwind_files files = { 0 };
	struct watched *process = with_a_machine(&files);
	struct made_record made;
	size_t size = make_record(&made, pcs, COUNT_OF(pcs), two_segments, 3);

	(void)unused;
	check_ids(run_assembly(process, &made, size - 1, false), wanted, 1);
	assert_int_equal(assembled_end(&made.record, size - 1), 0);
	made.record.head.native_count = UINT32_MAX;
	check_ids(run_assembly(process, &made, size, false), wanted, 1);
	watched_free(process);
}

static void what_it_cannot_do_is_refused_by_name(void **unused)
{
	static const struct {
		struct engine_options options;
		const char *name;
	} rows[] = {
		{ { .hz = 99, .pause = PAUSE_ALWAYS }, "--pause=always" },
		{ { .hz = 99, .tape_dir = "/tmp" }, "--tape" },
		{ { .hz = 99, .async = ASYNC_ALL }, "--async" },
	};

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct err err = { 0 };
		assert_null(engine_named("kernel")->open(NULL, &rows[i].options, &err));
		assert_int_equal(err.code, ERR_UNSUPPORTED);
		assert_non_null(strstr(err.text, rows[i].name));
	}
}

static void a_vm_that_cannot_be_read_is_told_of(void **unused)
{
	static const struct {
		enum err_code code;
		bool told;
	} rows[] = {
		{ ERR_NONE, false },       { ERR_NOT_MINE, false },   { ERR_NOT_READY, false },
		{ ERR_NO_PROCESS, false }, { ERR_UNSUPPORTED, true }, { ERR_BAD_DATA, true },
	};
	attached_list none = { 0 };

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct attach_report report = { .first.code = rows[i].code };
		char warning[200] = "";
		snprintf(report.first.text, sizeof report.first.text, "Ruby 2.4.2 is too old");
		assert_int_equal(attached_say_why_none(&none, &report, 7, warning), rows[i].told);
		assert_int_equal(strstr(warning, "7: native frames only: Ruby 2.4.2") != NULL,
				 rows[i].told);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_goes_on_in_its_piece_of_stack_only),
		cmocka_unit_test(what_it_cannot_do_is_refused_by_name),
		cmocka_unit_test(a_vm_that_cannot_be_read_is_told_of),
		cmocka_unit_test(threads_are_found_by_tid_and_forgotten),
		cmocka_unit_test(a_fork_has_what_its_parent_has),
		cmocka_unit_test(managed_frames_take_the_place_of_loops_and_shells),
		cmocka_unit_test(what_a_thin_loop_calls_is_its_instruction),
		cmocka_unit_test(a_thin_loop_can_be_the_leaf),
		cmocka_unit_test(two_vms_have_a_loop_each),
		cmocka_unit_test(a_shell_that_is_entered_has_its_frame_already),
		cmocka_unit_test(what_has_begun_without_a_loop_is_a_leftover),
		cmocka_unit_test(what_was_cut_says_so),
		cmocka_unit_test(a_caller_found_by_anothers_table_is_left_out),
		cmocka_unit_test(a_leaf_of_an_earlier_call_is_left_out),
		cmocka_unit_test(an_event_is_the_leaf_or_the_root),
		cmocka_unit_test(a_record_that_says_more_than_it_has_is_not_read_past),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
