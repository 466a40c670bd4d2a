/* SPDX-License-Identifier: Apache-2.0
 * tasks.c - see tasks.h. */
#include "engines/reader/tasks.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "engines/reader/process.h"

#include <stdlib.h>

enum { LISTED_AT_ONCE = 256 };

/* Often at first: each wait is an eighth of the time so far. */
static const u64 FIND_LEAST_NS = 5 * NS_PER_MS, FIND_MOST_NS = 500 * NS_PER_MS;
enum { FIND_PART = 8 };

static bool has_tasks(const struct runtime *runtime)
{
	return runtime->tasks;
}

bool tasks_can(const struct reader_process *process, enum engine_async async, struct err *err)
{
	return async == ASYNC_OFF || process_can(process, has_tasks, "--async", "tasks are", err);
}

void tasks_find(struct reader_process *process, u64 now_ns)
{
	struct reader_tasks *tasks = &process->tasks;

	if (tasks->attached || now_ns < tasks->find_ns)
		return;
	tasks->sought_ns = tasks->sought_ns ? tasks->sought_ns : now_ns;
	tasks->find_ns = now_ns + backoff_part_ns(tasks->sought_ns, now_ns, FIND_PART,
						  FIND_LEAST_NS, FIND_MOST_NS);
	if (!target_read_maps(process->target, NULL))
		return;
	u64 images = target_images(process->target);
	/* twice: a library is mapped to be run before its data is there */
	if (tasks->images != images)
		tasks->new_images = 2;
	tasks->images = images;
	for (u32 i = 0; i < process->attached.count && !tasks->attached; i++) {
		struct attached *attached = process->attached.at[i];
		if (attached->runtime->tasks &&
		    attached->runtime->tasks->find(process->target, attached->state,
						   tasks->new_images))
			tasks->attached = attached;
	}
	tasks->new_images -= tasks->new_images > 0;
}

static u64 hash_of(u64 task)
{
	return table_hash(&task, sizeof task);
}

static bool same_task(const void *owner, u32 item, const void *key)
{
	const struct reader_tasks *tasks = owner;

	return tasks->all.at[item]->task == *(const u64 *)key;
}

static struct reader_task *find_task(const struct reader_tasks *tasks, u64 task)
{
	u32 item = table_find(&tasks->table, hash_of(task), same_task, tasks, &task);

	return item == TABLE_NONE ? NULL : tasks->all.at[item];
}

static struct reader_task *add_task(struct reader_tasks *tasks, u64 address)
{
	struct reader_task *task = calloc(1, sizeof *task);

	if (!task || !vec_push(&tasks->all, task)) {
		free(task);
		return NULL;
	}
	task->task = address;
	if (!table_add(&tasks->table, hash_of(address), tasks->all.count - 1)) {
		tasks->all.count--;
		free(task);
		return NULL;
	}
	return task;
}

static void task_free(struct reader_task *task)
{
	read_set_free(&task->set);
	free(task);
}

/* What was not seen in this round has ended. */
static bool end_round(struct reader_tasks *tasks)
{
	bool good = true;
	u32 kept = 0;

	table_clear(&tasks->table);
	for (u32 i = 0; i < tasks->all.count; i++) {
		struct reader_task *task = tasks->all.at[i];
		bool stays = task->listed == tasks->round && good;
		if (stays) {
			tasks->all.at[kept] = task;
			good = table_add(&tasks->table, hash_of(task->task), kept);
			kept++;
		} else {
			task_free(task);
		}
	}
	tasks->all.count = kept;
	tasks->cursor = (struct task_cursor){ 0 };
	tasks->round++;
	return good;
}

static void note_waiter(struct reader_tasks *tasks, u64 waiter)
{
	struct reader_task *task = waiter ? find_task(tasks, waiter) : NULL;

	if (task)
		task->waited_for_by = tasks->round;
}

bool tasks_list(struct reader_process *process)
{
	struct reader_tasks *tasks = &process->tasks;
	struct vm_task listed[LISTED_AT_ONCE];

	if (!tasks->attached)
		return true;
	if (!tasks->round)
		tasks->round = 1;
	u32 count = tasks->attached->runtime->tasks->list(&process->target->mem.mem,
							  tasks->attached->state, &tasks->cursor,
							  listed, LISTED_AT_ONCE);
	for (u32 i = 0; i < count; i++) {
		struct reader_task *task = find_task(tasks, listed[i].task);
		if (!task)
			task = add_task(tasks, listed[i].task);
		if (!task)
			return false;
		task->listed = tasks->round;
		task->thread = listed[i].thread;
		note_waiter(tasks, listed[i].waiter);
	}
	return !tasks->cursor.done || end_round(tasks);
}

bool task_is_caller(const struct reader_tasks *tasks, const struct reader_task *task)
{
	return task->waited_for_by && task->waited_for_by + 1 >= tasks->round;
}

void tasks_clear(struct reader_tasks *tasks)
{
	for (u32 i = 0; i < tasks->all.count; i++)
		task_free(tasks->all.at[i]);
	vec_free(&tasks->all);
	table_free(&tasks->table);
	*tasks = (struct reader_tasks){ 0 };
}
