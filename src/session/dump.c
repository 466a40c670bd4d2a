/* SPDX-License-Identifier: Apache-2.0
 * dump.c - see dump.h.
 *
 * One attempt at every thread in wall mode, and a few more for those that moved under it: a dump
 * is no statistic, so here it does no harm to look again. */
#include "session/dump.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engines/reader/attempt.h"
#include "session/naming.h"
#include "target/kin.h"

enum { ROUNDS_MAX = 64, TASK_ROUNDS = 3 };

/* A VM that hands its lock to a thread that sleeps wakes it within this time. */
static const u64 HANDED_NS = 20 * NS_PER_MS;

struct taken {
	u32 tid, stack, locals;
	bool complete, gc;
	bool on_cpu;             /* or waits for one: the kernel says R */
	bool waits;              /* for the VM's lock, as the kernel says */
	bool held;               /* the lock, before the kernel was asked */
	struct thread_time then; /* what it had run then */
	bool stopped;            /* by a signal or a tracer: T or t; what it held it still holds */
};

struct taking {
	struct dump *dump;
	struct naming *naming;
	struct target target;
	struct reader_process *process;
	struct attempt attempt;
	struct engine_options options;
	struct quality quality;
	bool locals, tasks_too;
	enum engine_pause pause; /* for variables: then it is not the attempt that stops threads */
	bool still;              /* the thread that is looked at is stopped */
	VEC(struct taken) taken; /* in the order in which they came */
	VEC(struct dump_thread) tasks;
};

static struct taken *taken_of(struct taking *taking, u32 tid)
{
	for (u32 i = 0; tid && i < taking->taken.count; i++)
		if (taking->taken.at[i].tid == tid)
			return &taking->taken.at[i];
	if (!vec_push(&taking->taken, (struct taken){ .tid = tid }))
		return NULL;
	return &taking->taken.at[taking->taken.count - 1];
}

/* The variables of each frame of a stack, one text behind the other. */
struct texts {
	struct str all;
	VEC(u32) ends;
};

static void read_locals(const struct sample *sample, const struct sample_source *source,
			struct texts *texts)
{
	struct str one = { 0 };

	str_clear(&texts->all);
	vec_clear(&texts->ends);
	for (u32 i = 0; i < sample->depth; i++) {
		const struct frame *frame = &sample->frames[i];
		const void *state;
		const struct runtime *runtime = source->runtime_of(source, frame->kind, &state);
		str_clear(&one);
		if (runtime && runtime->locals &&
		    runtime->locals(source->mem, state, frame, &one) && !one.bad)
			str_add(&texts->all, one.text, one.length);
		texts->all.bad |= !vec_push(&texts->ends, texts->all.length);
	}
	str_free(&one);
}

static void texts_free(struct texts *texts)
{
	str_free(&texts->all);
	vec_free(&texts->ends);
}

static bool are_same(const struct texts *a, const struct texts *b)
{
	return !a->all.bad && !b->all.bad && a->all.length == b->all.length &&
	       !memcmp(a->all.text, b->all.text, a->all.length) && a->ends.count == b->ends.count &&
	       (!a->ends.count ||
		!memcmp(a->ends.at, b->ends.at, a->ends.count * sizeof *a->ends.at));
}

/* Is its innermost function still where it was? */
static bool is_where_it_was(const struct sample *sample, const struct sample_source *source)
{
	for (u32 i = 0; i < sample->depth; i++)
		if (sample->frames[i].kind >= FRAME_MANAGED)
			return source->frame_is_live(source, &sample->frames[i]);
	return true;
}

/* Variables change under who reads them one by one, and those of two calls are no call's: of a thread that is
 * not stopped they are read twice, and count if nothing differs and the thread has not moved meanwhile. */
static bool read_locals_of(const struct taking *taking, const struct sample *sample,
			   const struct sample_source *source, struct texts *texts)
{
	struct texts again = { 0 };

	read_locals(sample, source, texts);
	if (taking->still)
		return true;
	read_locals(sample, source, &again);
	bool held = are_same(texts, &again) && is_where_it_was(sample, source);
	texts_free(&again);
	return held;
}

