/* SPDX-License-Identifier: Apache-2.0
 * both.c - see both.h. */
#include "engines/reader/both.h"

#include <string.h>

#include "engines/reader/attempt_parts.h"

static bool look_at_second(struct attempt *attempt, struct reader_process *process,
			   struct reader_thread *thread, bool still, struct look_result *result)
{
	struct second_stack *second = &thread->second;
	struct look_subject subject = attempt_subject(attempt, process, thread, second->attached,
						      still);

	subject.thread = second->thread;
	subject.set = &second->set;
	subject.memory = &second->memory;
	return attempt_look_with(attempt, process, &subject, result);
}

/* Into look.stack: what the one that calls has, or the one that is called. */
static bool look_at_one(struct attempt *attempt, struct reader_process *process,
			struct reader_thread *thread, bool outer, bool still,
			struct look_result *result)
{
	return (outer == thread->second.is_outer ? look_at_second : attempt_look_once)(
		attempt, process, thread, still, result);
}

static void swap_stacks(look_frames *a, look_frames *b)
{
	look_frames swap = *a;

	*a = *b;
	*b = swap;
}

static bool is_empty(const struct look_result *result)
{
	return result->flags & SAMPLE_STARTING;
}

/* How many of the outermost frames are the same, to the word. */
static u32 common_part(const look_frames *a, const look_frames *b)
{
	u32 count = 0;

	while (count < a->count && count < b->count &&
	       !memcmp(&a->at[a->count - 1 - count], &b->at[b->count - 1 - count], sizeof a->at[0]))
		count++;
	return count;
}

/* The inner stack is in attempt->inner, the outer one in attempt->outer; look.stack has the outer one as it was after
 * the inner one was read. */
static bool join_stacks(struct attempt *attempt, bool still, struct look_result *result)
{
	look_frames *stack = &attempt->look.stack, *outer = &attempt->outer;
	u32 common = still ? outer->count : common_part(outer, stack);
	bool stood = common == outer->count && (still || common == stack->count);
	struct frame moving = { .id = MARK_MOVING, .kind = FRAME_MARK };

	vec_clear(stack);
	if (!stood) {
		result->flags |= SAMPLE_MOVING;
		result->complete = false;
		if (!vec_push(stack, moving))
			return false;
	} else if (!look_put(stack, attempt->inner.at, attempt->inner.count)) {
		return false;
	}
	return look_put(stack, outer->at + (outer->count - common), common);
}

static struct look_result merged(const struct look_result *inner, const struct look_result *outer)
{
	struct look_result both = *inner;

	both.flags |= outer->flags;
	both.complete = inner->complete && outer->complete;
	both.generation = attached_both_generation(inner->generation, outer->generation);
	both.lock |= outer->lock;
	both.raises |= outer->raises;
	both.ran |= outer->ran;
	both.carrier = 0; /* each VM has its own */
	return both;
}

bool both_look(struct attempt *attempt, struct reader_process *process,
	       struct reader_thread *thread, bool still, struct look_result *result)
{
	struct look_result outer, inner, again;
	look_frames *stack = &attempt->look.stack;

	if (!look_at_one(attempt, process, thread, true, still, &outer))
		return false;
	swap_stacks(stack, &attempt->outer);
	if (!look_at_one(attempt, process, thread, false, still, &inner))
		return false;
	*result = merged(&inner, &outer);
	if (is_empty(&outer) != is_empty(&inner)) {
		/* the one that has a stack when the other has none is the outer one */
		thread->second.is_outer ^= is_empty(&outer);
		result->flags = is_empty(&outer) ? inner.flags : outer.flags;
		result->complete = is_empty(&outer) ? inner.complete : outer.complete;
	}
	/* while the outer one moves, it does not call the other */
	bool outer_only = is_empty(&inner) || (outer.flags & SAMPLE_MOVING);
	if (is_empty(&outer) || outer_only) {
		if (outer_only && !is_empty(&outer))
			swap_stacks(stack, &attempt->outer);
		return true;
	}
	swap_stacks(stack, &attempt->inner);
	if (!still && !look_at_one(attempt, process, thread, true, false, &again))
		return false;
	if (join_stacks(attempt, still, result))
		return true;
	attempt->no_memory = true;
	return false;
}
