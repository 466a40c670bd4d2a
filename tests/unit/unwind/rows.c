/* SPDX-License-Identifier: Apache-2.0
 * rows.c - tables of real images, and whether this process can be unwound by them. */
#include "unit/unwind/compiled.h"

#include "mem/self.h"
#include "unwind/space.h"

#include <execinfo.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static struct unwind_table compile(const char *path)
{
	struct unwind_report report;
	struct unwind_table table = compile_file(path, &report);

	assert_int_equal(report.damaged, 0);
	assert_true(report.functions > 10);
	return table;
}

static void the_table_of_a_program_is_good(void **state)
{
	struct unwind_table table = compile("/proc/self/exe");
	struct unwind_rule rule;

	(void)state;
	assert_true(unwind_table_is_good(table.words, table.count));
	assert_true(!unwind_find_rule(&table, 0, &rule) || rule.kind == UNWIND_NONE);
	assert_false(unwind_find_rule(&table, UINT64_MAX, &rule));
	unwind_table_free(&table);
}

static void nobody_calls_an_images_entry(void **state)
{
	static const char *const paths[] = { "/proc/self/exe", "/lib64/ld-linux-x86-64.so.2" };

	(void)state;
	for (u32 i = 0; i < COUNT_OF(paths); i++) {
		struct image *image = image_open(open(paths[i], O_RDONLY | O_CLOEXEC), paths[i],
						 NULL);
		struct unwind_rule rule;
		if (!image)
			continue; /* another C library */
		u64 entry = image_entry(image);
		image_close(image);
		struct unwind_table table = compile(paths[i]);
		assert_true(unwind_find_rule(&table, entry, &rule));
		assert_int_equal(rule.kind, UNWIND_END);
		unwind_table_free(&table);
	}
}

/* One from a file may say anything. */
static void a_damaged_table_is_refused(void **state)
{
	struct unwind_table table = compile("/proc/self/exe");
	struct unwind_header header;

	(void)state;
	memcpy(&header, table.words, sizeof header);
	u32 first = UNWIND_HEADER_WORDS;
	struct {
		u32 word, value;
	} wrong[] = { { 0, 1 },
		      { 1, 0 },
		      { 1, UINT32_MAX },
		      { 4, header.row_count + 1 },
		      { 5, header.rule_count - 1 },
		      { 6, 0 },
		      { 7, UINT32_MAX },
		      { first, 1 },
		      { first + 1, 0 },
		      { first + header.pages, 0 },
		      { header.rows, header.rule_count << 16 } };
	for (u32 i = 0; i < COUNT_OF(wrong); i++) {
		u32 was = table.words[wrong[i].word];
		table.words[wrong[i].word] = wrong[i].value;
		assert_false(unwind_table_is_good(table.words, table.count));
		table.words[wrong[i].word] = was;
	}
	assert_false(unwind_table_is_good(table.words, table.count - 1));
	assert_false(unwind_table_is_good(table.words, 3));
	assert_true(unwind_table_is_good(table.words, table.count));
	unwind_table_free(&table);
}

enum { DEPTH_MAX = 128 };

struct walked {
	u64 pc[DEPTH_MAX];
	u32 count;
	enum unwind_step end;
};

/* From here to the first function. */
__attribute__((noinline)) static void walk_here(struct unwind_space *space, struct walked *out)
{
	ucontext_t context;

	getcontext(&context);
	const greg_t *regs = context.uc_mcontext.gregs;
	struct unwind_walk walk = { .pc = (u64)regs[REG_RIP], .sp = (u64)regs[REG_RSP] };
	walk.value[X86_RBX] = (u64)regs[REG_RBX];
	walk.value[X86_RBP] = (u64)regs[REG_RBP];
	walk.value[X86_R12] = (u64)regs[REG_R12];
	walk.value[X86_R13] = (u64)regs[REG_R13];
	walk.value[X86_R14] = (u64)regs[REG_R14];
	walk.value[X86_R15] = (u64)regs[REG_R15];
	walk.known = UNWIND_KEPT;
	out->count = 0;
	do {
		out->pc[out->count++] = walk.pc;
		out->end = unwind_space_step(space, &mem_self, &walk);
	} while (out->end == UNWIND_MORE && out->count < DEPTH_MAX);
}

__attribute__((noinline)) static u32 deeper(struct unwind_space *space, u32 depth)
{
	struct walked ours = { 0 };
	void *theirs[DEPTH_MAX];

	if (depth) {
		u32 below = deeper(space, depth - 1);
		__asm__ volatile("" : "+r"(below)); /* or it becomes a loop */
		return below;
	}
	walk_here(space, &ours);
	u32 count = (u32)backtrace(theirs, DEPTH_MAX);
	assert_int_equal(ours.end, UNWIND_DONE);
	/* From the root on: ours has walk_here() in front, theirs may have a sanitizer's, and both another line of
	 * this function. */
	assert_true(ours.count > 23);
	for (u32 i = 1; i <= ours.count - 2; i++)
		assert_int_equal(ours.pc[ours.count - i], (u64)(uintptr_t)theirs[count - i]);
	return ours.count;
}