/* One string a frame, empty where nothing is known. False: none of them are known. */
static bool take_locals(struct taking *taking, struct taken *taken, const struct sample *sample,
			const struct sample_source *source)
{
	struct dump *dump = taking->dump;
	struct texts texts = { 0 };
	u32 begin = 0;

	bool good = read_locals_of(taking, sample, source, &texts);
	taken->locals = good ? dump->locals.count : 0;
	for (u32 i = 0; i < texts.ends.count && good; i++) {
		u32 end = texts.ends.at[i];
		u32 string = end > begin ? names_string(&dump->names, texts.all.text + begin,
							end - begin) :
					   0;
		dump->names.bad |= !vec_push(&dump->locals, string);
		begin = end;
	}
	dump->names.bad |= texts.all.bad;
	texts_free(&texts);
	return good;
}

/* A row of its own: a thread can have any number of them. */
static void take_task(struct taking *taking, const struct sample *sample,
		      const struct sample_source *source)
{
	struct dump *dump = taking->dump;
	struct dump_thread row = { .tid = sample->tid,
				   .state = DUMP_AWAITING,
				   .name = names_text(&dump->names, source->thread_name),
				   .stack = naming_stack(taking->naming, sample, source) };
	u32 stack = row.stack;

	for (u32 i = 0; stack && i < sample->depth; i++) {
		u32 location = dump->names.stacks.at[stack].location;
		if (sample->frames[i].pos == FRAME_POS_TASK) {
			row.task = dump->names.functions
					   .at[dump->names.locations.at[location].function]
					   .name;
			break;
		}
		stack = dump->names.stacks.at[stack].outer;
	}
	dump->names.bad |= !vec_push(&taking->tasks, row);
}

static void on_sample(void *arg, const struct sample *sample, const struct sample_source *source)
{
	struct taking *taking = arg;

	if (sample->flags & SAMPLE_REPEATED)
		return;
	if (sample->flags & SAMPLE_TASK) {
		take_task(taking, sample, source);
		return;
	}
	struct taken *taken = taken_of(taking, sample->tid);
	if (!taken || taken->complete)
		return;
	bool known = !taking->locals || take_locals(taking, taken, sample, source);
	taken->stack = naming_stack(taking->naming, sample, source);
	taken->complete = known && !(sample->flags & SAMPLE_MOVING);
	taken->gc = sample->depth && sample->frames[0].kind == FRAME_MARK &&
		    sample->frames[0].id == MARK_GC;
}

static bool all_complete(const struct taking *taking)
{
	for (u32 i = 0; i < taking->taken.count; i++)
		if (!taking->taken.at[i].complete)
			return false;
	return true;
}

/* Stops it if it runs: a thread that sleeps need not, and must not, be stopped. */
static bool stop(struct taking *taking, const struct reader_thread *thread, int *signal)
{
	return taking->pause != PAUSE_NEVER && thread->tid &&
	       target_thread_state(&taking->target, thread->tid) == THREAD_RUNNING &&
	       pause_take(&taking->attempt.pause, thread->tid, signal) == PAUSE_STOPPED;
}

/* No thread but this one.  Of one that is on no native thread nobody knows which it was: once. */
static void take_alone(struct taking *taking, struct reader_thread *thread)
{
	bool complete = false;

	for (u32 round = 0; round < ROUNDS_MAX && !complete; round++) {
		int signal = 0;
		taking->still = stop(taking, thread, &signal);
		thread->sampled_ns = 0; /* nothing is repeated */
		attempt_process(&taking->attempt, taking->process);
		if (taking->still)
			pause_release(&taking->attempt.pause, thread->tid, signal);
		taking->still = false;
		const struct taken *taken = thread->tid ? taken_of(taking, thread->tid) : NULL;
		complete = !taken || taken->complete;
	}
}

static void take_each_alone(struct taking *taking)
{
	struct reader_process *process = taking->process;

	for (u32 i = 0; i < process->threads.count; i++)
		process->threads.at[i]->wanted = false;
	for (u32 i = 0; i < process->threads.count; i++) {
		process->threads.at[i]->wanted = true;
		take_alone(taking, process->threads.at[i]);
		process->threads.at[i]->wanted = false;
	}
	for (u32 i = 0; i < process->threads.count; i++)
		process->threads.at[i]->wanted = true;
}

static void take_rounds(struct taking *taking)
{
	if (taking->locals) {
		take_each_alone(taking);
		return;
	}
	for (u32 round = 0; round < ROUNDS_MAX; round++) {
		attempt_process(&taking->attempt, taking->process);
		if (all_complete(taking))
			return;
	}
}

