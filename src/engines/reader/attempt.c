/* SPDX-License-Identifier: Apache-2.0
 * attempt.c - see attempt.h. */
#include "engines/reader/attempt_parts.h"
#include "engines/reader/both.h"
#include "engines/reader/heads.h"

#include <sched.h>
#include <string.h>

#include "base/clock.h"

enum {
	/* Idle threads asked for their CPU time in one attempt, in turn, and fewer at high rates. */
	PROBES_PER_ATTEMPT = 16,
	IDLE_PROBES_PER_SECOND = 5000,
	/* Asking costs 0.6 us: so many a second are at most a sixteenth of a core. */
	PROBES_PER_SECOND = 100000,
	SPANS_PER_CALL = 1024,
	HEAD_SPANS = 8,
	HEADS_PER_ATTEMPT = 256,
	HEADS_PER_SECOND = 25000, /* 0.4 us each: a hundredth of a core */
	TASKS_PER_SECOND = 20000, /* 4 us each */
	FIRST_LOOKS_PER_ATTEMPT = 32,
	/* Threads whose context switches are watched; the others are looked at in turn. */
	WATCHED_MOST = 512,
	WATCHED_PER_SECOND = 1000, /* anew: 30 us each */
};

/* schedstat of a running thread moves at scheduler ticks only, 10 ms apart at CONFIG_HZ=100: a
 * thread that moved less than two of them ago may be running. */
static const u64 TICK_NS = 25 * NS_PER_MS;

/* From the moment we take a CPU to our first look at the clock: a guess, and at least. */
static const u64 WAKE_NS = 10 * NS_PER_US, WAKE_LEAST_NS = 2 * NS_PER_US;

/* A forked child goes by the calls that were learned of its program so long; then by its own. */
static const u64 INHERIT_NS = NS_PER_S;

bool attempt_init(struct attempt *attempt, const struct engine_options *options,
		  struct quality *quality, u64 seed)
{
	*attempt = (struct attempt){ .options = options,
				     .quality = quality,
				     .rng = { seed },
				     .period_ns = NS_PER_S / options->hz,
				     .taken_ns = { WAKE_NS, WAKE_LEAST_NS },
				     .tapes = { .dir = options->tape_dir } };
	return look_init(&attempt->look, NULL);
}

void attempt_fini(struct attempt *attempt)
{
	pause_finish(&attempt->pause);
	look_fini(&attempt->look);
	vec_free(&attempt->outer);
	vec_free(&attempt->inner);
	tapes_fini(&attempt->tapes);
	free(attempt->sample);
	vec_free(&attempt->spans);
	vec_free(&attempt->looked_at);
	vec_free(&attempt->heads);
}

/* ---- giving samples out ------------------------------------------------------------------ */

struct source {
	struct sample_source source;
	const struct reader_process *process;
	const struct reader_thread *thread;
};

static const struct runtime *runtime_of(const struct sample_source *source, u16 kind,
					const void **state)
{
	const struct reader_process *process = ((const struct source *)source)->process;
	const struct attached *attached = attached_of_kind(&process->attached, kind);

	*state = attached ? attached->state : NULL;
	return attached ? attached->runtime : NULL;
}

static u64 generation_now(const struct sample_source *source)
{
	const struct source *self = (const struct source *)source;
	const struct reader_thread *thread = self->thread;

	if (!thread || !thread->attached)
		return 0;
	u64 first = attached_generation(thread->attached, source->mem, thread->thread);
	const struct attached *second = thread->second.attached;
	return second ?
		       attached_both_generation(first, attached_generation(second, source->mem,
									   thread->second.thread)) :
		       first;
}

/* Of any of its threads: they share it. */
static u64 generation_of(const struct reader_process *process, const struct attached *attached)
{
	for (u32 i = 0; i < process->threads.count; i++) {
		const struct reader_thread *thread = process->threads.at[i];
		if (thread->attached == attached)
			return attached_generation(attached, &process->target->mem.mem,
						   thread->thread);
	}
	return 0;
}

static bool frame_is_live(const struct sample_source *source, const struct frame *frame)
{
	const struct reader_thread *thread = ((const struct source *)source)->thread;

	if (!thread || !thread->attached)
		return false;
	bool is_second = thread->second.attached && thread->second.attached->kind == frame->kind;
	return attached_has_frame(is_second ? thread->second.attached : thread->attached,
				  source->mem, is_second ? thread->second.thread : thread->thread,
				  frame);
}

