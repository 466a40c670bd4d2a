/* SPDX-License-Identifier: Apache-2.0
 * kernel.c - the kernel engine: each CPU's clock interrupts whatever runs there, and a program in the kernel walks the stack.
 *
 *	interrupt -> record -> ring -> struct sample
 *
 * Nothing is asked of the target and nothing of it is stopped; a thread that does not run costs nothing.  All that is told
 * comes by one ring, in the order in which it happened: samples, forks, execs, ends.
 *
 * Code that nobody has told the kernel of (a process behind an exec, a library that was just loaded) is read when
 * the first sample of it comes: this record holds registers and stack, and is walked on here. */
#include "base/clock.h"
#include "engines/kernel/run.h"
#include "events/events.h"
#include "target/kin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN LOG_kernel
#include "base/log.h"

enum {
	TABLE_WORDS_MIN = 1 << 21, /* 8 MiB: what children bring has to find room, too */
	TABLE_WORDS_MAX = 1 << 26,
	TABLE_WORDS_ALL = 1 << 24, /* of every process of a machine, and of a command */
};

/* So often the ring is looked at. */
static const u64 POLL_NS = 20 * NS_PER_MS;
/* And for processes that ended without a word, sooner when one seems to be gone. */
static const u64 MISSED_NS = NS_PER_S, GONE_NS = 20 * NS_PER_MS;

/* ---- lives --------------------------------------------------------------------------------- */

static void on_fork(struct run *run, const struct kernel_head *head)
{
	const struct watched *parent = run_find(run, head->parent);

	if (parent && !run_find(run, head->pid))
		run_add_fork(run, parent, head);
}

static void end_threads(struct run *run, struct watched *process, u64 now_ns)
{
	for (u32 i = 0; i < process->threads.count; i++)
		run_on_last(run, process, &process->threads.at[i], now_ns);
}

/* One thread is left, and has the first one's number, whichever called exec. */
static void on_exec(struct run *run, struct watched *process, const struct kernel_head *head)
{
	struct watched_thread *left = watched_thread(process, head->tid);
	struct err err = { 0 };

	if (left && left->runtime_ns < head->runtime_ns)
		left->runtime_ns = head->runtime_ns;
	end_threads(run, process, head->time_ns);
	run_leave_space(run, process);
	run_leave_vms(run, process);
	watched_exec(process, head, ++run->incarnations);
	if (!run_tell(run, process, &err))
		log_debug(1, "process %u: %s", process->pid, err.text);
}

static void on_sample(struct run *run, struct watched *process, const struct kernel_record *record,
		      size_t size)
{
	if (process && record->head.execs > process->execs) /* the ring had no room for it */
		on_exec(run, process, &record->head);
	run_on_sample(run, process, record, size);
}

static void on_end(struct run *run, struct watched *process, const struct kernel_head *head)
{
	struct watched_thread *thread = watched_thread(process, head->tid);

	if (!thread)
		return;
	thread->runtime_ns = head->runtime_ns;
	run_on_last(run, process, thread, head->time_ns);
	watched_forget_thread(process, thread);
	process->has_ended |= head->kind == KERNEL_PROCESS_END;
}

static void on_record(void *arg, const struct kernel_record *record, size_t size)
{
	struct run *run = arg;
	struct watched *process;

	run_take_mappings(run, record->head.time_ns);
	process = run_find(run, record->head.pid);
	switch ((enum kernel_record_kind)record->head.kind) {
	case KERNEL_SAMPLE:
	case KERNEL_SWITCH:
		if (size >= sizeof *record)
			on_sample(run, process, record, size);
		break;
	case KERNEL_FORK:
		on_fork(run, &record->head);
		break;
	case KERNEL_EXEC:
		if (process)
			on_exec(run, process, &record->head);
		break;
	case KERNEL_NAMED:
		if (process)
			kept_names_add(run->kept_names, process->incarnation,
				       (const struct kernel_named *)record, size);
		break;
	case KERNEL_LATENCY:
	case KERNEL_RESUME:
		run_on_latency(run, &record->head);
		break;
	case KERNEL_THREAD_END:
	case KERNEL_PROCESS_END:
		if (process)
			on_end(run, process, &record->head);
		break;
	}
}