static bool is_lock(const struct target *target, const struct reader_thread *thread, u64 futex)
{
	const struct attached *attached = thread->attached;

	return futex && attached && attached->runtime->is_lock &&
	       attached->runtime->is_lock(&target->mem.mem, attached->state, futex);
}

static bool sleeps_with_lock(const struct reader_thread *thread, const struct taken *taken)
{
	return taken->held && !taken->on_cpu && !taken->waits &&
	       thread->vm_state == VM_THREAD_RUNNING;
}

/* Who has run since did not hold it all the time.  Where a futex does not say what a thread waits for, the lock may have
 * been handed to it while it slept. */
static void check_held(struct taking *taking)
{
	bool has_slept = false;

	for (u32 i = 0; i < taking->process->threads.count; i++) {
		const struct reader_thread *thread = taking->process->threads.at[i];
		struct taken *taken = thread->tid ? taken_of(taking, thread->tid) : NULL;
		struct thread_time now;
		if (!taken || !sleeps_with_lock(thread, taken))
			continue;
		if (!thread->attached->runtime->is_lock && !has_slept) {
			clock_sleep_until(clock_now_ns() + HANDED_NS);
			has_slept = true;
		}
		taken->held = target_thread_time(&taking->target, thread->tid, &now) &&
			      now.runs == taken->then.runs;
	}
}

/* The VM, the kernel, and the VM again.  A thread that slept when the kernel was asked and holds the VM's lock behind
 * that has waited for it (the other way round, one that held it before and lost it would look blocked), or held it
 * all the time, if it did before and has not run since. */
static void read_states(struct taking *taking)
{
	struct err ended = { 0 }; /* its stacks were read: that is worth more than its states */

	process_refresh(taking->process, &taking->options, &ended);
	for (u32 i = 0; i < taking->process->threads.count; i++) {
		const struct reader_thread *thread = taking->process->threads.at[i];
		struct taken *taken = thread->tid ? taken_of(taking, thread->tid) : NULL;
		if (!taken)
			continue;
		taken->held = thread->vm_state == VM_THREAD_RUNNING &&
			      target_thread_time(&taking->target, thread->tid, &taken->then);
		u64 futex;
		enum thread_run_state state = target_thread_wait(&taking->target, thread->tid,
								 &futex);
		taken->on_cpu = state == THREAD_RUNNING;
		taken->stopped = state == THREAD_STOPPED;
		taken->waits = is_lock(&taking->target, thread, futex);
	}
	process_refresh(taking->process, &taking->options, &ended);
	check_held(taking);
}

static enum dump_state state_of(const struct reader_thread *thread, const struct taken *taken)
{
	if (taken && taken->stopped)
		return DUMP_STOPPED;
	if (taken && taken->gc)
		return DUMP_GC;
	if (taken && taken->on_cpu)
		return DUMP_RUNNING;
	if (taken && sleeps_with_lock(thread, taken))
		return DUMP_HOLDING;
	return thread->vm_state == VM_THREAD_WAITING || thread->vm_state == VM_THREAD_RUNNING ||
			       (taken && taken->waits) ?
		       DUMP_WAITING :
		       DUMP_BLOCKED;
}

static bool fill_threads(struct taking *taking)
{
	struct dump *dump = taking->dump;
	u32 floating = 0;

	for (u32 i = 0; i < taking->process->threads.count; i++) {
		const struct reader_thread *thread = taking->process->threads.at[i];
		const struct taken *taken = NULL;
		u32 skip = thread->tid ? 0 : floating++;
		/* threads on no native thread come in the same order in both lists */
		for (u32 k = 0; k < taking->taken.count && !taken; k++)
			if (taking->taken.at[k].tid == thread->tid && !skip--)
				taken = &taking->taken.at[k];
		struct dump_thread row = {
			.tid = thread->tid,
			.name = names_text(&dump->names, thread->name),
			.state = state_of(thread, taken),
			.lock = thread->attached ? thread->attached->runtime->lock : "lock",
			.stack = taken ? taken->stack : 0,
			.locals = taken ? taken->locals : 0,
		};
		if (!vec_push(&dump->threads, row))
			return false;
	}
	return true;
}

/* Twice through the list: who waits for whom is known when all have been met. */
static bool take_tasks(struct taking *taking)
{
	struct reader_process *process = taking->process;

	if (!taking->tasks_too)
		return true;
	tasks_find(process, clock_now_ns());
	while (process->tasks.attached && process->tasks.round < TASK_ROUNDS)
		if (!tasks_list(process))
			return false;
	attempt_each_task(&taking->attempt, process);
	for (u32 i = 0; i < taking->tasks.count; i++)
		if (!vec_push(&taking->dump->threads, taking->tasks.at[i]))
			return false;
	return true;
}