static void give(struct attempt *attempt, const struct reader_process *process,
		 const struct reader_thread *thread, u32 life, const char *name)
{
	struct source source = {
		.source = { .target = process->target,
			    .mem = &process->target->mem.mem,
			    .incarnation = process->incarnation,
			    .runtime_of = runtime_of,
			    .generation_now = generation_now,
			    .frame_is_live = frame_is_live,
			    .thread_name = name,
			    .thread_life = life },
		.process = process,
		.thread = thread,
	};
	attempt->sample->pid = process->target->pid;
	attempt->sample->time_ns = attempt->looked_ns;
	attempt->fn(attempt->arg, attempt->sample, &source.source);
}

static bool sample_reserve(struct attempt *attempt, u32 depth)
{
	if (attempt->sample && attempt->sample_room >= depth)
		return true;
	u32 room = depth < 64 ? 64 : depth + depth / 2;
	struct sample *sample = realloc(attempt->sample,
					sizeof *sample + room * sizeof sample->frames[0]);
	if (!sample) {
		attempt->no_memory = true;
		return false;
	}
	attempt->sample = sample;
	attempt->sample_room = room;
	return true;
}

static void count_sample(struct quality *quality, u16 flags, bool complete)
{
	quality->samples++;
	quality->complete += complete;
	quality->moving += !!(flags & SAMPLE_MOVING);
	quality->truncated += !!(flags & SAMPLE_TRUNCATED);
	quality->starting += !!(flags & SAMPLE_STARTING);
	quality->repeated += !!(flags & SAMPLE_REPEATED);
	quality->paused += !!(flags & SAMPLE_PAUSED);
}

/* `sampled_ns`: when the last sample of the same was taken. */
static void emit_since(struct attempt *attempt, const struct reader_process *process,
		       struct reader_thread *thread, const struct frame *frames, u32 depth,
		       const struct look_result *result, u64 *sampled_ns)
{
	static const u16 kinds[] = {
		[MODE_CPU] = SAMPLE_CPU,
		[MODE_WALL] = SAMPLE_WALL,
		[MODE_LOCK] = SAMPLE_LOCK,
		[MODE_EXCEPTION] = SAMPLE_EXCEPTION,
	};
	u64 since = *sampled_ns ? *sampled_ns : attempt->now_ns - attempt->period_ns;

	if (!sample_reserve(attempt, depth))
		return;
	*attempt->sample = (struct sample){ .tid = thread->tid,
					    .kind = kinds[attempt->options->mode],
					    .flags = result->flags,
					    .generation = result->generation,
					    .depth = depth };
	if (depth)
		memcpy(attempt->sample->frames, frames, depth * sizeof *frames);
	if (attempt->options->mode == MODE_CPU) {
		attempt->sample->flags |= SAMPLE_UNPAID;
		thread->unpaid++;
		thread->unpaid_slots += 1 + attempt->missed;
	} else if (attempt->options->mode == MODE_WALL) {
		attempt->sample->weight = attempt->now_ns - since;
	} else {
		attempt->sample->weight = (1 + attempt->missed) * attempt->period_ns;
	}
	*sampled_ns = attempt->now_ns;
	count_sample(attempt->quality, attempt->sample->flags, result->complete);
	give(attempt, process, thread, thread->life, thread->name);
}

static void emit(struct attempt *attempt, const struct reader_process *process,
		 struct reader_thread *thread, const struct frame *frames, u32 depth,
		 const struct look_result *result)
{
	emit_since(attempt, process, thread, frames, depth, result, &thread->sampled_ns);
}

static void emit_mark(struct attempt *attempt, const struct reader_process *process,
		      struct reader_thread *thread, enum frame_mark mark, u16 flags)
{
	struct frame frame = { .id = mark, .kind = FRAME_MARK };
	struct look_result result = { .flags = flags, .complete = mark == MARK_NATIVE };

	emit(attempt, process, thread, &frame, 1, &result);
}

void attempt_share(void *arg, const struct reader_process *process, const struct cpu_share *share)
{
	struct attempt *attempt = arg;

	if (!sample_reserve(attempt, 0))
		return;
	*attempt->sample = (struct sample){ .tid = share->tid,
					    .kind = SAMPLE_SHARE,
					    .weight = share->nanoseconds };
	give(attempt, process, NULL, share->life, share->name);
}

