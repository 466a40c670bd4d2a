/* SPDX-License-Identifier: Apache-2.0
 * find_tasks.c - two ways to asyncio's tasks.
 *
 *	3.14 on   the section .AsyncioDebug, of _asyncio.so or of an interpreter that has it built in: thirteen
 *	          numbers (struct _Py_AsyncioModuleDebugOffsets)
 *	to 3.13   sys.modules -> asyncio.tasks -> _scheduled_tasks (3.12 on) or _all_tasks: a WeakSet -> its set, of the
 *	          first interpreter that has tasks: the one that the process began with is asked first.
 *	          What a task looks like is learned from one: a coroutine is in it, its name behind that
 *
 * Both stay where they are as long as the process lives. */
#include "runtimes/python/find_tasks.h"

#include "elf/image.h"
#include "runtimes/python/attributes.h"
#include "runtimes/python/containers.h"
#include "runtimes/python/interpreters.h"
#include "runtimes/python/modules.h"
#include "runtimes/python/step.h"
#include "runtimes/python/types.h"
#include "target/target.h"

#include <string.h>

enum {
	SECTION_WORDS = 13,
	NUMBER_MOST = 1 << 20,
	MEMBERS = 16,
	TASK_WORDS = 40,
	NAMES_MINOR = 8, /* tasks have names from 3.8 on */
};

/* ---- 3.14 on ------------------------------------------------------------------------------- */

/* In the order of the section. */
enum {
	TASK_SIZE,
	TASK_NAME,
	TASK_WAITER,
	TASK_IS_TASK,
	TASK_IS_SET,
	TASK_CORO,
	TASK_NODE,
	INTERP_SIZE,
	INTERP_LIST,
	THREAD_SIZE,
	THREAD_LOOP,
	THREAD_TASK,
	THREAD_LIST,
};

static bool read_section(const struct target *target, u64 addr, struct python_tasks *tasks)
{
	u64 words[SECTION_WORDS];

	if (!mem_peek(&target->mem.mem, addr, words, sizeof words))
		return false;
	for (u32 i = 0; i < SECTION_WORDS; i++)
		if (!words[i] || words[i] > NUMBER_MOST)
			return false;
	*tasks = (struct python_tasks){
		.coro = (u32)words[TASK_CORO],
		.name = (u32)words[TASK_NAME],
		.waiter = (u32)words[TASK_WAITER],
		.is_set = (u32)words[TASK_IS_SET],
		.is_task = (u32)words[TASK_IS_TASK],
		.node = (u32)words[TASK_NODE],
		.thread_running = (u32)words[THREAD_TASK],
		.thread_list = (u32)words[THREAD_LIST],
		.interp_list = (u32)words[INTERP_LIST],
	};
	return true;
}

static bool find_section(const struct target *target, struct python_tasks *tasks)
{
	bool found = false;

	for (u32 i = 0; i < target->maps.all.count && !found; i++) {
		const struct mapping *mapping = &target->maps.all.at[i];
		struct image_section section;
		u64 bias;
		if (!mapping->executable || !mapping->inode)
			continue;
		struct image *image = target_open_image(target, mapping, NULL);
		if (!image)
			continue;
		found = image_section_named(image, ".AsyncioDebug", &section) && section.address &&
			target_load_bias(target, mapping, image, &bias) &&
			read_section(target, bias + section.address, tasks);
		image_close(image);
	}
	return found;
}

/* ---- to 3.13 ------------------------------------------------------------------------------- */

struct place {
	const struct mem *mem;
	const struct python_state *state;
};

static bool is_a(const struct place *place, u64 object, const char *type)
{
	return python_is_of_type(place->mem, place->state, object, type);
}

static bool set_of(const struct place *place, u64 weakset, u64 *set)
{
	return python_find_attribute(place->mem, place->state, weakset, "data", set) &&
	       is_a(place, *set, "set");
}

/* Where a task keeps its coroutine, learned from tasks that have one. */
static bool learn_task(const struct place *place, u64 set, struct python_tasks *tasks)
{
	u64 members[MEMBERS], words[TASK_WORDS], task;
	u32 head = place->state->at.bytes_length, slot = 0;
	u32 count = python_set_members(place->mem, place->state, set, &slot, members, MEMBERS);

	for (u32 i = 0; i < count; i++) {
		if (!is_a(place, members[i], "weakref") &&
		    !is_a(place, members[i], "weakref.ReferenceType"))
			continue;
		if (!mem_peek(place->mem, members[i] + head, &task, 8) ||
		    !python_address_ok(task) || !mem_peek(place->mem, task, words, sizeof words))
			continue;
		for (u32 w = head / 8; w + 1 < TASK_WORDS; w++) {
			if (!python_generator_of(place->mem, place->state, words[w]))
				continue;
			bool has_name = python_minor(place->state) >= NAMES_MINOR;
			tasks->coro = 8 * w;
			tasks->name = has_name ? 8 * w + 8 : 0;
			return true;
		}
	}
	return false;
}

static bool find_set_in(const struct place *place, u64 interp, struct python_tasks *tasks)
{
	u64 module, weakset, set, current;

	if (!python_find_module(place->mem, place->state, interp, "asyncio.tasks", &module) ||
	    (!python_find_item(place->mem, place->state, module, "_scheduled_tasks", &weakset) &&
	     !python_find_item(place->mem, place->state, module, "_all_tasks", &weakset)) ||
	    !set_of(place, weakset, &set) || !learn_task(place, set, tasks))
		return false;
	tasks->set = set;
	if (python_find_item(place->mem, place->state, module, "_current_tasks", &current) &&
	    is_a(place, current, "dict"))
		tasks->current = current;
	return true;
}

static bool find_set(const struct place *place, struct python_tasks *tasks)
{
	u64 first, interp = 0;

	if (!python_first_interp(place->mem, place->state, &first))
		return false;
	if (find_set_in(place, first, tasks))
		return true;
	for (u32 i = 0; i < PYTHON_INTERPRETERS_MAX; i++) {
		if (!python_next_interp(place->mem, place->state, &interp) || interp == first)
			return false;
		if (find_set_in(place, interp, tasks))
			return true;
	}
	return false;
}

bool python_find_tasks(const struct target *target, void *state_, bool new_images)
{
	struct python_state *state = state_;
	struct python_tasks tasks = { 0 };
	struct place place = { &target->mem.mem, state };

	if (state->tasks.coro)
		return true;
	if (!state->at.gen_frame)
		return false;
	if (!(state->facts & PYTHON_CODE_IS_TAGGED ? new_images && find_section(target, &tasks) :
						     find_set(&place, &tasks)))
		return false;
	state->tasks = tasks;
	return true;
}
