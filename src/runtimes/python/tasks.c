/* SPDX-License-Identifier: Apache-2.0
 * tasks.c - a task, and the coroutines that wait in it.
 *
 *	task -> coroutine -> its frame -> on top of its stack, what it awaits: a coroutine -> its frame -> ...
 *	  |
 *	  who waits for it (waiters.c) -> a task -> ...
 *
 * Where tasks are listed is found by find_tasks.c.  The outermost coroutine is met first, and a stack begins
 * with the innermost: so what a task awaits is collected, and given out backwards.  Of very many the innermost are kept. */
#include "runtimes/python/tasks.h"

#include "base/vec.h"
#include "runtimes/python/containers.h"
#include "runtimes/python/find_tasks.h"
#include "runtimes/python/loops.h"
#include "runtimes/python/step.h"
#include "runtimes/python/strings.h"
#include "runtimes/python/types.h"
#include "runtimes/python/values.h"
#include "runtimes/python/waiters.h"

enum {
	COROUTINES_MAX = 1 << 16, /* of one task, one awaiting the next */
	COROUTINES_KEPT = 1 << 12,
	WAITERS_MAX = 64, /* tasks, one awaiting the next */
	STACK_TOPS = 2,   /* 3.15 has an index above what is awaited */
	SET_CHUNK = 8,
	LOOPS_MAX = 64, /* that run at a time */
	NAME_BYTES = 64,
	TOP_IS_COUNT_FIRST = 11, /* minor versions whose frames count the values on their stack */
	TOP_IS_COUNT_LAST = 13,
};

/* ---- lists --------------------------------------------------------------------------------- */

static bool begin_list(const struct mem *mem, const struct python_state *state,
		       struct task_cursor *cursor)
{
	struct vm_thread vm;
	u64 interp = 0;

	if (!cursor->threads_done) {
		if (python_next_thread(mem, state, &cursor->where, &vm) == STEP_MORE) {
			cursor->thread = vm.thread;
			cursor->head = vm.thread + state->tasks.thread_list;
			cursor->node = cursor->head;
			return true;
		}
		cursor->threads_done = true;
		cursor->where = cursor->thread = 0;
	}
	/* What threads that have ended left behind hangs on the interpreter. */
	bool more = cursor->where ?
			    mem_peek(mem, cursor->where + state->at.interp_next, &interp, 8) :
			    mem_peek(mem, state->interpreters, &interp, 8);
	if (!more || !python_address_ok(interp))
		return false;
	cursor->where = interp;
	cursor->head = interp + state->tasks.interp_list;
	cursor->node = cursor->head;
	return true;
}

/* 3.14 on: lists of nodes, each in a task. One that has gone leads nowhere that leads back. */
static u32 list_nodes(const struct mem *mem, const struct python_state *state,
		      struct task_cursor *cursor, struct vm_task *out, u32 room)
{
	u64 next, back;
	u32 count = 0;

	while (count < room) {
		if (!cursor->head && !begin_list(mem, state, cursor)) {
			cursor->done = true;
			break;
		}
		if (!mem_peek(mem, cursor->node, &next, 8) || !python_address_ok(next) ||
		    next == cursor->head || !mem_peek(mem, next + 8, &back, 8) ||
		    back != cursor->node || ++cursor->seen > TASKS_MAX) {
			cursor->head = 0;
			continue;
		}
		cursor->node = next;
		out[count++] = (struct vm_task){ .task = next - state->tasks.node,
						 .thread = cursor->thread };
	}
	return count;
}

/* To 3.13: a set of weak references, whose object is their first word. */
static u32 list_references(const struct mem *mem, const struct python_state *state,
			   struct task_cursor *cursor, struct vm_task *out, u32 room)
{
	u64 members[SET_CHUNK], object;
	struct python_loop loop = { 0 };
	u32 count = 0, place = (u32)cursor->where, found = SET_CHUNK;

	/* a part of the table that is empty is enough for one call */
	while (count + SET_CHUNK <= room && !cursor->done && found) {
		found = python_set_members(mem, state, state->tasks.set, &place, members,
					   SET_CHUNK);
		cursor->where = place;
		cursor->seen += found;
		cursor->done = place == PYTHON_SET_END || cursor->seen > TASKS_MAX;
		for (u32 i = 0; i < found; i++)
			if (python_address_ok(members[i]) &&
			    mem_peek(mem, members[i] + state->at.bytes_length, &object, 8) &&
			    python_is_task(mem, state, object))
				out[count++] = (struct vm_task){
					.task = object,
					.thread = python_loop_thread(mem, state, object, &loop)
				};
	}
	return count;
}

