/* SPDX-License-Identifier: Apache-2.0
 * waiters.c - up the chain of those that wait.
 *
 * From 3.14 on a future says who awaits it.  Before, one of its callbacks is for whom it wakes: the first, if nobody else
 * has asked to be told (Modules/_asynciomodule.c, Lib/asyncio):
 *
 *	await              the task's wakeup, an object or a builtin method that has the task
 *	gather, shield     a closure, one of whose cells is the outer future
 *	TaskGroup          a method of the group, one of whose attributes is the parent task
 */
#include "runtimes/python/waiters.h"

#include "runtimes/python/attributes.h"
#include "runtimes/python/containers.h"
#include "runtimes/python/step.h"
#include "runtimes/python/types.h"
#include "runtimes/python/values.h"

#include <string.h>

enum {
	WAITERS_MAX = 64,  /* tasks and futures, one awaiting the next */
	WAITERS_SHOWN = 1, /* of those that await one: a stack has one caller */
	CALLBACK = 8,      /* the first: behind the head of a future, and its loop */
	CALLBACKS = 24, /* the others, behind the context of the first: a list of pairs, or None */
	CALLBACKS_MAX = 16,
	METHOD_SELF = 8, /* behind the head of a method, bound or builtin */
	FUNCTION_WORDS = 16,
	CELLS_MAX = 16,
};

struct place {
	const struct mem *mem;
	const struct python_state *state;
};

static bool word_behind_head(const struct place *place, u64 object, u32 offset, u64 *out)
{
	return mem_read(place->mem, object + place->state->at.bytes_length + offset, out, 8) &&
	       python_address_ok(*out);
}

static bool is_future(const struct place *place, u64 object)
{
	char name[PYTHON_TYPE_NAME_MAX];

	return python_type_name(place->mem, place->state, object, name) &&
	       (!strcmp(name, "_asyncio.Future") || !strcmp(name, "_GatheringFuture"));
}

bool python_is_task(const struct mem *mem, const struct python_state *state, u64 object)
{
	struct place place = { mem, state };
	u64 coro;
	u8 says;

	if (!python_address_ok(object))
		return false;
	if (state->tasks.is_task)
		return mem_read(mem, object + state->tasks.is_task, &says, 1) && says;
	return !is_future(&place, object) && mem_read(mem, object + state->tasks.coro, &coro, 8) &&
	       python_address_ok(coro) && python_generator_of(mem, state, coro) != 0;
}

/* ---- 3.14 on ------------------------------------------------------------------------------- */

static u64 awaited_by(const struct place *place, u64 future)
{
	const struct python_tasks *tasks = &place->state->tasks;
	u64 waiter, members[WAITERS_SHOWN];
	u32 slot = 0;
	u8 is_set;

	if (!mem_read(place->mem, future + tasks->waiter, &waiter, 8) || !waiter ||
	    !mem_read(place->mem, future + tasks->is_set, &is_set, 1))
		return 0;
	if (is_set &&
	    !python_set_members(place->mem, place->state, waiter, &slot, members, WAITERS_SHOWN))
		return 0;
	return is_set ? members[0] : waiter;
}

/* ---- to 3.13 ------------------------------------------------------------------------------- */

/* The future in a closure's cells that is not the one that is awaited. */
static u64 future_in_cells(const struct place *place, u64 tuple, u64 but)
{
	u64 items, count, cell;

	if (!python_read_tuple(place->mem, place->state, tuple, &items, &count) ||
	    count > CELLS_MAX)
		return 0;
	for (u64 i = 0; i < count; i++) {
		if (!mem_read(place->mem, items + 8 * i, &cell, 8))
			return 0;
		u64 content = python_cell_content(place->mem, place->state, cell);
		if (content != cell && content != but && is_future(place, content))
			return content;
	}
	return 0;
}

static u64 future_in_closure(const struct place *place, u64 function, u64 but)
{
	u64 word, found = 0;

	for (u32 i = 0; i < FUNCTION_WORDS && !found; i++)
		if (word_behind_head(place, function, 8 * i, &word) &&
		    python_is_of_type(place->mem, place->state, word, "tuple"))
			found = future_in_cells(place, word, but);
	return found;
}

static u64 parent_of_group(const struct place *place, u64 group)
{
	u64 task;

	return python_find_attribute(place->mem, place->state, group, "_parent_task", &task) &&
			       python_is_task(place->mem, place->state, task) ?
		       task :
		       0;
}

/* Whom the callback wakes; 0: nobody that is known. */
static u64 woken_by_callback(const struct place *place, u64 callback, u64 future)
{
	char name[PYTHON_TYPE_NAME_MAX];
	u64 self;

	if (!python_type_name(place->mem, place->state, callback, name))
		return 0;
	if (!strcmp(name, "function"))
		return future_in_closure(place, callback, future);
	if (!strcmp(name, "TaskWakeupMethWrapper"))
		return word_behind_head(place, callback, 0, &self) ? self : 0;
	if (!word_behind_head(place, callback, METHOD_SELF, &self))
		return 0;
	if (!strcmp(name, "builtin_function_or_method"))
		return self;
	return strcmp(name, "method") ? 0 : parent_of_group(place, self);
}

/* Is it a task or a future: is there any sense in going on from here? */
static bool can_wait(const struct place *place, u64 object)
{
	return is_future(place, object) || python_is_task(place->mem, place->state, object);
}

static u64 woken_by_another(const struct place *place, u64 future)
{
	u64 list, count, items, pair, callback, size;

	if (!word_behind_head(place, future, CALLBACKS, &list) ||
	    !python_is_of_type(place->mem, place->state, list, "list") ||
	    !mem_read(place->mem, list + place->state->at.bytes_length, &count, 8) ||
	    !word_behind_head(place, list, 8, &items))
		return 0;
	for (u64 i = 0; i < count && i < CALLBACKS_MAX; i++) {
		if (!mem_read(place->mem, items + 8 * i, &pair, 8) ||
		    !python_read_tuple(place->mem, place->state, pair, &pair, &size) || !size ||
		    !mem_read(place->mem, pair, &callback, 8))
			return 0;
		u64 woken = woken_by_callback(place, callback, future);
		if (woken && can_wait(place, woken))
			return woken;
	}
	return 0;
}

static u64 woken_by(const struct place *place, u64 future)
{
	u64 callback, woken = 0;

	if (word_behind_head(place, future, CALLBACK, &callback))
		woken = woken_by_callback(place, callback, future);
	/* a method of anything: of the set, say, that keeps a task until it is done */
	return woken && can_wait(place, woken) ? woken : woken_by_another(place, future);
}

/* ---- both ---------------------------------------------------------------------------------- */

u64 python_waiting_task(const struct mem *mem, const struct python_state *state, u64 future)
{
	struct place place = { mem, state };

	for (u32 i = 0; i < WAITERS_MAX; i++) {
		future = (state->tasks.waiter ? awaited_by : woken_by)(&place, future);
		if (!python_address_ok(future))
			return 0;
		if (python_is_task(mem, state, future))
			return future;
	}
	return 0;
}