static void this_process_is_unwound_as_libgcc_does(void **state)
{
	struct unwind_files files = { 0 };
	struct unwind_space space;
	struct target target;
	struct err err = { 0 };

	(void)state;
	assert_true(target_open(&target, (u32)getpid(), &err));
	unwind_space_init(&space, &target, &files);
	assert_true(deeper(&space, 20) > 20);
	assert_true(unwind_space_rule(&space, 0).kind == UNWIND_NONE);
	unwind_space_free(&space);
	unwind_files_free(&files);
	target_close(&target);
}

/* Functions without rows, inside a file that has a table: two that keep frames, and two that keep none, of which one does something
 * else behind the call before it ends. */
__asm__(".pushsection .text, \"ax\", @progbits\n"
	".p2align 6\n.skip 64, 0x90\n"
	"framed:\n push %rbp\n mov %rsp, %rbp\n call framed_two\n pop %rbp\n ret\n"
	".skip 16, 0x90\n"
	"framed_two:\n push %rbp\n mov %rsp, %rbp\n call *%rdx\n pop %rbp\n ret\n"
	".skip 16, 0x90\n"
	"ending:\n sub $40, %rsp\n call *%rdx\n add $40, %rsp\n ret\n"
	".skip 16, 0x90\n"
	"frameless:\n sub $40, %rsp\n call *%rdx\n mov %edi, %edi\n add $40, %rsp\n ret\n"
	".skip 64, 0x90\n"
	"dying:\n.cfi_startproc\n sub $24, %rsp\n.cfi_adjust_cfa_offset 24\n call abort\n.cfi_endproc\n"
	"tiny:\n dec %rdi\n jnz tiny\n ret\n"
	"behind_tiny:\n.cfi_startproc\n ret\n.cfi_endproc\n"
	".skip 64, 0x90\n"
	".popsection\n");
extern const char tiny[] __attribute__((visibility("hidden")));
extern const char behind_tiny[] __attribute__((visibility("hidden")));
typedef void walk_fn(struct unwind_space *, struct walked *);
void framed(struct unwind_space *, struct walked *, walk_fn *)
	__attribute__((visibility("hidden")));
void ending(struct unwind_space *, struct walked *, walk_fn *)
	__attribute__((visibility("hidden")));
void frameless(struct unwind_space *, struct walked *, walk_fn *)
	__attribute__((visibility("hidden")));

__attribute__((noinline)) static void call_frameless(struct unwind_space *space, struct walked *out)
{
	frameless(space, out, walk_here);
	__asm__ volatile("" ::: "memory"); /* or it is a jump */
}

__attribute__((noinline)) static void call_ending(struct unwind_space *space, struct walked *out)
{
	ending(space, out, walk_here);
	__asm__ volatile("" ::: "memory");
}

static void code_without_rows_is_walked_by_its_frames_or_its_end_or_not_at_all(void **state)
{
	struct unwind_files files = { 0 };
	struct unwind_space space;
	struct target target;
	struct walked walked = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_true(target_open(&target, (u32)getpid(), &err));
	unwind_space_init(&space, &target, &files);
	framed(&space, &walked, walk_here);
	assert_int_equal(walked.end, UNWIND_DONE);
	assert_true(walked.count > 5);
	u64 first = (u64)(uintptr_t)framed;
	assert_true(walked.pc[1] > first + 16 && walked.pc[1] < first + 48); /* framed_two */
	assert_true(walked.pc[2] > first && walked.pc[2] < first + 16);
	call_ending(&space, &walked);
	assert_int_equal(walked.end, UNWIND_DONE);
	first = (u64)(uintptr_t)call_ending;
	assert_true(walked.pc[2] > first && walked.pc[2] < first + 64);
	/* its caller has a frame, and rbp leads past it */
	call_frameless(&space, &walked);
	assert_int_equal(walked.end, UNWIND_NO_RULE);
	assert_int_equal(walked.count, 2);
	unwind_space_free(&space);
	unwind_files_free(&files);
	target_close(&target);
}

static void a_short_function_without_rows_has_not_the_frame_of_the_one_before(void **state)
{
	struct unwind_files files = { 0 };
	struct unwind_space space;
	struct target target;
	struct err err = { 0 };
	u64 at = (u64)(uintptr_t)tiny, behind = (u64)(uintptr_t)behind_tiny;

	(void)state;
	assert_true(target_open(&target, (u32)getpid(), &err));
	unwind_space_init(&space, &target, &files);
	assert_int_equal(unwind_space_rule(&space, at - 1).offset, 32);
	assert_int_equal(unwind_space_rule(&space, at).kind, UNWIND_NONE);
	assert_int_equal(unwind_space_rule(&space, behind - 1).kind, UNWIND_NONE);
	assert_int_equal(unwind_space_rule(&space, behind).offset, UNWIND_ENTRY_CFA);
	unwind_space_free(&space);
	unwind_files_free(&files);
	target_close(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_of_a_program_is_good),
		cmocka_unit_test(nobody_calls_an_images_entry),
		cmocka_unit_test(a_damaged_table_is_refused),
		cmocka_unit_test(this_process_is_unwound_as_libgcc_does),
		cmocka_unit_test(a_short_function_without_rows_has_not_the_frame_of_the_one_before),
		cmocka_unit_test(
			code_without_rows_is_walked_by_its_frames_or_its_end_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