static u32 list(const struct mem *mem, const void *state_, struct task_cursor *cursor,
		struct vm_task *out, u32 room)
{
	const struct python_state *state = state_;
	u32 count = (state->tasks.node ? list_nodes : list_references)(mem, state, cursor, out,
								       room);

	for (u32 i = 0; i < count; i++)
		out[i].waiter = python_waiting_task(mem, state, out[i].task);
	return count;
}

/* ---- coroutines ---------------------------------------------------------------------------- */

/* The frame of a generator or coroutine; 0: it has none, or none any more. */
static u64 frame_of(const struct mem *mem, const struct python_state *state, u64 generator)
{
	u64 frame = generator + state->at.gen_frame;

	if ((state->facts & PYTHON_FRAME_IS_OBJECT) &&
	    (!mem_read(mem, frame, &frame, 8) || !python_address_ok(frame)))
		return 0;
	return frame;
}

/* Where its stack of values ends. */
static bool stack_top(const struct mem *mem, const struct python_state *state, u64 frame, u64 *top)
{
	const struct python_layout *at = &state->at;
	u32 minor = python_minor(state);
	s32 count;

	if (at->frame_stack) {
		if (!mem_read(mem, frame + at->frame_stack, top, 8) ||
		    !mem_read(mem, frame + at->frame_top, &count, 4) || count <= 0)
			return false;
		*top += 8ull * (u32)count;
	} else if (minor >= TOP_IS_COUNT_FIRST && minor <= TOP_IS_COUNT_LAST) {
		if (!mem_read(mem, frame + at->frame_top, &count, 4) || count <= 0)
			return false;
		*top = frame + at->frame_locals + 8ull * (u32)count;
	} else if (!mem_read(mem, frame + at->frame_top, top, 8)) {
		return false;
	}
	return python_address_ok(*top);
}

/* The coroutine that the one with this frame awaits; 0: it awaits something else. */
static u64 awaited_coroutine(const struct mem *mem, const struct python_state *state, u64 frame)
{
	u64 top, value;

	if (!stack_top(mem, state, frame, &top))
		return 0;
	for (u32 i = 1; i <= STACK_TOPS; i++) {
		if (!mem_read(mem, top - 8 * i, &value, 8))
			return 0;
		value = python_untagged(state, value);
		if (python_address_ok(value))
			return python_generator_of(mem, state, value);
	}
	return 0;
}

struct sink {
	task_frame_fn *fn;
	void *arg;
};

/* The last of those that were met, one place after the other and again from the first. */
struct coroutines {
	VEC(struct frame) frames;
	u32 met;
};

static bool keep(struct coroutines *kept, struct frame frame)
{
	u32 place = kept->met++ % COROUTINES_KEPT;

	if (place == kept->frames.count)
		return vec_push(&kept->frames, frame);
	kept->frames.at[place] = frame;
	return true;
}

static enum task_walk give_out(const struct coroutines *kept, const struct sink *sink)
{
	static const struct frame gap = { .id = MARK_TRUNCATED, .kind = FRAME_MARK };
	u32 count = kept->frames.count;

	for (u32 i = 1; i <= count; i++)
		if (!sink->fn(sink->arg, &kept->frames.at[(kept->met - i) % COROUTINES_KEPT]))
			return TASK_FAULT;
	if (kept->met > count && !sink->fn(sink->arg, &gap))
		return TASK_FAULT;
	return count ? TASK_WAITS : TASK_GONE;
}

/* Whose caller is known runs, or is what something that runs awaits. */
static enum task_walk collect(const struct mem *mem, const struct python_state *state,
			      u64 generator, struct coroutines *kept)
{
	while (generator && kept->met < COROUTINES_MAX) {
		struct python_frame frame;
		u64 addr = frame_of(mem, state, generator);
		struct frame one = { .at = addr };
		if (!addr || !python_read_frame(mem, state, addr, false, &frame) ||
		    !python_address_ok(frame.code))
			break;
		if (frame.previous && !kept->met)
			return TASK_RUNS;
		if (!python_own_pc(mem, state, &frame) ||
		    !python_identity(mem, state, frame.code, &one.owner))
			break;
		one.id = frame.code;
		one.pos = (u32)frame.pc;
		if (!keep(kept, one))
			return TASK_FAULT;
		generator = awaited_coroutine(mem, state, addr);
	}
	return TASK_WAITS;
}

static enum task_walk walk_coroutines(const struct mem *mem, const struct python_state *state,
				      u64 generator, const struct sink *sink)
{
	struct coroutines kept = { 0 };
	enum task_walk result = collect(mem, state, generator, &kept);

	if (result == TASK_WAITS)
		result = give_out(&kept, sink);
	vec_free(&kept.frames);
	return result;
}