/* Of each VM: "Ruby 3.1.2, Python 3.11.2". */
static void describe_first_lines(const struct reader_process *process, struct str *out)
{
	str_clear(out);
	for (u32 i = 0; i < process->attached.count; i++) {
		const struct attached *attached = process->attached.at[i];
		u32 begin = out->length;
		str_add_text(out, i ? ", " : "");
		u32 said = out->length;
		if (attached->runtime->describe)
			attached->runtime->describe(attached->state, out);
		const char *end = out->bad ? NULL : strchr(out->text + said, '\n');
		if (end)
			out->length = (u32)(end - out->text);
		if (out->length == said) {
			out->length = begin;
			str_addf(out, "%s%s", i ? ", " : "", attached->runtime->name);
		}
	}
}

static bool take(struct taking *taking, struct err *err)
{
	struct dump *dump = taking->dump;
	struct str line = { 0 };

	taking->process = process_new(&taking->target, 1);
	if (!taking->process ||
	    !attempt_init(&taking->attempt, &taking->options, &taking->quality, clock_now_ns()))
		return err_no_memory(err);
	taking->process->own_child = target_parent(&taking->target) == (u32)getpid();
	taking->attempt.fn = on_sample;
	taking->attempt.arg = taking;
	if (!process_attach(taking->process, err) ||
	    !tasks_can(taking->process, taking->options.async, err))
		return false;
	/* Where the VM keeps names, first: threads are named as they are met. */
	process_ask_names(taking->process, &taking->options, clock_now_ns());
	if (!process_refresh(taking->process, &taking->options, err))
		return false;
	take_rounds(taking);
	read_states(taking);
	describe_first_lines(taking->process, &line);
	dump->runtime = names_string(&dump->names, line.text, line.length);
	dump->warning = names_text(&dump->names, taking->process->warning);
	str_free(&line);
	return (fill_threads(taking) && take_tasks(taking) && !dump->names.bad) ||
	       err_no_memory(err);
}

bool dump_take(struct dump *dump, u32 pid, const struct dump_wish *wish, struct err *err)
{
	struct taking taking = { .dump = dump,
				 .options = { .hz = 99,
					      .mode = MODE_WALL,
					      .pause = wish->pause,
					      .async = wish->async },
				 .pause = wish->pause,
				 .locals = wish->locals,
				 .tasks_too = wish->async == ASYNC_ALL };

	/* Those that wait have a turn of their own, once. */
	if (taking.tasks_too)
		taking.options.async = ASYNC_RUNNING;
	if (taking.locals)
		taking.options.pause = PAUSE_NEVER;
	*dump = (struct dump){ .pid = pid };
	if (!names_init(&dump->names))
		return err_no_memory(err);
	dump->names.bad |= !vec_push(&dump->locals, 0);
	taking.naming = naming_new(&dump->names, NAMING_COLUMNS);
	engine_raise_file_limit();
	bool good = taking.naming ? target_open(&taking.target, pid, err) : err_no_memory(err);
	if (good) {
		good = take(&taking, err);
		attempt_fini(&taking.attempt);
		if (taking.process)
			process_free(taking.process);
		target_close(&taking.target);
	}
	naming_free(taking.naming);
	vec_free(&taking.taken);
	vec_free(&taking.tasks);
	if (!good)
		dump_free(dump);
	return good;
}

void dump_free(struct dump *dump)
{
	names_free(&dump->names);
	vec_free(&dump->locals);
	vec_free(&dump->threads);
}

bool session_describe(u32 pid, struct str *out, struct err *err)
{
	struct target target;

	if (!target_open(&target, pid, err))
		return false;
	struct reader_process *process = process_new(&target, 1);
	bool good = process ? process_attach(process, err) : err_no_memory(err);
	for (u32 i = 0; good && i < process->attached.count; i++) {
		const struct attached *attached = process->attached.at[i];
		if (attached->runtime->describe)
			attached->runtime->describe(attached->state, out);
	}
	if (good && process->warning[0])
		str_addf(out, "warning: %s\n", process->warning);
	if (process)
		process_free(process);
	target_close(&target);
	return good;
}