/* ---- one thread -------------------------------------------------------------------------- */

/* Was it on a CPU when this attempt began? We may have taken that CPU from it to make the attempt, and have looked
 * at other processes since. */
static bool is_running(struct attempt *attempt, const struct reader_process *process,
		       struct reader_thread *thread)
{
	u64 woke_ns = attempt->woke_ns ? attempt->woke_ns : attempt->now_ns;
	struct switches_moment moment = { .at_ns = attempt->now_ns,
					  .woke_ns = woke_ns,
					  .cpu = (u32)sched_getcpu(),
					  .taken_ns = &attempt->taken_ns };

	bool is_there = attempt->exits_are_told && !process->threads_changed;

	return thread->tid && thread_probe_state(&thread->probe, process->target, &moment,
						 is_there) == THREAD_RUNNING;
}

static void remember_head(struct reader_thread *thread, const struct reader_process *process)
{
	struct mem_span spans[HEAD_SPANS];
	u32 used = 0;
	u32 count = read_set_head(&thread->set, spans, COUNT_OF(spans), thread->head,
				  sizeof thread->head, &used);

	thread->head_used = 0;
	if (count && mem_live_readv(&process->target->mem, spans, count) == count)
		thread->head_used = used;
}

static bool wants_pause(struct attempt *attempt, const struct reader_thread *thread)
{
	switch (attempt->options->pause) {
	case PAUSE_ALWAYS:
		return true;
	case PAUSE_AUTO:
		return pause_history_says(&thread->history, &attempt->rng);
	default:
		return false;
	}
}

/* The thread is known to run: stop it for the read if it will be stopped. */
static bool look_paused(struct attempt *attempt, struct reader_process *process,
			struct reader_thread *thread, struct look_result *result)
{
	int signal = 0;
	enum pause_outcome outcome = pause_take(&attempt->pause, thread->tid, &signal);

	/* it has ended since it was seen to run, alone or with its process */
	if (outcome == PAUSE_GONE) {
		attempt->gone = target_check(process->target) != TARGET_SAME;
		return false;
	}
	if (outcome != PAUSE_STOPPED) {
		attempt->quality->pause_failed++;
		return attempt_look_at(attempt, process, thread, false, result);
	}
	bool good = attempt_look_at(attempt, process, thread, true, result);
	pause_release(&attempt->pause, thread->tid, signal);
	thread->probe.released_ns = clock_now_ns();
	return good;
}

static void emit_look(struct attempt *attempt, const struct reader_process *process,
		      struct reader_thread *thread, const struct look_result *result)
{
	emit(attempt, process, thread, attempt->look.stack.at, attempt->look.stack.count, result);
}

/* ---- cpu: threads that run now ------------------------------------------------------------ */

/* A thread that is not the VM's, or is no more: that may be because there is no VM any more. */
static void attempt_native(struct attempt *attempt, const struct reader_process *process,
			   struct reader_thread *thread)
{
	if (target_has_memory(process->target) || target_check(process->target) == TARGET_SAME)
		emit_mark(attempt, process, thread, MARK_NATIVE, 0);
	else
		attempt->gone = true;
}

/* Did it run at this attempt's instant? Then its sample is taken. */
static void attempt_running(struct attempt *attempt, struct reader_process *process,
			    struct reader_thread *thread)
{
	struct look_result result;
	bool running = false;

	if (!thread->attached) {
		running = is_running(attempt, process, thread);
		if (running && !process_rebind(process, thread, attempt->options, false))
			attempt_native(attempt, process, thread);
		else if (running && thread->wanted &&
			 attempt_look_at(attempt, process, thread, false, &result))
			emit_look(attempt, process, thread, &result);
	} else if (wants_pause(attempt, thread)) {
		running = is_running(attempt, process, thread);
		if (running && look_paused(attempt, process, thread, &result))
			emit_look(attempt, process, thread, &result);
	} else {
		/* what ran at the last attempt probably runs now: read first, and ask only when
		 * nothing moved under the read */
		bool first = thread->was_running;
		running = first || is_running(attempt, process, thread);
		if (running && attempt_look_at(attempt, process, thread, false, &result)) {
			running = !first || result.ran || is_running(attempt, process, thread);
			if (running)
				emit_look(attempt, process, thread, &result);
		}
	}
	thread->was_running = running;
}