/* A process may have ended before the kernel was told of it, or when the ring was full.  What it used is paid as far as it
 * was told; two looks, since what was told may not be read yet. */
static void find_missed_ends(struct run *run, u64 now_ns)
{
	u64 counts[KERNEL_COUNTS];
	bool some_gone = false;

	if (now_ns < run->missed_ns)
		return;
	kernel_program_counts(&run->program, counts);
	for (u32 i = 0; i < run->processes.count; i++) {
		struct watched *process = run->processes.at[i];
		if (process->was_there && !counts[KERNEL_COUNT_LIVES_LOST])
			continue;
		bool is_gone = !target_is_alive(process->pid);
		process->has_ended |= is_gone && process->was_gone;
		process->was_gone = is_gone;
		process->was_there |= !is_gone;
		some_gone |= is_gone;
		if (process->has_ended)
			kernel_code_unwatch(&run->code, process->pid);
	}
	run->missed_ns = now_ns + (some_gone ? GONE_NS : MISSED_NS);
}

/* Two threads that end at once may be told in either order: only now nothing of it can come. */
static void drop_ended(struct run *run, u64 now_ns)
{
	for (u32 i = 0; i < run->processes.count;) {
		struct watched *process = run->processes.at[i];
		if (!process->has_ended) {
			i++;
			continue;
		}
		/* of several that ended at once not all were told */
		end_threads(run, process, now_ns);
		run_drop(run, i);
	}
}

/* ---- pumping ------------------------------------------------------------------------------- */

/* The caller may never come back: what was used until now is handed out now.  (Of a system call that is not over nothing
 * is.) */
static void settle(struct run *run, u64 now_ns)
{
	for (u32 i = 0; !run->options.events && i < run->processes.count; i++) {
		struct watched *process = run->processes.at[i];
		watched_update(process);
		for (u32 t = 0; t < process->threads.count; t++)
			if (process->threads.at[t].unpaid)
				run_pay(run, process, &process->threads.at[t], now_ns);
	}
}

static void kernel_event_counts(const struct run *run, struct engine_event *out)
{
	kernel_program_event_counts(&run->program, out);
}

/* Hits of events that no sample stands for yet. */
static u64 passed_hits(const struct run *run)
{
	u32 count = run->options.events ? run->options.events->all.count : 0;
	struct engine_event *each = count ? calloc(count, sizeof *each) : NULL;
	u64 sum = 0;

	if (each)
		kernel_program_event_counts(&run->program, each);
	for (u32 i = 0; each && i < count; i++)
		sum += each[i].waiting;
	free(each);
	return sum;
}

static void warn_of_lost(struct quality *quality, const u64 counts[KERNEL_COUNTS])
{
	u64 forks = counts[KERNEL_COUNT_FORKS_LOST], lives = counts[KERNEL_COUNT_LIVES_LOST];

	if (quality->warning[0])
		return;
	if (forks)
		snprintf(
			quality->warning, sizeof quality->warning,
			"more than %d processes at once: %llu times a process could not be watched",
			KERNEL_PROCESSES_MAX, (unsigned long long)forks);
	else if (lives)
		snprintf(
			quality->warning, sizeof quality->warning,
			"%llu forks, execs or exits were not reported because the ring was full: these processes were "
			"found by their samples",
			(unsigned long long)lives);
}

static void count_expected(struct run *run)
{
	u64 counts[KERNEL_COUNTS];
	struct quality *quality = &run->quality;

	kernel_program_counts(&run->program, counts);
	kernel_program_consume(&run->program); /* all that was counted is in the ring */
	quality->lost.dropped = counts[KERNEL_COUNT_DROPPED];
	warn_of_lost(quality, counts);
	quality->lost.passed = passed_hits(run);
	u64 told = quality->taken + quality_lost(quality);
	u64 counted = counts[KERNEL_COUNT_SAMPLES] + quality->lost.passed;
	quality->expected = counted > told ? counted : told;
}

static void redraw(struct run *run, u64 now_ns)
{
	if (now_ns >= run->redraw_ns)
		run->redraw_ns = kernel_program_redraw(&run->program, now_ns);
}

static u64 least(const u64 *all, u32 count)
{
	u64 found = all[0];

	for (u32 i = 1; i < count; i++)
		found = all[i] < found ? all[i] : found;
	return found;
}

