/* SPDX-License-Identifier: Apache-2.0
 * process.c - our own process, with a VM whose list of threads changes as it is read. */
#include "engines/reader/process.h"
#include "runtimes/runtime.h"

#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { VM_THREAD = 0x1000, TORN_MOST = 4 };

static enum step list_begins_with; /* STEP_MORE: our thread, and then it ends */

static enum step next_thread(const struct mem *mem, const void *state, u64 *where,
			     struct vm_thread *out)
{
	(void)mem, (void)state;
	if (list_begins_with != STEP_MORE)
		return list_begins_with;
	if (*where)
		return STEP_DONE;
	*where = 1;
	*out = (struct vm_thread){ .thread = VM_THREAD, .tid = (u32)getpid() };
	return STEP_MORE;
}

static bool name_frame(const struct mem *mem, const void *state, const struct frame *frame,
		       struct frame_name *out)
{
	(void)mem, (void)state, (void)frame, (void)out;
	return false;
}

static const struct runtime toy = { .name = "toy",
				    .next_thread = next_thread,
				    .name_frame = name_frame };

struct world {
	struct target target;
	struct reader_process *process;
};

static const struct reader_thread *refresh(struct world *w, enum step list)
{
	const struct engine_options options = { 0 };
	struct err err = { 0 };

	list_begins_with = list;
	assert_true(process_refresh(w->process, &options, &err));
	assert_int_equal(w->process->threads.count, 1);
	return w->process->threads.at[0];
}

static void begin(struct world *w)
{
	struct err err = { 0 };
	struct attached *attached = calloc(1, sizeof *attached);

	*w = (struct world){ 0 };
	assert_true(target_open(&w->target, (u32)getpid(), &err));
	w->process = process_new(&w->target, 1);
	assert_non_null(w->process);
	assert_non_null(attached);
	attached->runtime = &toy;
	assert_true(vec_push(&w->process->attached, attached));
}

static void end(struct world *w)
{
	process_free(w->process);
	target_close(&w->target);
}

static void a_torn_list_takes_no_thread_away(void **state)
{
	struct world w;
	(void)state;

	begin(&w);
	u32 life = refresh(&w, STEP_MORE)->life;
	for (u32 i = 0; i < TORN_MOST; i++) {
		assert_int_equal(refresh(&w, STEP_FAULT)->thread, VM_THREAD);
		assert_true(w.process->threads_changed); /* it is asked for again */
	}
	assert_int_equal(refresh(&w, STEP_MORE)->thread, VM_THREAD);
	assert_int_equal(w.process->threads.at[0]->life, life);
	assert_false(w.process->threads_changed);
	end(&w);
}

static void a_list_that_is_torn_for_good_is_none(void **state)
{
	struct world w;
	(void)state;

	begin(&w);
	refresh(&w, STEP_MORE);
	for (u32 i = 0; i < TORN_MOST; i++)
		refresh(&w, STEP_FAULT);
	assert_int_equal(refresh(&w, STEP_FAULT)->thread, 0);
	assert_false(w.process->threads_changed);
	end(&w);
}

static void a_list_without_it_takes_it_away(void **state)
{
	struct world w;
	(void)state;

	begin(&w);
	refresh(&w, STEP_MORE);
	assert_int_equal(refresh(&w, STEP_DONE)->thread, 0);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_torn_list_takes_no_thread_away),
		cmocka_unit_test(a_list_that_is_torn_for_good_is_none),
		cmocka_unit_test(a_list_without_it_takes_it_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