/* ---- idle threads in bulk ------------------------------------------------------------------ */

typedef void thread_fn(struct attempt *, struct reader_process *, struct reader_thread *);

/* One call's worth of head words: threads looked_at[from ..) until a limit; returns where it
 * stopped. */
static u32 gather_heads(struct attempt *attempt, u32 from)
{
	u32 next = from, bytes = 0;

	vec_clear(&attempt->spans);
	for (; next < attempt->looked_at.count; next++) {
		struct reader_thread *thread = attempt->looked_at.at[next];
		u32 used = 0;
		if (attempt->spans.count + HEAD_SPANS > SPANS_PER_CALL ||
		    bytes + sizeof thread->head > attempt->heads.room)
			break;
		thread->bulk_spans = read_set_head(
			&thread->set, attempt->spans.at + attempt->spans.count, HEAD_SPANS,
			attempt->heads.at + bytes, sizeof thread->head, &used);
		thread->bulk_used = used;
		attempt->spans.count += thread->bulk_spans;
		bytes += used;
	}
	return next;
}

/* Calls `moved` for the threads in looked_at whose head words are not what they were, and
 * `unmoved` (if any) for the others. */
static void bulk_heads(struct attempt *attempt, struct reader_process *process, thread_fn *moved,
		       thread_fn *unmoved)
{
	if (!vec_grow(&attempt->spans, SPANS_PER_CALL) ||
	    !vec_grow(&attempt->heads, SPANS_PER_CALL * 64)) {
		attempt->no_memory = true;
		return;
	}
	for (u32 from = 0, next; from < attempt->looked_at.count; from = next) {
		next = gather_heads(attempt, from);
		u32 spans_left = mem_live_readv(&process->target->mem, attempt->spans.at,
						attempt->spans.count);
		for (u32 i = from, at = 0; i < next; i++) {
			struct reader_thread *thread = attempt->looked_at.at[i];
			const u8 *bytes = attempt->heads.at + at;
			at += thread->bulk_used;
			enum heads_answer answer = heads_compare(thread, bytes, &spans_left);
			if (answer != HEADS_SAME)
				moved(attempt, process, thread);
			else if (unmoved)
				unmoved(attempt, process, thread);
			if (answer == HEADS_UNREAD)
				next = i + 1; /* those behind it are read anew */
		}
	}
}

/* Puts a thread on the list for the bulk look; false when its head is not known. */
static bool look_in_bulk(struct attempt *attempt, struct reader_process *process,
			 struct reader_thread *thread)
{
	struct look_result ignored;

	if (!thread->attached)
		return false;
	/* where its head is, a first look tells; a few in each attempt */
	if (!thread->set.ranges.count && attempt->first_looks < FIRST_LOOKS_PER_ATTEMPT) {
		attempt->first_looks++;
		attempt_look_at(attempt, process, thread, false, &ignored);
	}
	if (!thread->head_used)
		remember_head(thread, process);
	return thread->head_used && vec_push(&attempt->looked_at, thread);
}

static void becomes_hot(struct attempt *attempt, struct reader_process *process,
			struct reader_thread *thread)
{
	thread->hot_until_ns = attempt->now_ns + 100 * NS_PER_MS;
	attempt_running(attempt, process, thread);
}

static bool used_cpu(struct reader_thread *thread)
{
	struct thread_time time;

	if (!thread->tid || !thread_probe_time(&thread->probe, &time))
		return false;
	bool used = time.cpu_ns != thread->probed.cpu_ns || time.runs != thread->probed.runs;
	thread->probed = time;
	return used;
}