static bool kernel_pump(struct run *run, u64 until_ns, sample_fn *fn, void *arg, struct err *err)
{
	run->fn = fn;
	run->arg = arg;
	for (u32 i = 0; !run->has_begun && i < run->processes.count; i++)
		run->processes.at[i]->has_sleepers = true;
	run->has_begun = true;
	for (;;) {
		u64 now = clock_now_ns();
		kernel_program_consume(&run->program);
		run_take_mappings(run, now);
		drop_ended(run, now);
		find_missed_ends(run, now);
		bool has_ended = !run->processes.count && !run->options.all;
		if (has_ended || engine_interrupted() || now >= until_ns) {
			count_expected(run);
			settle(run, now);
			return !has_ended || err_set(err, ERR_NO_PROCESS, "the process has ended");
		}
		redraw(run, now);
		run_take_sleepers(run);
		run_take_passed(run, now);
		run_name_threads(run, now);
		u64 next[] = { until_ns, run->redraw_ns, now + POLL_NS, run_seek_vms(run, now) };
		kernel_program_wait(&run->program, run->mappings.wait_fd,
				    least(next, COUNT_OF(next)));
	}
}

static void kernel_finish(struct run *run, sample_fn *fn, void *arg)
{
	u64 now = clock_now_ns();

	run->fn = fn;
	run->arg = arg;
	s64 carried = run->carried_ns;
	for (u32 i = 0; i < run->processes.count; i++) {
		struct watched *process = run->processes.at[i];
		end_threads(run, process, now);
		carried += process->carried_ns;
		if (!run->quality.warning[0])
			watched_say_never_started(process, run->quality.warning);
	}
	run->quality.cpu_unshared_ns = carried > 0 ? (u64)carried : 0;
}

static void kernel_quality(const struct run *run, struct quality *out)
{
	*out = run->quality;
	out->end_ns = clock_now_ns();
}

static u32 kernel_seen(const struct run *run, struct engine_thread *out, u32 room)
{
	return thread_filter_list(&run->seen, out, room);
}

/* ---- life ---------------------------------------------------------------------------------- */

static void kernel_close(struct run *run)
{
	kernel_program_close(&run->program);
	kernel_mappings_close(&run->mappings);
	kernel_code_fini(&run->code);
	for (u32 i = 0; i < run->processes.count; i++)
		watched_free(run->processes.at[i]);
	vec_free(&run->processes);
	vec_free(&run->seen);
	unwind_files_free(&run->files);
	vec_free(&run->machines);
	assembly_free(run->assembly);
	kept_names_free(run->kept_names);
	free(run->sample);
	free(run);
}

static bool check_options(const struct engine_options *options, struct err *err)
{
	if (!options->events && !engine_check_rate(options, err))
		return false;
	if (options->mode == MODE_LOCK || options->mode == MODE_EXCEPTION)
		return err_set(
			err, ERR_UNSUPPORTED,
			"the kernel engine supports only the modes cpu, wall and offcpu; -e reader supports the others");
	if (options->async != ASYNC_OFF)
		return err_set(err, ERR_UNSUPPORTED,
			       "--async is not supported by the kernel engine; use -e reader");
	if (options->pause == PAUSE_ALWAYS)
		return err_set(
			err, ERR_UNSUPPORTED,
			"--pause=always: the kernel engine never stops a thread; use -e reader");
	if (options->tape_dir)
		return err_set(err, ERR_UNSUPPORTED,
			       "--tape is not supported by the kernel engine; use -e reader");
	return true;
}

static struct run *run_new(const struct engine_options *options, struct err *err)
{
	struct run *run = calloc(1, sizeof *run);

	if (!run || !(run->assembly = assembly_new()) || !(run->kept_names = kept_names_new()) ||
	    !(run->sample = malloc(sizeof *run->sample +
				   ASSEMBLED_MAX * sizeof run->sample->frames[0]))) {
		if (run) {
			assembly_free(run->assembly);
			kept_names_free(run->kept_names);
		}
		free(run);
		err_no_memory(err);
		return NULL;
	}
	run->options = *options;
	unwind_cache_open(&run->files.cache);
	run->files.beside = run_beside;
	run->files.whose = run;
	run->rng.state = options->seed ? options->seed : rng_seed();
	snprintf(run->quality.engine, sizeof run->quality.engine, "kernel");
	return run;
}

