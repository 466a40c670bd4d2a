/* SPDX-License-Identifier: Apache-2.0
 * tasks.h - the tasks of a process: which there are, and who waits for whom.
 *
 * A list of 10,000 takes longer than the time between two samples, so it is read a part at a time, and a
 * round through it ends when it ends.  Of tasks that wait for each other the innermost stands for all: the others
 * are its callers. */
#pragma once
#include "base/table.h"
#include "base/vec.h"
#include "engines/engine.h"
#include "mem/read_set.h"
#include "runtimes/runtime.h"

struct attached;
struct err;
struct reader_process;

struct reader_task {
	u64 task, thread;
	u64 sampled_ns;    /* 0: never */
	u32 listed;        /* in which round it was seen last */
	u32 waited_for_by; /* in which round it was seen to wait for another */
	struct read_set set;
};

struct reader_tasks {
	struct attached *attached; /* whose tasks; NULL: none found yet */
	u64 sought_ns;             /* since when; 0: not yet */
	u64 find_ns;               /* not before: looking for them costs */
	u64 images;                /* that were mapped then */
	u32 new_images;            /* so often they are new */
	struct task_cursor cursor;
	u32 round;
	VEC(struct reader_task *) all;
	struct table table; /* by address */
	u32 turn;           /* whose sample is next */
};

/* Is there a runtime whose tasks are known? One that has none yet may get one. Else false and err. */
bool tasks_can(const struct reader_process *process, enum engine_async async, struct err *err);
/* Asks for the runtime's tasks now and then until there are some. */
void tasks_find(struct reader_process *process, u64 now_ns);
/* Reads the next part of the list. False when out of memory. */
bool tasks_list(struct reader_process *process);
/* Does another task wait for what this one does? Then that one's stack has this one's. */
bool task_is_caller(const struct reader_tasks *tasks, const struct reader_task *task);
void tasks_clear(struct reader_tasks *tasks);