static bool coroutine_of(const struct mem *mem, const struct python_state *state, u64 task,
			 u64 *out)
{
	u64 coro;

	if (!mem_read(mem, task + state->tasks.coro, &coro, 8) || !python_address_ok(coro))
		return false;
	*out = python_generator_of(mem, state, coro);
	return *out != 0;
}

/* What a task is called can change, and its address be another's: both are part of what its frame is. */
static u64 identity_of(const struct mem *mem, const struct python_state *state, u64 task)
{
	u64 name = 0, hash = 0xcbf29ce484222325ull;
	u8 bytes[NAME_BYTES];

	if (!state->tasks.name || !mem_read(mem, task + state->tasks.name, &name, 8) ||
	    !python_address_ok(name) || !mem_read(mem, name, bytes, sizeof bytes))
		return name;
	/* The reference count says nothing. */
	for (u32 i = state->at.bytes_length; i < sizeof bytes; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ull;
	return name ^ hash;
}

static struct frame frame_of_task(const struct mem *mem, const struct python_state *state, u64 task)
{
	return (struct frame){ .id = task,
			       .at = task,
			       .owner = identity_of(mem, state, task),
			       .pos = FRAME_POS_TASK,
			       .flags = FRAME_TASK };
}

static enum task_walk walk(const struct mem *mem, const void *state_, u64 task, bool is_running,
			   task_frame_fn *fn, void *arg)
{
	const struct python_state *state = state_;
	struct sink sink = { fn, arg };
	enum task_walk result = TASK_WAITS;

	for (u32 i = 0; i < WAITERS_MAX && task; i++) {
		u64 generator;
		if (i || !is_running) {
			enum task_walk one = coroutine_of(mem, state, task, &generator) ?
						     walk_coroutines(mem, state, generator, &sink) :
						     TASK_GONE;
			if (one == TASK_FAULT || (!i && one != TASK_WAITS))
				return one;
			result = one == TASK_WAITS ? result : one;
		}
		struct frame own = frame_of_task(mem, state, task);
		if (!fn(arg, &own))
			return TASK_FAULT;
		task = python_waiting_task(mem, state, task);
	}
	return task ? TASK_TRUNCATED : result;
}

/* ---- what runs ----------------------------------------------------------------------------- */

struct running {
	const struct mem *mem;
	const struct python_state *state;
	struct running_task *out;
	u32 count, room, loops;
};

static bool add_running(void *arg, u64 loop, u64 task)
{
	struct running *running = arg;
	u64 generator;

	(void)loop;
	if (running->count < running->room && python_address_ok(task) &&
	    coroutine_of(running->mem, running->state, task, &generator))
		running->out[running->count++] = (struct running_task){
			task, frame_of(running->mem, running->state, generator)
		};
	return running->count == running->room || ++running->loops == LOOPS_MAX;
}

static u32 running(const struct mem *mem, const void *state_, u64 thread, struct running_task *out,
		   u32 room)
{
	const struct python_state *state = state_;
	struct running running = { mem, state, out, 0, room, 0 };
	u64 task;

	if (state->tasks.current)
		python_each_item(mem, state, state->tasks.current, add_running, &running);
	else if (state->tasks.thread_running &&
		 mem_read(mem, thread + state->tasks.thread_running, &task, 8) && task)
		add_running(&running, 0, task);
	return running.count;
}

/* ---- names --------------------------------------------------------------------------------- */

/* Names that nobody has asked for are numbers yet (3.12 on). */
static bool read_name(const struct mem *mem, const struct python_state *state, u64 name,
		      struct str *out)
{
	if (!python_is_of_type(mem, state, name, "int"))
		return python_read_string(mem, state, name, out);
	str_add_text(out, "Task-");
	python_add_value(mem, state, name, out);
	return true;
}

bool python_name_task(const struct mem *mem, const struct python_state *state,
		      const struct frame *frame, struct frame_name *out)
{
	u64 name;

	out->flags = FRAME_TASK;
	if (!state->tasks.name) {
		str_add_text(&out->label, "Task");
		return true;
	}
	return mem_read(mem, frame->id + state->tasks.name, &name, 8) &&
	       read_name(mem, state, name, &out->label) &&
	       identity_of(mem, state, frame->id) == frame->owner && !out->label.bad;
}

const struct runtime_tasks python_runtime_tasks = {
	.find = python_find_tasks,
	.list = list,
	.walk = walk,
	.running = running,
};