/* Twice what the tables of the first process take. What a command maps and starts is not known before. */
static u32 room_for(const struct run *run, const struct watched *process)
{
	bool is_known = process && !run->options.may_start;
	u64 wanted = is_known ? 2 * (u64)kernel_code_words(&process->space) : TABLE_WORDS_ALL;
	u64 words = TABLE_WORDS_MIN;

	while (words < wanted && words < TABLE_WORDS_MAX)
		words *= 2;
	return (u32)words;
}

/* In a container that may not have so much memory it is tried with less. */
static bool open_program(struct run *run, struct kernel_program_options *options, struct err *err)
{
	while (!kernel_program_open(&run->program, options, on_record, run, err)) {
		if (err->code != ERR_NO_MEMORY || options->table_words == TABLE_WORDS_MIN)
			return false;
		kernel_program_close(&run->program);
		options->table_words = TABLE_WORDS_MIN;
	}
	return true;
}

static struct watched *first_process(struct run *run, struct target *target, struct err *err)
{
	struct watched *process = watched_new(target->pid, target, ++run->incarnations,
					      &run->files);

	if (!run_add(run, process)) {
		err_no_memory(err);
		return NULL;
	}
	process->is_new = true;
	process->maps_ns = clock_now_ns(); /* it is open; what it mapped then may be old */
	return watched_read_maps(process, &run->mappings, err) ? process : NULL;
}

static bool start(struct run *run, struct target *target, struct err *err)
{
	struct kernel_program *program = &run->program;
	enum engine_mode mode = run->options.mode;
	struct watched *process = NULL;
	struct err no_news = { 0 };

	engine_raise_file_limit();
	if (!kernel_mappings_open(&run->mappings, &no_news))
		log_debug(1, "mappings: %s", no_news.text);
	if (target && !(process = first_process(run, target, err)))
		return false;
	struct kernel_program_options options = {
		.hz = run->options.hz,
		.table_words = room_for(run, process),
		.children = run->options.children,
		.no_native = run->options.no_native,
		.no_kernel = run->options.no_kernel,
		.seed = rng_u64(&run->rng),
		.events = run->options.events,
		.with_clock = !run->options.events && mode != MODE_OFFCPU,
		.with_switches = !run->options.events && mode != MODE_CPU,
		.with_preempted = mode == MODE_WALL,
		.every = run->options.every,
		.pid = target ? target->pid : 0,
		.watch_all = run->options.all,
		.cgroup = run->options.cgroup,
		.latency_min_ns = run->options.latency_min_ns,
		.send_latency = run->options.event_weighs_time
	};
	if (!open_program(run, &options, err))
		return false;
	run->code = (struct kernel_code){ .processes_fd = program->processes_fd,
					  .spaces_fd = program->spaces_fd,
					  .machines_fd = program->machines_fd,
					  .riders_fd = program->riders_fd };
	if (!kernel_code_init(&run->code, program->tables_fd, options.table_words, err) ||
	    (process && !run_tell_space(run, process, err)))
		return false;
	if (process)
		run_begin_threads(run, process);
	run->quality.begin_ns = clock_now_ns();
	if (!kernel_program_start_lives(program, err))
		return false;
	if (process && run->options.children)
		run_add_descendants(run, process->pid);
	run_take_mappings(run, clock_now_ns()); /* loading the program took its time */
	return kernel_program_start(program, err);
}

static struct run *kernel_open(struct target *target, const struct engine_options *options,
			       struct err *err)
{
	struct run *run = check_options(options, err) ? run_new(options, err) : NULL;

	if (!run || start(run, target, err))
		return run;
	kernel_close(run);
	return NULL;
}

const struct engine kernel_engine = {
	.name = "kernel",
	.has_natives = true,
	.has_events = true,
	.has_all = true,
	.modes = 1 << MODE_CPU | 1 << MODE_WALL | 1 << MODE_OFFCPU,
	.open = kernel_open,
	.pump = kernel_pump,
	.finish = kernel_finish,
	.quality = kernel_quality,
	.seen = kernel_seen,
	.event_counts = kernel_event_counts,
	.close = kernel_close,
};
