/* SPDX-License-Identifier: Apache-2.0
 * look.c - see look.h. */
#include "engines/reader/look.h"

#include <string.h>

enum { STEPS_MAX = 1 << 18 }; /* 8 MiB of frames; a Ruby stack of 16 MiB holds fewer */

bool look_init(struct look *look, const struct mem_live *live)
{
	*look = (struct look){ .plan = plan_new(live) };
	return look->plan != NULL;
}

void look_fini(struct look *look)
{
	plan_free(look->plan);
	calls_fini(&look->calls);
	vec_free(&look->walked);
	vec_free(&look->stack);
	vec_free(&look->tasks);
}

bool look_put(look_frames *stack, const struct frame *frames, u32 count)
{
	if (!vec_grow(stack, stack->count + count))
		return false;
	if (count)
		memcpy(stack->at + stack->count, frames, count * sizeof *frames);
	stack->count += count;
	return true;
}

static struct frame mark_frame(enum frame_mark mark)
{
	return (struct frame){ .id = mark, .kind = FRAME_MARK };
}

/* ---- tasks --------------------------------------------------------------------------------- */

struct task_frames {
	look_frames *frames;
	u16 kind;
};

static bool add_task_frame(void *arg, const struct frame *frame)
{
	struct task_frames *to = arg;
	struct frame copy = *frame;

	if (copy.kind != FRAME_MARK)
		copy.kind = to->kind;
	return vec_push(to->frames, copy);
}

static const struct mem *mem_of(const struct look *look, const struct look_subject *subject)
{
	return subject->tap ? subject->tap : plan_mem(look->plan);
}

/* A task that waits moves only when it is resumed: no word says whether it was. */
static enum step walk_task(struct look *look, const struct look_subject *subject, struct walk *walk,
			   bool *absent)
{
	struct task_frames to = { &look->walked, subject->kind };

	vec_clear(&look->walked);
	*walk = (struct walk){ .flags = WALK_LINKED };
	plan_head_done(look->plan, 0);
	switch (subject->runtime->tasks->walk(mem_of(look, subject), subject->state, subject->task,
					      false, add_task_frame, &to)) {
	case TASK_WAITS:
		return STEP_DONE;
	case TASK_TRUNCATED:
		return STEP_MORE;
	case TASK_RUNS:
	case TASK_GONE:
		*absent = true;
		return STEP_EMPTY;
	default:
		return STEP_FAULT;
	}
}

static bool has_frame_at(const look_frames *frames, u64 at, u32 *index)
{
	for (u32 i = 0; i < frames->count; i++)
		if (frames->at[i].at == at && frames->at[i].kind != FRAME_MARK) {
			*index = i;
			return true;
		}
	return false;
}

/* Which of the tasks that may run has its outermost frame on the stack that was walked: what called that is a loop,
 * and who waits for the task takes its place. */
static void walk_callers(struct look *look, const struct look_subject *subject)
{
	enum { RUNNING_MAX = 8 };
	const struct mem *mem = mem_of(look, subject);
	struct running_task running[RUNNING_MAX];
	struct task_frames to = { &look->tasks, subject->kind };
	u32 index;

	vec_clear(&look->tasks);
	if (!subject->tasks)
		return;
	u32 count = subject->tasks->running(mem, subject->state, subject->thread, running,
					    RUNNING_MAX);
	for (u32 i = 0; i < count; i++) {
		if (!has_frame_at(&look->walked, running[i].at, &index))
			continue;
		/* where the task begins, for put_callers() */
		(void)(vec_push(&look->tasks, look->walked.at[index]) &&
		       subject->tasks->walk(mem, subject->state, running[i].task, true,
					    add_task_frame, &to));
		return;
	}
}

/* Only of a stack that held: callers of what moved may be another's. */
static bool put_callers(struct look *look)
{
	u32 index;

	if (look->tasks.count < 2 || !has_frame_at(&look->stack, look->tasks.at[0].at, &index))
		return true;
	look->stack.count = index + 1;
	return look_put(&look->stack, look->tasks.at + 1, look->tasks.count - 1);
}

/* ---- threads ------------------------------------------------------------------------------- */

