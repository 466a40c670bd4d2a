/* SPDX-License-Identifier: Apache-2.0
 * kernel-elsewhere.c - where a name is read whose process does not have it: what was kept, and the parent while it is a copy. */
#include "engines/kernel/run.h"
#include "target/target.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { GRANDPARENT, PARENT, CHILD, PROCESSES };
enum { THREAD = 0x5000, CODE = 0x7000 };

struct world {
	struct run *run;
	struct unwind_files files;
	struct target targets[PROCESSES];
	struct watched *all[PROCESSES];
	struct attached attached;
	struct kernel_vm vms[KERNEL_VMS];
};

/* Each process's memory says its collections wherever it is asked. */
static u64 generations[PROCESSES];

static bool memory_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct target *target = (const struct target *)((const char *)mem -
							      offsetof(struct target, mem.mem));

	(void)addr, (void)hold;
	assert_int_equal(len, 8);
	memcpy(dst, &generations[target->pid - 1], 8);
	return true;
}

static enum step begin(const struct mem *mem, const void *state, u64 thread, struct walk *walk)
{
	(void)state;
	assert_int_equal(thread, THREAD);
	assert_true(mem_u64(mem, thread, &walk->generation));
	return STEP_MORE;
}

static const struct runtime fake = { .name = "fake", .begin = begin };

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof *w);

	w->run = calloc(1, sizeof *w->run);
	w->run->kept_names = kept_names_new();
	w->attached.runtime = &fake;
	for (u32 i = 0; i < PROCESSES; i++) {
		w->targets[i] = (struct target){ .pid = i + 1, .proc_fd = -1 };
		w->targets[i].mem.mem.read = memory_read;
		struct watched *process = watched_new(i + 1, &w->targets[i], 100 + i, &w->files);
		assert_non_null(process);
		process->parent = i;
		process->forked_from = i ? 100 + i - 1 : 0;
		process->vms[0].number = 1;
		process->vms[0].machine.attached = &w->attached;
		process->vms[0].forked_generation = 40;
		assert_true(run_add(w->run, process));
		w->all[i] = process;
		generations[i] = 40;
	}
	w->vms[0] = (struct kernel_vm){ .thread = THREAD, .generation = 40 };
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	for (u32 i = 0; i < PROCESSES; i++)
		watched_free(w->all[i]);
	vec_free(&w->run->processes);
	kept_names_free(w->run->kept_names);
	free(w->run);
	free(w);
	return 0;
}

static const struct mem *elsewhere(struct world *w, u32 number)
{
	struct frame frame = { .id = CODE, .owner = 7 };

	return run_elsewhere(w->run, w->all[CHILD], w->vms, &frame, number);
}

static const struct mem *memory_of(struct world *w, u32 process)
{
	return &w->targets[process].mem.mem;
}

static void the_parent_then_its_parent(void **state)
{
	struct world *w = *state;

	assert_ptr_equal(elsewhere(w, 0), memory_of(w, PARENT));
	assert_ptr_equal(elsewhere(w, 1), memory_of(w, GRANDPARENT));
	assert_null(elsewhere(w, 2));
}

static void what_was_kept_comes_first(void **state)
{
	static struct kernel_named named = { .id = CODE, .owner = 7 };
	struct world *w = *state;

	kept_names_add(w->run->kept_names, w->all[PARENT]->incarnation, &named, sizeof named);
	assert_ptr_equal(elsewhere(w, 0), memory_of(w, PARENT));
	assert_ptr_not_equal(elsewhere(w, 1), memory_of(w, GRANDPARENT)); /* kept of the parent */
	assert_ptr_equal(elsewhere(w, 2), memory_of(w, GRANDPARENT));
	kept_names_add(w->run->kept_names, w->all[CHILD]->incarnation, &named, sizeof named);
	assert_ptr_equal(elsewhere(w, 1), memory_of(w, PARENT));
}

static void a_parent_that_has_collected_says_nothing(void **state)
{
	struct world *w = *state;

	generations[PARENT] = 44;
	assert_ptr_equal(elsewhere(w, 0), memory_of(w, GRANDPARENT));
	assert_null(elsewhere(w, 1));
}

/* Both have collected since, once each: of two histories. */
static void counts_that_agree_again_say_nothing(void **state)
{
	struct world *w = *state;

	w->vms[0].generation = generations[PARENT] = generations[GRANDPARENT] = 44;
	assert_null(elsewhere(w, 0));
}

/* Frames that tell by themselves what they are of need no count. */
static void one_generation_for_good(void **state)
{
	struct world *w = *state;

	w->vms[0].generation = generations[PARENT] = generations[GRANDPARENT] = 1;
	w->all[CHILD]->vms[0].forked_generation = 0; /* there was no sample before the fork */
	assert_ptr_equal(elsewhere(w, 0), memory_of(w, PARENT));
}

static void another_image_is_no_parent(void **state)
{
	struct world *w = *state;

	w->all[PARENT]->incarnation = 200; /* it has exec'd since */
	assert_null(elsewhere(w, 0));
	w->all[PARENT]->incarnation = 101;
	w->all[CHILD]->forked_from = 0; /* the child has */
	assert_null(elsewhere(w, 0));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_parent_then_its_parent),
		TEST(what_was_kept_comes_first),
		TEST(a_parent_that_has_collected_says_nothing),
		TEST(counts_that_agree_again_say_nothing),
		TEST(one_generation_for_good),
		TEST(another_image_is_no_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
