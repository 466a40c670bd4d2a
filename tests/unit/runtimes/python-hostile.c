/* SPDX-License-Identifier: Apache-2.0
 * python-hostile.c - every version's walker, names, variables and values over memory that means nothing.
 *
 * Each word is what a hash of its address and a seed says: an address, a small number, nothing, or noise.  Whatever
 * is asked of it comes to an end, without a read of ours out of bounds, and says no or something harmless. */
#include "check.h"

#include <string.h>

#include "runtimes/python/attributes.h"
#include "runtimes/python/locals.h"
#include "runtimes/python/names.h"
#include "runtimes/python/offsets.h"
#include "runtimes/python/step.h"
#include "runtimes/python/tasks.h"
#include "runtimes/python/threads.h"
#include "runtimes/python/values.h"
#include "runtimes/python/versions.h"

enum { SEEDS = 60, STEPS = 64, THREADS = 64 };

struct noise {
	struct mem mem;
	u64 seed, reads, fails_every;
};

static u64 word_at(const struct noise *noise, u64 addr)
{
	/* splitmix64 */
	u64 hash = addr * 0x9e3779b97f4a7c15ull + noise->seed * 0xd1b54a32d192ed03ull;
	hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ull;
	hash = (hash ^ hash >> 27) * 0x94d049bb133111ebull;
	hash ^= hash >> 31;

	switch (hash & 7) {
	case 0:
	case 1:
	case 2:
		return (hash >> 8 & 0xffffff8) + 4096;
	case 3:
		return 0;
	case 4:
	case 5:
		return hash >> 8 & 0x3f;
	case 6:
		return 0x7f0000000000 + (hash >> 16 & 0xfffff8);
	default:
		return hash;
	}
}

static bool noise_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	struct noise *noise = (struct noise *)mem;
	u8 *out = dst;

	(void)hold;
	if (++noise->reads % noise->fails_every == 0)
		return false;
	for (u32 i = 0; i < len;) {
		u32 inside = (u32)(addr + i) & 7,
		    part = 8 - inside < len - i ? 8 - inside : len - i;
		u64 word = word_at(noise, (addr + i) & ~7ull) >> inside * 8;
		memcpy(out + i, &word, part);
		i += part;
	}
	return true;
}

static bool count_frame(void *count, const struct frame *frame)
{
	assert_true(frame->id || frame->pos == FRAME_POS_TASK);
	return ++*(u32 *)count < 100000;
}

/* As if a process had said where its tasks are: lists of nodes, and a set. */
static void ask_for_tasks(struct noise *noise, struct python_state python)
{
	const struct runtime_tasks *tasks = &python_runtime_tasks;
	struct frame_name name = { 0 };

	for (u32 way = 0; way < 2; way++) {
		struct task_cursor cursor = { 0 };
		struct running_task running[8];
		struct vm_task listed[64];
		u32 frames = 0;
		python.tasks = (struct python_tasks){
			.coro = 112, .name = 120, .set = 0x9000, .current = 0xa000
		};
		if (way)
			python.tasks = (struct python_tasks){ .coro = 112,
							      .name = 120,
							      .waiter = 128,
							      .is_set = 137,
							      .is_task = 136,
							      .node = 144,
							      .thread_running = 872,
							      .thread_list = 880,
							      .interp_list = 10880 };
		for (u32 i = 0; i < 8 && !cursor.done; i++) {
			u32 count = tasks->list(&noise->mem, &python, &cursor, listed,
						COUNT_OF(listed));
			assert_true(count <= COUNT_OF(listed));
			for (u32 k = 0; k < count; k++)
				(void)tasks->walk(&noise->mem, &python, listed[k].task, false,
						  count_frame, &frames);
		}
		assert_true(tasks->running(&noise->mem, &python, 0x3000, running, 8) <= 8);
		for (u64 task = 0x10000; task < 0x10400; task += 64) {
			struct frame frame = { .id = task, .pos = FRAME_POS_TASK };
			(void)tasks->walk(&noise->mem, &python, task, task & 64, count_frame,
					  &frames);
			str_clear(&name.label);
			(void)python_name_task(&noise->mem, &python, &frame, &name);
		}
	}
	str_free(&name.label);
}