void look_memory_free(struct look_memory *memory)
{
	vec_free(&memory->callers);
	*memory = (struct look_memory){ 0 };
}

/* Would the walk go on from here as it did the last time? */
static bool goes_on_alike(const struct walk *now, const struct walk *then)
{
	return now->cursor == then->cursor && now->limit == then->limit &&
	       now->base == then->base && now->epoch == then->epoch && now->depth == then->depth &&
	       now->flags == then->flags;
}

/* The callers, from memory: what was read of them the last time is there again, byte for byte. */
static bool recall(struct look *look, const struct look_subject *subject, struct walk *walk)
{
	const struct look_memory *memory = subject->memory;

	look->after_leaf = *walk;
	bool alike = memory && !subject->tap && memory->callers.count &&
		     goes_on_alike(walk, &memory->after_leaf) &&
		     vec_grow(&look->walked, memory->callers.count + 1);
	if (!plan_leaf_done(look->plan, alike))
		return false;
	look_put(&look->walked, memory->callers.at, memory->callers.count);
	look->path = memory->path;
	walk->cursor = memory->end.cursor;
	walk->depth = memory->end.depth;
	walk->flags = memory->end.flags;
	return true;
}

/* All of it, from memory. */
static bool recall_whole(struct look *look, const struct look_subject *subject, struct walk *walk)
{
	const struct look_memory *memory = subject->memory;
	bool asks = subject->tap || subject->asks_raises || subject->asks_lock, has_place;
	u64 place;

	/* that it collects is proven each time */
	if (asks || !memory || !memory->callers.count || memory->thread != subject->thread ||
	    (memory->end.flags & WALK_GC) || !vec_grow(&look->walked, memory->callers.count + 1) ||
	    !plan_is_repeated(look->plan, &has_place, &place))
		return false;
	struct frame leaf = memory->leaf;
	if (has_place)
		leaf.pos = subject->runtime->pos_of(subject->state, place);
	look_put(&look->walked, &leaf, 1);
	look_put(&look->walked, memory->callers.at, memory->callers.count);
	look->path = memory->path;
	*walk = memory->end;
	return true;
}

static void remember(struct look *look, const struct look_subject *subject, const struct walk *walk)
{
	struct look_memory *memory = subject->memory;

	if (!memory)
		return;
	memory->thread = subject->thread;
	memory->leaf = look->walked.at[0];
	memory->after_leaf = look->after_leaf;
	memory->end = *walk;
	if (look->path) /* the callers are from there */
		return;
	vec_clear(&memory->callers);
	if (look_put(&memory->callers, look->walked.at + 1, look->walked.count - 1))
		memory->path = calls_path(memory->callers.at, memory->callers.count);
}

/* What else is wanted of the thread. */
static void ask(const struct look *look, const struct look_subject *subject,
		struct look_result *result)
{
	const struct runtime *runtime = subject->runtime;
	const struct mem *mem = mem_of(look, subject);

	result->raises = subject->asks_raises && runtime->raises &&
			 runtime->raises(mem, subject->state, subject->thread);
	result->lock = subject->asks_lock && runtime->holds_lock &&
		       runtime->holds_lock(mem, subject->state, subject->thread);
}

/* STEP_MORE is returned for a stack that is too deep. */
static enum step walk_stack(struct look *look, const struct look_subject *subject,
			    struct walk *walk, struct look_result *result)
{
	look_frames *frames = &look->walked;
	const struct mem *mem = mem_of(look, subject);

	vec_clear(frames);
	look->path = 0;
	if (recall_whole(look, subject, walk))
		return STEP_DONE;
	*walk = (struct walk){ 0 };
	enum step step = subject->runtime->begin(mem, subject->state, subject->thread, walk);
	walk->flags |= subject->still ? WALK_STANDS : 0;
	ask(look, subject, result);
	plan_head_done(look->plan, walk->epoch);
	u64 passed = 0;
	for (u32 steps = 0; step_goes_on(step); steps++) {
		struct frame frame = { 0 };
		if (steps >= STEPS_MAX)
			return STEP_MORE;
		/* Frames that are linked anew as they are read may lead back to one another (Brent, 1980). */
		if (steps && walk->cursor == passed)
			return STEP_FAULT;
		if (!(steps & (steps - 1)))
			passed = walk->cursor;
		step = subject->runtime->step(mem, subject->state, walk, &frame);
		if (step == STEP_HIDDEN)
			continue;
		if (step == STEP_TORN) {
			u64 at = frame.at;
			frame = mark_frame(MARK_UNREADABLE);
			frame.at = at;
		} else if (step == STEP_MORE) {
			frame.kind = subject->kind;
		} else {
			break;
		}
		if (!vec_push(frames, frame))
			return STEP_FAULT;
		if (frames->count == 1 && step == STEP_MORE && recall(look, subject, walk))
			return STEP_DONE;
	}
	return step == STEP_DONE && !frames->count ? STEP_EMPTY : step;
}

