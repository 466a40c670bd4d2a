/* SPDX-License-Identifier: Apache-2.0
 * attempt_look.c - one thread of one attempt: its stack, or that of the thread of the VM that is there now. */
#include "base/clock.h"
#include "engines/reader/attempt_parts.h"
#include "engines/reader/both.h"

static bool read_nothing(const struct attempt *attempt, const struct look_result *result)
{
	return attempt->look.stack.count == 1 && (result->flags & SAMPLE_FAULT);
}

struct look_subject attempt_subject(const struct attempt *attempt,
				    const struct reader_process *process,
				    const struct reader_thread *thread,
				    const struct attached *attached, bool still)
{
	return (struct look_subject){
		.runtime = attached->runtime,
		.state = attached->state,
		.kind = attached->kind,
		.program = process->program,
		.process = process->incarnation,
		.asks_raises = attempt->options->mode == MODE_EXCEPTION,
		.asks_lock = attempt->options->mode == MODE_LOCK || process->has_turns,
		.still = still,
		.restless = thread->restless,
	};
}

bool attempt_look_with(struct attempt *attempt, const struct reader_process *process,
		       const struct look_subject *subject, struct look_result *result)
{
	plan_retarget(attempt->look.plan, &process->target->mem, process->incarnation);
	attempt->looked_ns = clock_now_ns();
	if (look_at(&attempt->look, subject, result))
		return true;
	attempt->no_memory = true;
	return false;
}

bool attempt_look_once(struct attempt *attempt, struct reader_process *process,
		       struct reader_thread *thread, bool still, struct look_result *result)
{
	struct look_subject subject = attempt_subject(attempt, process, thread, thread->attached,
						      still);

	subject.thread = thread->thread;
	subject.set = &thread->set;
	subject.memory = &thread->memory;
	if (process->tasks.attached == thread->attached)
		subject.tasks = thread->attached->runtime->tasks;
	subject.tap = tapes_begin(&attempt->tapes, plan_mem(attempt->look.plan));
	if (!attempt_look_with(attempt, process, &subject, result))
		return false;
	/* nothing at all could be read: of a thread that is, or because the process is no more? */
	if (read_nothing(attempt, result) && target_check(process->target) != TARGET_SAME) {
		attempt->gone = true;
		return false;
	}
	if (subject.tap)
		tapes_end(&attempt->tapes, &subject, result, &attempt->look.stack);
	return true;
}

/* Does what was read belong to a thread of the VM that is on this native thread no more? */
static bool has_left(const struct reader_thread *thread, const struct look_result *result)
{
	return thread->tid && result->carrier && result->carrier != thread->carrier;
}

/* Has it what a thread of the VM that runs here has? */
static bool has_stack(const struct attempt *attempt, const struct reader_thread *thread,
		      const struct look_result *result)
{
	return !has_left(thread, result) && !(result->flags & SAMPLE_STARTING) &&
	       !read_nothing(attempt, result);
}

/* Of those that the native thread runs by turns, the one that has a stack. */
static bool look_at_turns(struct attempt *attempt, struct reader_process *process,
			  struct reader_thread *thread, bool still, struct look_result *result)
{
	for (u32 i = 0; i < thread->turns.count && !has_stack(attempt, thread, result); i++) {
		turns_switch(thread, thread->turns.at[i].thread);
		if (!attempt_look_once(attempt, process, thread, still, result))
			return false;
	}
	return true;
}

/* It has a stack, and does not hold its interpreter's lock: it may have gone into another one, and this is what it will come
 * back to. That one holds its own lock, or gave it up for an instant, or there are none: then it is the newest that has a
 * stack, as the VM's list has it, or the one that held it last. */
static bool look_at_holder(struct attempt *attempt, struct reader_process *process,
			   struct reader_thread *thread, bool still, struct look_result *result)
{
	u64 last = thread->thread;

	if (process_rebind(process, thread, attempt->options, false)) {
		if (!attempt_look_once(attempt, process, thread, still, result))
			return false;
		if (has_stack(attempt, thread, result))
			last = thread->thread;
	}
	bool is_found = thread->thread == last &&
			(result->lock || thread->vm_state == VM_THREAD_UNKNOWN);
	for (u32 i = 0; i < thread->turns.count && !is_found; i++) {
		turns_switch(thread, thread->turns.at[i].thread);
		if (!attempt_look_once(attempt, process, thread, still, result))
			return false;
		is_found = result->lock && has_stack(attempt, thread, result);
	}
	if (is_found || thread->thread == last)
		return true;
	turns_switch(thread, last);
	return attempt_look_once(attempt, process, thread, still, result);
}

/* VMs use native threads again: what has no stack, or one that runs elsewhere, may have ended, and another
 * be in its place. Then that one is looked at. */
static bool look_at_rider(struct attempt *attempt, struct reader_process *process,
			  struct reader_thread *thread, bool still, struct look_result *result)
{
	if (!attempt_look_once(attempt, process, thread, still, result) ||
	    !look_at_turns(attempt, process, thread, still, result))
		return false;
	if (has_stack(attempt, thread, result))
		return result->lock || !process->has_turns ||
		       look_at_holder(attempt, process, thread, still, result);
	return !process_rebind(process, thread, attempt->options, true) ||
	       (thread->wanted && attempt_look_once(attempt, process, thread, still, result));
}

static bool is_empty(const struct look_result *result)
{
	return result->flags & SAMPLE_STARTING;
}

/* A VM may have no frame for an instant, in the middle of its work: where there were some the last time it is asked twice. */
static bool look_at_stack(struct attempt *attempt, struct reader_process *process,
			  struct reader_thread *thread, bool still, struct look_result *result)
{
	bool (*look)(struct attempt *, struct reader_process *, struct reader_thread *, bool,
		     struct look_result *) = thread->second.attached ? both_look : look_at_rider;

	return look(attempt, process, thread, still, result) &&
	       (!is_empty(result) || !thread->had_frames || still ||
		look(attempt, process, thread, still, result));
}

/* One that was off its CPU while it was read is no calmer for that: beside busy programs it seldom runs when the reader does. */
static void learn_how_restless(struct reader_thread *thread, const struct look_result *result)
{
	enum { CALM_LOOKS = 64 };

	if (result->flags & SAMPLE_MOVING)
		thread->restless = CALM_LOOKS;
	else if (thread->restless)
		thread->restless -= result->ran;
}

bool attempt_look_at(struct attempt *attempt, struct reader_process *process,
		     struct reader_thread *thread, bool still, struct look_result *result)
{
	if (!look_at_stack(attempt, process, thread, still, result))
		return false;
	bool is_instant = still && thread->had_frames;
	bool is_outside = is_empty(result) && process->has_run && !is_instant;
	thread->had_frames = !is_empty(result);
	/* whose it is now is not known; or nobody's: a host's thread between two calls of the VM */
	if (has_left(thread, result) || is_outside) {
		struct frame native = { .id = MARK_NATIVE, .kind = FRAME_MARK };
		*result = (struct look_result){ .complete = true, .ran = result->ran };
		vec_clear(&attempt->look.stack);
		return vec_push(&attempt->look.stack, native);
	}
	process->has_run |= result->complete && !is_empty(result);
	if (!still) {
		pause_history_add(&thread->history, result->flags & SAMPLE_MOVING);
		learn_how_restless(thread, result);
	}
	return true;
}