static void ask_for_names_of_threads(struct noise *noise, struct python_state python)
{
	struct frame_name name = { 0 };
	u64 value;

	python.active = 0;
	(void)python_find_threads(&noise->mem, &python);
	python.active = 0x9000;
	for (u64 thread = 0x10000; thread < 0x10800; thread += 64) {
		str_clear(&name.label);
		python_name_thread(&noise->mem, &python, thread, &name);
		(void)python_find_attribute(&noise->mem, &python, thread, "_name", &value);
	}
	str_free(&name.label);
}

static void ask_everything(struct noise *noise, const struct python_state *state)
{
	const struct mem *mem = &noise->mem;
	struct frame_name name = { 0 };
	struct str text = { 0 };
	struct vm_thread thread;
	u64 where = 0;

	for (u32 t = 0; t < THREADS; t++) {
		struct walk walk;
		if (python_next_thread(mem, state, &where, &thread) != STEP_MORE)
			thread.thread = 0x10000 + t * 64;
		(void)python_raises(mem, state, thread.thread);
		enum step step = python_begin(mem, state, thread.thread, &walk);
		for (u32 n = 0; step_goes_on(step) && n < STEPS; n++) {
			struct frame frame = { 0 };
			step = python_step(mem, state, &walk, &frame);
			if (step != STEP_MORE)
				continue;
			str_clear(&text);
			str_clear(&name.label);
			str_clear(&name.path);
			(void)python_add_locals(mem, state, &frame, &text);
			assert_false(text.bad);
			if (n < 2 && t < 2)
				(void)python_name_frame(mem, state, &frame, &name);
		}
	}
	str_free(&text);
	str_free(&name.label);
	str_free(&name.path);
}

static void nothing_is_believed(void **state)
{
	static const u32 versions[] = { 0x02071200, 0x03060f00, 0x03071000, 0x03081200,
					0x03091200, 0x030a0d00, 0x030b0700, 0x030c0100 };

	(void)state;
	for (u32 v = 0; v < COUNT_OF(versions); v++)
		for (u64 seed = 1; seed <= SEEDS; seed++) {
			struct noise noise = { .mem = { .read = noise_read },
					       .seed = seed,
					       .fails_every = seed % 3 ? 1000000 : 50 };
			struct python_state python = { .version = versions[v] | 0xf0,
						       .none = 0x5000 };
			assert_true(python_versions_find(&python));
			python.interpreters = 0x2000 + seed * 8;
			ask_everything(&noise, &python);
			ask_for_tasks(&noise, python);
			ask_for_names_of_threads(&noise, python);
		}
}

/* Newer ones: the frames and tags of 3.13 to 3.15, with a GIL and without, at numbers of 3.12. */
static void nothing_is_believed_of_newer_ones(void **state)
{
	(void)state;
	for (u32 minor = 13; minor <= 15; minor++)
		for (u64 seed = 1; seed <= SEEDS; seed++) {
			struct noise noise = { .mem = { .read = noise_read },
					       .seed = seed,
					       .fails_every = seed % 3 ? 1000000 : 50 };
			struct python_state python = { .version = 0x030c01f0, .none = 0x5000 };
			assert_true(python_versions_find(&python));
			python.version = 0x030000f0 | minor << 16;
			python_versions_facts(&python, seed & 1);
			python.at.frame_locals = 80;
			python.at.frame_tlbc = seed & 1 ? 72 : 0;
			python.at.code_tlbc = seed & 1 ? 224 : 0;
			python.at.thread_base = minor == 15 ? 80 : 0;
			python.interpreters = 0x2000 + seed * 8;
			ask_everything(&noise, &python);
			ask_for_tasks(&noise, python);
			ask_for_names_of_threads(&noise, python);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_believed),
		cmocka_unit_test(nothing_is_believed_of_newer_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