static bool put_mark(look_frames *stack, enum frame_mark mark)
{
	return vec_push(stack, mark_frame(mark));
}

static u32 torn_leaves(const look_frames *frames)
{
	u32 torn = 0;

	while (torn < frames->count && frames->at[torn].kind == FRAME_MARK)
		torn++;
	return torn;
}

/* Nothing conflicted: the first view is the stack. */
static bool put_held(struct look *look, const struct walk *walk, enum step end,
		     struct look_result *result)
{
	look_frames *first = &look->walked;
	u32 torn = torn_leaves(first);
	bool good = true;

	if (end == STEP_EMPTY) {
		result->flags |= SAMPLE_STARTING;
		return put_mark(&look->stack, MARK_STARTING);
	}
	if (walk->flags & WALK_GC)
		good = put_mark(&look->stack, MARK_GC);
	if (torn || (walk->flags & WALK_TOP_UNSET)) {
		result->flags |= SAMPLE_MOVING;
		good = good && put_mark(&look->stack, MARK_MOVING);
	}
	good = good && look_put(&look->stack, first->at + torn, first->count - torn);
	for (u32 i = torn; i < first->count; i++)
		if (first->at[i].kind == FRAME_MARK)
			result->flags |= first->at[i].id == MARK_TRUNCATED ? SAMPLE_TRUNCATED :
									     SAMPLE_FAULT;
	if (end == STEP_FAULT && (walk->flags & WALK_TOP_UNSET) && !first->count) {
		/* only the innermost was met, and it leads nowhere yet */
	} else if (end != STEP_DONE) {
		result->flags |= SAMPLE_TRUNCATED | (end == STEP_FAULT ? SAMPLE_FAULT : 0);
		good = good &&
		       put_mark(&look->stack, first->count ? MARK_TRUNCATED : MARK_UNREADABLE);
	}
	result->complete = !result->flags;
	return good;
}

/* A forked child's thread lies where its parent's does. */
static struct calls_whose whose(const struct look_subject *subject)
{
	u64 thread[] = { subject->process, subject->thread };

	return (struct calls_whose){ subject->program,
				     subject->task ? 0 : table_hash(thread, sizeof thread) };
}

/* Frames that are linked can lead to those of another thread, that took one which this thread had given up. */
static bool has_own_root(const struct look *look, const struct look_subject *subject)
{
	const look_frames *walked = &look->walked;

	return walked->count && subject->memory &&
	       walked->at[walked->count - 1].at == subject->memory->root_at;
}

static bool put_moving(struct look *look, const struct look_subject *subject,
		       const struct walk *walk, enum step end, struct look_result *result)
{
	look_frames *first = &look->walked;
	struct calls_whose owner = whose(subject);
	u32 standing = 0;

	if ((walk->flags & WALK_LINKED) && !has_own_root(look, subject))
		owner.program = owner.thread; /* only what this thread is known for */
	/* a walk that did not reach the root has no frame that is known to be outermost */
	if (end == STEP_DONE)
		standing = (walk->flags & WALK_LINKED ? calls_standing_linked : calls_standing)(
			&look->calls, &owner, first->at, first->count);
	/* what it called did not stand, so its place need not */
	if (standing)
		first->at[first->count - standing].flags |= FRAME_LEAF;
	result->flags |= SAMPLE_MOVING;
	return put_mark(&look->stack, MARK_MOVING) &&
	       look_put(&look->stack, first->at + (first->count - standing), standing);
}