static u32 smaller(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* More of those that are idle, when all have been looked at. */
static void watch_more(const struct attempt *attempt, const struct reader_process *process,
		       u32 watched)
{
	u32 most = smaller(WATCHED_MOST, watched + WATCHED_PER_SECOND / attempt->options->hz + 1);

	for (u32 i = 0; i < process->threads.count && watched < most; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (thread->wanted && thread->tid && !thread->probe.switches.pages)
			watched += thread_probe_watch(&thread->probe, process->target);
	}
}

/* Idle threads are watched, which costs nothing until one gets a CPU.  Those that cannot be are looked at in turn, so many
 * in an attempt that it stays cheap: reading the heads of 1,000 takes half a millisecond. What one uses meanwhile is owed to
 * its next sample. */
static void attempt_cpu(struct attempt *attempt, struct reader_process *process)
{
	u32 count = process->threads.count;
	u32 hz = attempt->options->hz;
	u32 heads = smaller(HEADS_PER_ATTEMPT, HEADS_PER_SECOND / hz + 1);
	u32 probes = smaller(PROBES_PER_ATTEMPT, IDLE_PROBES_PER_SECOND / hz + 1);
	u32 turns = count / heads + 1;
	u32 able = 0, watched = 0;

	vec_clear(&attempt->looked_at);
	for (u32 i = 0; i < count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (!thread->wanted || !thread->tid)
			continue;
		able++;
		watched += thread->probe.switches.pages != NULL;
		if (thread->hot_until_ns > attempt->now_ns) {
			attempt_running(attempt, process, thread);
			thread->head_used = 0;
		} else if (thread->probe.switches.pages) {
			if (!thread_probe_slept(&thread->probe))
				becomes_hot(attempt, process, thread);
		} else if ((i + process->head_turn) % turns == 0) {
			look_in_bulk(attempt, process, thread);
		}
	}
	process->head_turn++;
	bulk_heads(attempt, process, becomes_hot, NULL);
	for (u32 n = 0; n < probes && n < count; n++) {
		struct reader_thread *thread = process->threads.at[process->rotation++ % count];
		if (thread->wanted && thread->hot_until_ns <= attempt->now_ns &&
		    !thread->probe.switches.pages && used_cpu(thread))
			becomes_hot(attempt, process, thread);
	}
	if (watched < able)
		watch_more(attempt, process, watched);
}

/* ---- wall ---------------------------------------------------------------------------------- */

static void attempt_look(struct attempt *attempt, struct reader_process *process,
			 struct reader_thread *thread)
{
	struct look_result result;

	if (!thread->attached && !process_rebind(process, thread, attempt->options, false)) {
		if (attempt->options->mode == MODE_WALL)
			emit_mark(attempt, process, thread, MARK_NATIVE, 0);
		return;
	}
	bool pause = thread->tid && wants_pause(attempt, thread) &&
		     is_running(attempt, process, thread);
	if (pause ? !look_paused(attempt, process, thread, &result) :
		    !attempt_look_at(attempt, process, thread, false, &result))
		return;
	if ((attempt->options->mode == MODE_LOCK && !result.lock) ||
	    (attempt->options->mode == MODE_EXCEPTION && !result.raises))
		return;
	emit_look(attempt, process, thread, &result);
}

static void repeat(struct attempt *attempt, struct reader_process *process,
		   struct reader_thread *thread)
{
	struct look_result result = { .flags = SAMPLE_REPEATED, .complete = true };

	emit(attempt, process, thread, NULL, 0, &result);
}

static void repeat_unprobed(struct attempt *attempt, struct reader_process *process,
			    struct reader_thread *thread)
{
	attempt->quality->unprobed++;
	repeat(attempt, process, thread);
}

/* A thread that was not scheduled since its last sample has that sample's stack. Asking every
 * thread fits a budget; beyond it a thread whose head words stand still is taken for idle, is
 * asked in turn, and is counted. */
static void attempt_wall(struct attempt *attempt, struct reader_process *process)
{
	u32 count = process->threads.count;
	u32 budget = PROBES_PER_SECOND / attempt->options->hz + PROBES_PER_ATTEMPT;
	u32 turns = count / budget + 1;

	vec_clear(&attempt->looked_at);
	for (u32 i = 0; i < count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (!thread->wanted)
			continue;
		bool in_turn = (i + process->rotation) % turns == 0;
		bool hot = thread->hot_until_ns > attempt->now_ns;
		if (in_turn && !hot && used_cpu(thread))
			thread->hot_until_ns = attempt->now_ns + TICK_NS;
		if (!thread->sampled_ns || !thread->tid || thread->hot_until_ns > attempt->now_ns) {
			thread->head_used = 0;
			attempt_look(attempt, process, thread);
		} else if (in_turn || !look_in_bulk(attempt, process, thread)) {
			repeat(attempt, process, thread);
		}
	}
	process->rotation++;
	bulk_heads(attempt, process, attempt_look, repeat_unprobed);
}

/* ---- tasks that wait ----------------------------------------------------------------------- */

/* The thread whose loop runs the task: where that is not known, the first one. */
static struct reader_thread *thread_of(const struct reader_process *process,
				       const struct reader_task *task)
{
	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (thread->attached == process->tasks.attached &&
		    (!task->thread || thread->thread == task->thread ||
		     turns_have(thread, task->thread)))
			return thread;
	}
	return NULL;
}

