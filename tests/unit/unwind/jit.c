/* SPDX-License-Identifier: Apache-2.0
 * jit.c - code that a program has made and told debuggers of: this program.
 *
 * Each object's code is a piece of a page of its own. */
#include "check.h"

#include "elf/loaded_object.h"
#include "target/target.h"
#include "unwind/jit.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64 };

struct entry {
	struct entry *next, *previous;
	struct loaded_object *object;
	u64 size;
};

/* The interface, in GDB's manual: "JIT Compilation Interface". */
struct {
	u32 version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor = { .version = 1 };

static struct loaded_object objects[PAGES];
static struct entry entries[PAGES];
static u8 *code;

struct fixture {
	struct unwind_files files;
	struct target target;
	struct unwind_space space;
};

static u64 code_of(u32 number)
{
	return (u64)(uintptr_t)code + number * (u64)PAGE + 0x100;
}

static void tell(u32 number)
{
	loaded_object_make(&objects[number], code_of(number), code_of(number) + 0x200);
	entries[number] = (struct entry){ .next = __jit_debug_descriptor.first,
					  .object = &objects[number],
					  .size = sizeof objects[number] };
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = &entries[number];
}

static const struct unwind_file *file_at(struct fixture *f, u32 number)
{
	const struct unwind_range *range = unwind_space_at(&f->space, code_of(number));

	assert_non_null(range);
	return range->file;
}

static int set_up(void **state)
{
	struct fixture *f = test_malloc(sizeof *f);

	*f = (struct fixture){ 0 };
	code = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(code != MAP_FAILED);
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = NULL;
	target_init(&f->target, 0);
	assert_true(target_open(&f->target, (u32)getpid(), NULL));
	unwind_space_init(&f->space, &f->target, &f->files);
	assert_true(unwind_space_fill(&f->space));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	unwind_space_free(&f->space);
	target_close(&f->target);
	unwind_files_free(&f->files);
	munmap(code, PAGES * PAGE);
	test_free(f);
	return 0;
}

static void what_is_told_is_found(void **state)
{
	struct fixture *f = *state;

	assert_true(unwind_jit_may_tell(&f->space));
	assert_false(unwind_jit_update(&f->space)); /* nothing yet */
	assert_true(unwind_jit_may_tell(&f->space));
	tell(0);
	assert_null(file_at(f, 0));
	assert_true(unwind_jit_update(&f->space));
	assert_non_null(file_at(f, 0));
	assert_int_equal(file_at(f, 0)->device, UNWIND_NO_DEVICE);
	assert_false(unwind_jit_update(&f->space)); /* nothing new */
	tell(1);
	assert_true(unwind_jit_update(&f->space));
	assert_non_null(file_at(f, 1));
	assert_ptr_not_equal(file_at(f, 0), file_at(f, 1));
	__jit_debug_descriptor.first = &entries[0];
	assert_true(unwind_jit_update(&f->space));
	assert_null(file_at(f, 1));
	assert_non_null(file_at(f, 0));
}

static void look_anew(struct fixture *f)
{
	unwind_space_clear(&f->space);
	assert_true(unwind_space_fill(&f->space));
	assert_true(unwind_jit_update(&f->space));
}

/* A forked child has what its parent has, at the same addresses. */
static void an_object_of_two_processes_is_one(void **state)
{
	struct fixture *f = *state;

	tell(0);
	look_anew(f);
	const struct unwind_file *of_parent = file_at(f, 0);
	look_anew(f);
	assert_ptr_equal(file_at(f, 0), of_parent);
	assert_int_equal(f->files.made, 1);
	objects[0].strings[1]++; /* its first function has another name */
	look_anew(f);
	assert_ptr_not_equal(file_at(f, 0), of_parent);
	assert_int_equal(f->files.made, 2);
}

/* Descriptors are what there may be too few of. */
static void there_is_an_end_to_objects(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 128;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (u32 i = 0; i < PAGES; i++)
		tell(i);
	assert_true(unwind_jit_update(&f->space));
	assert_int_equal(f->files.made, 128 / 4);
	assert_false(unwind_jit_may_tell(&f->space));
	look_anew(f); /* a child that is forked now has as many */
	assert_int_equal(f->files.made, 128 / 4);
	assert_non_null(file_at(f, PAGES - 1));
	assert_null(file_at(f, 0));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_is_told_is_found),
		TEST(an_object_of_two_processes_is_one),
		TEST(there_is_an_end_to_objects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