/* Of a thread that moves a lot, what held must be plausible, too.  A leaf that may be a leftover must be
 * also when the thread is stopped; one that was seen not to be filled is left out already. */
static u32 doubts_of(const struct look_subject *subject, const struct walk *walk)
{
	bool unsure = (walk->flags & (WALK_TOP_UNSURE | WALK_TOP_UNSET)) == WALK_TOP_UNSURE;

	return (subject->restless && !subject->still ? CALLS_DOUBT_ALL : 0) |
	       (unsure ? CALLS_DOUBT_LEAF : 0) | (walk->flags & WALK_LINKED ? CALLS_LINKED : 0);
}

/* A leaf that does not belong there: what lies in its slot is of an earlier call. The rest held. */
static void leave_leaf_out(look_frames *walked, struct walk *walk)
{
	memmove(walked->at, walked->at + 1, --walked->count * sizeof walked->at[0]);
	walk->flags |= WALK_TOP_UNSET;
}

/* A stack that held is learned from; is it believed? */
static bool is_believed(struct look *look, const struct look_subject *subject, struct walk *walk)
{
	look_frames *walked = &look->walked;
	struct calls_whose owner = whose(subject);
	u32 torn = torn_leaves(walked), doubts = doubts_of(subject, walk);
	/* what is below one that is left out anyway is no leaf */
	if (torn)
		doubts &= ~(u32)CALLS_DOUBT_LEAF;
	switch (calls_believe(&look->calls, &owner, walked->at + torn, walked->count - torn,
			      torn ? 0 : look->path, doubts)) {
	case CALLS_LEFTOVER:
		leave_leaf_out(walked, walk);
		return true;
	case CALLS_DOUBTED:
		return false;
	default:
		return true;
	}
}

/* A list that leads nowhere is one whose links were being changed, if its thread runs; of a thread that does
 * not it is torn, and what was found of it stands. */
static bool is_cut(const struct look *look, const struct look_subject *subject,
		   const struct walk *walk, enum step end)
{
	return end == STEP_FAULT && (walk->flags & WALK_LINKED) && !subject->still &&
	       (subject->restless || plan_saw_motion(look->plan));
}

/* Whether it collects was read behind its stack, and may be of another. */
static bool is_collecting(struct look *look, const struct walk *walk)
{
	return (walk->flags & WALK_GC) && plan_stands(look->plan);
}

static u64 generation_now(const struct look *look, const struct look_subject *subject)
{
	struct walk walk = { 0 };

	subject->runtime->begin(plan_live(look->plan), subject->state, subject->thread, &walk);
	return walk.generation;
}

bool look_at(struct look *look, const struct look_subject *subject, struct look_result *result)
{
	struct walk walk;
	bool good;

	*result = (struct look_result){ 0 };
	vec_clear(&look->stack);
	plan_begin(look->plan, subject->set, subject->still);
	enum step end = subject->task ? walk_task(look, subject, &walk, &result->absent) :
					walk_stack(look, subject, &walk, result);
	walk_callers(look, subject);
	result->generation = subject->task                  ? subject->generation :
			     plan_head_was_late(look->plan) ? generation_now(look, subject) :
							      walk.generation;
	result->carrier = walk.carrier;
	bool held = plan_settle(look->plan) == PLAN_HELD;
	if (held && end == STEP_DONE && !subject->task)
		held = is_believed(look, subject, &walk);
	else if (held)
		held = !is_cut(look, subject, &walk, end);
	if (held && !is_collecting(look, &walk))
		walk.flags &= ~(u32)WALK_GC;
	if (held)
		good = put_held(look, &walk, end, result) && put_callers(look);
	else
		good = put_moving(look, subject, &walk, end, result);
	result->ran = plan_saw_motion(look->plan);
	if (subject->still)
		result->flags |= SAMPLE_PAUSED;
	bool believed = held && end == STEP_DONE && !(walk.flags & WALK_TOP_UNSET);
	if (believed && subject->memory && look->walked.count)
		subject->memory->root_at = look->walked.at[look->walked.count - 1].at;
	if (plan_end(look->plan, believed, !(walk.flags & WALK_TOP_UNSURE)))
		remember(look, subject, &walk);
	return good;
}