static void attempt_task(struct attempt *attempt, struct reader_process *process,
			 struct reader_task *task, u64 generation)
{
	const struct attached *attached = process->tasks.attached;
	struct reader_thread *thread = thread_of(process, task);
	struct look_result result;
	struct look_subject subject = { .runtime = attached->runtime,
					.state = attached->state,
					.kind = attached->kind,
					.task = task->task,
					.generation = generation,
					.set = &task->set };

	if (!thread || !thread->wanted)
		return;
	if (!attempt_look_with(attempt, process, &subject, &result))
		return;
	if (result.absent) { /* until now its thread's samples are its own */
		task->sampled_ns = attempt->now_ns;
	} else {
		result.flags |= SAMPLE_TASK;
		emit_since(attempt, process, thread, attempt->look.stack.at,
			   attempt->look.stack.count, &result, &task->sampled_ns);
	}
}

static void attempt_so_many_tasks(struct attempt *attempt, struct reader_process *process, u32 most)
{
	struct reader_tasks *tasks = &process->tasks;

	if (!tasks->all.count)
		return;
	u64 generation = generation_of(process, tasks->attached);
	for (u32 n = 0; n < most && n < tasks->all.count; n++) {
		struct reader_task *task = tasks->all.at[tasks->turn++ % tasks->all.count];
		if (task_is_caller(tasks, task))
			task->sampled_ns = attempt->now_ns;
		else
			attempt_task(attempt, process, task, generation);
	}
}

/* In turn, so many in an attempt that it stays cheap: what waits waits for longer than a period, and a sample
 * stands for the time since the last one of its task. */
static void attempt_tasks(struct attempt *attempt, struct reader_process *process)
{
	if (!tasks_list(process))
		attempt->no_memory = true;
	attempt_so_many_tasks(attempt, process, TASKS_PER_SECOND / attempt->options->hz + 1);
}

void attempt_each_task(struct attempt *attempt, struct reader_process *process)
{
	attempt->now_ns = clock_now_ns();
	attempt_so_many_tasks(attempt, process, process->tasks.all.count);
}

/* ---- lock and exception -------------------------------------------------------------------- */

static void attempt_every(struct attempt *attempt, struct reader_process *process)
{
	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (thread->wanted && thread->attached)
			attempt_look(attempt, process, thread);
	}
}

void attempt_process(struct attempt *attempt, struct reader_process *process)
{
	attempt->now_ns = attempt->looked_ns = clock_now_ns();
	if (attempt->now_ns > process->born_ns + INHERIT_NS)
		process->program = process->incarnation;
	attempt->first_looks = 0;
	if (attempt->pause.late_count)
		pause_settle(&attempt->pause);
	if (attempt->options->async != ASYNC_OFF)
		tasks_find(process, attempt->now_ns);
	switch (attempt->options->mode) {
	case MODE_CPU:
		attempt_cpu(attempt, process);
		break;
	case MODE_WALL:
		attempt_wall(attempt, process);
		if (attempt->options->async == ASYNC_ALL)
			attempt_tasks(attempt, process);
		break;
	case MODE_LOCK:
	case MODE_EXCEPTION:
		attempt_every(attempt, process);
		break;
	case MODE_OFFCPU:
		break; /* refused when it was opened */
	}
}

void attempt_starting(struct attempt *attempt, struct reader_process *process)
{
	attempt->now_ns = attempt->looked_ns = clock_now_ns();
	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (!thread->wanted ||
		    (attempt->options->mode == MODE_CPU && !is_running(attempt, process, thread)))
			continue;
		if (attempt->options->mode == MODE_CPU || attempt->options->mode == MODE_WALL)
			emit_mark(attempt, process, thread, MARK_STARTING, SAMPLE_STARTING);
	}
}
