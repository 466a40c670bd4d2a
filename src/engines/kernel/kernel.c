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
#include "engines/engine.h"
#include "engines/kernel/assemble.h"
#include "engines/kernel/program.h"
#include "engines/kernel/watched.h"
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
};

/* So often the ring is looked at, and a thread's samples get their weight. */
static const u64 POLL_NS = 20 * NS_PER_MS, PAY_NS = NS_PER_S;
/* And how often a VM is asked for its threads. */
static const u64 RIDERS_NS = 10 * NS_PER_MS;
/* And whether the ring was full when somebody ended. */
static const u64 MISSED_NS = NS_PER_S;

struct run {
	struct engine_options options;
	struct kernel_program program;
	struct kernel_code code;
	struct unwind_files files;
	VEC(struct watched *) processes;
	u64 incarnations;
	struct quality quality;
	struct rng rng;
	u64 redraw_ns, missed_ns; /* when to do these again */
	sample_fn *fn;
	void *arg;
	struct assembly *assembly;
	struct sample *sample; /* room for ASSEMBLED_MAX frames */
};

/* ---- processes ----------------------------------------------------------------------------- */

static struct watched *find(const struct run *run, u32 pid)
{
	for (u32 i = 0; i < run->processes.count; i++)
		if (run->processes.at[i]->pid == pid)
			return run->processes.at[i];
	return NULL;
}

static bool add(struct run *run, struct watched *process)
{
	if (process && vec_push(&run->processes, process)) {
		run->quality.processes++;
		return true;
	}
	if (process)
		watched_free(process);
	return false;
}

/* Does another process use the kernel's space (or machine), too? */
static bool is_shared(const struct run *run, const struct watched *process, bool machine)
{
	for (u32 i = 0; i < run->processes.count; i++) {
		const struct watched *other = run->processes.at[i];
		if (other != process &&
		    (machine ? other->machine_number == process->machine_number :
			       other->space_number == process->space_number))
			return true;
	}
	return false;
}

static void leave_space(struct run *run, struct watched *process)
{
	if (process->space_number && !is_shared(run, process, false))
		kernel_code_remove(&run->code, process->space_number);
	process->space_number = 0;
}

static void leave_machine(struct run *run, struct watched *process)
{
	if (process->machine_number && !is_shared(run, process, true))
		kernel_code_remove_machine(&run->code, process->machine_number);
	process->machine_number = 0;
}

static bool tell_process(struct run *run, const struct watched *process, struct err *err)
{
	struct kernel_process told = { .space = process->space_number,
				       .execs = process->execs,
				       .machine = process->machine_number,
				       .is_held = run->options.may_start && !process->execs &&
						  run->processes.at[0] == process };

	return kernel_code_watch(&run->code, process->pid, &told, err);
}

struct telling {
	struct run *run;
	u32 pid;
};

static void tell_rider(void *arg, u32 tid, u64 thread)
{
	const struct telling *telling = arg;

	kernel_code_add_rider(&telling->run->code, telling->pid, tid, thread);
}

/* Where threads have no word that leads to the VM's: now and then, for new ones. */
static void tell_riders(struct run *run, struct watched *process)
{
	struct telling telling = { .run = run, .pid = process->pid };
	u64 now = clock_now_ns();

	if (process->machine.own_word || now < process->ask_ns)
		return;
	process->ask_ns = now + RIDERS_NS;
	machine_riders(&process->machine, process->target, tell_rider, &telling);
}

/* Looks for the VM that it may run. */
static bool tell_machine(struct run *run, struct watched *process, struct err *err)
{
	struct kernel_machine told;
	u32 number;

	if (!watched_find_machine(process, run->quality.warning))
		return true;
	machine_tell(&process->machine, &told);
	if (!kernel_code_add_machine(&run->code, &told, &number, err))
		return false;
	process->machine_number = number;
	process->ask_ns = 0;
	tell_riders(run, process);
	return tell_process(run, process, err);
}

/* Tells the kernel what it maps, as far as that is known. */
static bool tell_space(struct run *run, struct watched *process, struct err *err)
{
	u32 number;

	if (!kernel_code_add(&run->code, &process->space, &number, err))
		return false;
	leave_space(run, process);
	process->space_number = number;
	if (run->code.full && !run->quality.warning[0])
		snprintf(
			run->quality.warning, sizeof run->quality.warning,
			"process %u maps more code than the kernel's tables hold: some of its stacks are "
			"walked by sonde itself",
			process->pid);
	process->ask_ns = 0;
	return tell_process(run, process, err) && tell_machine(run, process, err);
}

/* Reads that first. */
static bool tell(struct run *run, struct watched *process, struct err *err)
{
	return watched_read_maps(process, err) && tell_space(run, process, err);
}

/* ---- samples ------------------------------------------------------------------------------- */

struct kernel_source {
	struct sample_source source; /* first */
	const struct run *run;
	const struct watched *process;
	u64 vm_thread; /* 0: none */
};

static const struct runtime *runtime_of(const struct sample_source *source, u16 kind,
					const void **state)
{
	const struct kernel_source *self = (const struct kernel_source *)source;
	const struct attached *attached = attached_of_kind(&self->process->attached, kind);

	*state = attached ? attached->state : NULL;
	return attached ? attached->runtime : NULL;
}

static u64 generation_now(const struct sample_source *source)
{
	const struct kernel_source *self = (const struct kernel_source *)source;

	return self->vm_thread ? attached_generation(self->process->machine.attached, source->mem,
						     self->vm_thread) :
				 self->process->space_number;
}

static bool frame_is_live(const struct sample_source *source, const struct frame *frame)
{
	const struct kernel_source *self = (const struct kernel_source *)source;

	return self->vm_thread && attached_has_frame(self->process->machine.attached, source->mem,
						     self->vm_thread, frame);
}

static const char *event_name(const struct sample_source *source, u64 event)
{
	const struct event_list *events =
		((const struct kernel_source *)source)->run->options.events;

	return events && event < events->all.count ? events->all.at[event].name : NULL;
}

static const struct image *image_of(const struct sample_source *source, u64 owner)
{
	const struct run *run = ((const struct kernel_source *)source)->run;

	return owner && owner <= run->files.all.count ? run->files.all.at[owner - 1]->image : NULL;
}

static void hand_out(struct run *run, const struct watched *process,
		     const struct watched_thread *thread, u64 vm_thread,
		     const struct sample *sample)
{
	struct kernel_source source = {
		.source = { .target = process->target,
			    .mem = &process->target->mem.mem,
			    .incarnation = process->incarnation,
			    .runtime_of = runtime_of,
			    .generation_now = generation_now,
			    .frame_is_live = frame_is_live,
			    .image_of = image_of,
			    .event_name = event_name,
			    .thread_name = thread->comm,
			    .thread_life = thread->life },
		.run = run,
		.process = process,
		.vm_thread = process->machine_number ? vm_thread : 0,
	};

	run->fn(run->arg, sample, &source.source);
}

/* Of the samples that have no weight yet. */
static void share(struct run *run, const struct watched *process, struct watched_thread *thread,
		  u64 weight, u64 now_ns)
{
	struct sample sample = { .time_ns = now_ns,
				 .weight = weight,
				 .pid = process->pid,
				 .tid = thread->tid,
				 .kind = SAMPLE_SHARE };

	hand_out(run, process, thread, 0, &sample);
	thread->unpaid = 0;
}

/* Its samples since the last time share what it has used since then.  An event that waits for its latency had none: it
 * is over when something else is. */
static void pay(struct run *run, const struct watched *process, struct watched_thread *thread,
		u64 now_ns)
{
	u64 owed = thread->runtime_ns - thread->paid_ns;

	if (run->options.events) {
		if (thread->unpaid)
			share(run, process, thread, 0, now_ns);
		return;
	}
	if (thread->unpaid && !owed)
		return; /* the kernel adds up at its ticks */
	if (thread->unpaid)
		share(run, process, thread, owed, now_ns);
	else
		run->quality.cpu_unshared_ns += owed;
	thread->paid_ns = thread->runtime_ns;
	thread->paid_at_ns = now_ns;
}

static bool is_wanted(const struct run *run, const struct watched_thread *thread)
{
	const struct engine_options *options = &run->options;

	return (!options->tid || options->tid == thread->tid) &&
	       (!options->thread_name || !strcmp(options->thread_name, thread->comm));
}

static void count_sample(struct run *run, const struct sample *sample)
{
	run->quality.samples++;
	run->quality.leftover += sample->leftover;
	run->quality.truncated += (sample->flags & SAMPLE_TRUNCATED) != 0;
	run->quality.complete += !(sample->flags & ~(u32)SAMPLE_UNPAID);
}

/* With what the record shows that it has and the kernel was not told of: code, a VM, a thread of it. */
static void catch_up(struct run *run, struct watched *process, const struct kernel_record *record,
		     size_t size)
{
	const struct kernel_head *head = &record->head;
	/* without native frames nothing in the record says that a VM was loaded */
	bool may_load_one = run->options.no_native && !process->machine_number;
	u64 unknown = may_load_one ? 0 : assembled_end(record, size);
	struct err err = { 0 };
	bool good = true;

	if ((head->has_rest || may_load_one) &&
	    watched_wants_maps(process, unknown, head->time_ns)) {
		good = tell(run, process, &err);
		if (good && unwind_space_at(&process->space, unknown))
			process->maps_wait_ns = 0; /* it helped */
	}
	if (process->may_have_one && !process->machine_number)
		good = good && tell_machine(run, process, &err);
	if (process->machine_number && !head->vm_thread)
		tell_riders(run, process);
	if (!good)
		log_debug(1, "process %u: %s", process->pid, err.text);
}

/* Does its weight come later: with the CPU time, or when the system call ends? */
static bool is_unpaid(const struct run *run, const struct kernel_head *head)
{
	const struct event_list *events = run->options.events;
	u32 index = head->event - 1u;

	if (!head->event)
		return true;
	return run->options.event_weighs_time && index < events->all.count && !head->latency_ns &&
	       events->all.at[index].kind == EVENT_SYSCALL;
}

static u64 weight_of(const struct run *run, const struct kernel_head *head)
{
	return run->options.event_weighs_time ? head->latency_ns * head->hits : 0;
}

static void on_latency(struct run *run, const struct kernel_head *head)
{
	struct watched *process = find(run, head->pid);
	struct watched_thread *thread = process ? watched_thread(process, head->tid) : NULL;

	if (thread && thread->unpaid)
		share(run, process, thread, head->latency_ns * head->hits, head->time_ns);
}

static void on_sample(struct run *run, const struct kernel_record *record, size_t size)
{
	const struct kernel_head *head = &record->head;
	struct watched *process = find(run, head->pid);
	struct watched_thread *thread = process ? watched_thread(process, head->tid) : NULL;
	struct sample *sample = run->sample;

	if (!thread) {
		run->quality.lost.gone++;
		return;
	}
	catch_up(run, process, record, size);
	memcpy(thread->comm, head->comm, sizeof thread->comm);
	thread->runtime_ns = head->runtime_ns > thread->runtime_ns ? head->runtime_ns :
								     thread->runtime_ns;
	run->quality.taken += head->hits;
	if (!is_wanted(run, thread)) {
		run->quality.idle++;
		return;
	}
	if (head->event)
		pay(run, process, thread, head->time_ns);
	*sample = (struct sample){ .time_ns = head->time_ns,
				   .weight = weight_of(run, head),
				   .pid = head->pid,
				   .tid = head->tid,
				   .cpu = head->cpu,
				   .kind = head->event ? SAMPLE_EVENT : SAMPLE_CPU,
				   .flags = is_unpaid(run, head) ? SAMPLE_UNPAID : 0,
				   .more = head->hits - 1 };
	assemble(run->assembly, process, record, size, run->options.event_at_root, sample);
	count_sample(run, sample);
	if (!thread->paid_at_ns) {
		thread->paid_at_ns = head->time_ns;
		run->quality.threads++;
	}
	hand_out(run, process, thread, head->vm_thread, sample);
	thread->unpaid += (sample->flags & SAMPLE_UNPAID) != 0;
	if (!head->event && head->time_ns > thread->paid_at_ns + PAY_NS)
		pay(run, process, thread, head->time_ns);
}

/* ---- lives --------------------------------------------------------------------------------- */

static void on_fork(struct run *run, const struct kernel_head *head)
{
	const struct watched *parent = find(run, head->parent);

	if (parent && !find(run, head->pid))
		add(run, watched_fork(parent, head->pid, head->time_ns, ++run->incarnations));
}

static void on_exec(struct run *run, const struct kernel_head *head)
{
	struct watched *process = find(run, head->pid);
	struct err err = { 0 };

	if (!process)
		return;
	for (u32 i = 0; i < process->threads.count; i++)
		pay(run, process, &process->threads.at[i], head->time_ns);
	leave_space(run, process);
	leave_machine(run, process);
	watched_exec(process, ++run->incarnations);
	if (!tell(run, process, &err))
		log_debug(1, "process %u: %s", process->pid, err.text);
}

static void on_end(struct run *run, const struct kernel_head *head)
{
	struct watched *process = find(run, head->pid);
	struct watched_thread *thread = process ? watched_thread(process, head->tid) : NULL;

	if (!thread)
		return;
	thread->runtime_ns = head->runtime_ns;
	pay(run, process, thread, head->time_ns);
	watched_forget_thread(process, thread);
	process->has_ended |= head->kind == KERNEL_PROCESS_END;
}

static void on_record(void *arg, const struct kernel_record *record, size_t size)
{
	struct run *run = arg;

	switch ((enum kernel_record_kind)record->head.kind) {
	case KERNEL_SAMPLE:
		if (size >= sizeof *record)
			on_sample(run, record, size);
		break;
	case KERNEL_FORK:
		on_fork(run, &record->head);
		break;
	case KERNEL_EXEC:
		on_exec(run, &record->head);
		break;
	case KERNEL_LATENCY:
		on_latency(run, &record->head);
		break;
	case KERNEL_THREAD_END:
	case KERNEL_PROCESS_END:
		on_end(run, &record->head);
		break;
	}
}

/* The ring may have been full when a process ended.  What it used is paid as far as it was told; two looks, since what
 * was told may not be read yet. */
static void find_missed_ends(struct run *run, u64 now_ns)
{
	u64 counts[KERNEL_COUNTS];

	if (now_ns < run->missed_ns)
		return;
	run->missed_ns = now_ns + MISSED_NS;
	kernel_program_counts(&run->program, counts);
	for (u32 i = 0; counts[KERNEL_COUNT_LIVES_LOST] && i < run->processes.count; i++) {
		struct watched *process = run->processes.at[i];
		bool is_gone = !target_is_alive(process->pid);
		process->has_ended |= is_gone && process->was_gone;
		process->was_gone = is_gone;
		for (u32 t = 0; process->has_ended && t < process->threads.count; t++)
			pay(run, process, &process->threads.at[t], now_ns);
	}
}

/* Two threads that end at once may be told in either order: only now nothing of it can come. */
static void drop_ended(struct run *run)
{
	for (u32 i = 0; i < run->processes.count;) {
		struct watched *process = run->processes.at[i];
		if (!process->has_ended) {
			i++;
			continue;
		}
		leave_space(run, process);
		leave_machine(run, process);
		watched_free(process);
		run->processes.at[i] = run->processes.at[--run->processes.count];
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
				pay(run, process, &process->threads.at[t], now_ns);
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

static void count_expected(struct run *run)
{
	u64 counts[KERNEL_COUNTS];
	struct quality *quality = &run->quality;

	kernel_program_counts(&run->program, counts);
	kernel_program_consume(&run->program); /* all that was counted is in the ring */
	quality->lost.dropped = counts[KERNEL_COUNT_DROPPED];
	if (counts[KERNEL_COUNT_FORKS_LOST] && !quality->warning[0])
		snprintf(quality->warning, sizeof quality->warning,
			 "%llu children were not followed: more than %d processes at once",
			 (unsigned long long)counts[KERNEL_COUNT_FORKS_LOST], KERNEL_PROCESSES_MAX);
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

static bool kernel_pump(struct run *run, u64 until_ns, sample_fn *fn, void *arg, struct err *err)
{
	run->fn = fn;
	run->arg = arg;
	for (;;) {
		kernel_program_consume(&run->program);
		drop_ended(run);
		u64 now = clock_now_ns();
		find_missed_ends(run, now);
		bool has_ended = !run->processes.count;
		if (has_ended || engine_interrupted() || now >= until_ns) {
			count_expected(run);
			settle(run, now);
			return !has_ended || err_set(err, ERR_NO_PROCESS, "the process has ended");
		}
		redraw(run, now);
		u64 next = run->redraw_ns < now + POLL_NS ? run->redraw_ns : now + POLL_NS;
		kernel_program_wait(&run->program, next < until_ns ? next : until_ns);
	}
}

static void kernel_quality(const struct run *run, struct quality *out)
{
	*out = run->quality;
	out->end_ns = clock_now_ns();
}

/* ---- life ---------------------------------------------------------------------------------- */

static void kernel_close(struct run *run)
{
	kernel_program_close(&run->program);
	kernel_code_fini(&run->code);
	for (u32 i = 0; i < run->processes.count; i++)
		watched_free(run->processes.at[i]);
	vec_free(&run->processes);
	unwind_files_free(&run->files);
	assembly_free(run->assembly);
	free(run->sample);
	free(run);
}

static bool check_options(const struct engine_options *options, struct err *err)
{
	if (!options->events && !engine_check_rate(options, err))
		return false;
	if (options->mode != MODE_CPU)
		return err_set(
			err, ERR_UNSUPPORTED,
			"the kernel engine samples who runs (mode cpu): -e reader has the other modes");
	if (options->async != ASYNC_OFF)
		return err_set(
			err, ERR_UNSUPPORTED,
			"--async: the kernel engine knows threads only: -e reader knows tasks");
	return true;
}

static struct run *run_new(const struct engine_options *options, struct err *err)
{
	struct run *run = calloc(1, sizeof *run);

	if (!run || !(run->assembly = assembly_new()) ||
	    !(run->sample = malloc(sizeof *run->sample +
				   ASSEMBLED_MAX * sizeof run->sample->frames[0]))) {
		if (run)
			assembly_free(run->assembly);
		free(run);
		err_no_memory(err);
		return NULL;
	}
	run->options = *options;
	run->rng.state = options->seed ? options->seed : rng_seed();
	snprintf(run->quality.engine, sizeof run->quality.engine, "kernel");
	return run;
}

/* Twice what the tables of the first process take. */
static u32 room_for(const struct watched *process)
{
	u64 words = TABLE_WORDS_MIN, wanted = 2 * (u64)kernel_code_words(&process->space);

	while (words < wanted && words < TABLE_WORDS_MAX)
		words *= 2;
	return (u32)words;
}

static bool start(struct run *run, struct target *target, struct err *err)
{
	struct kernel_program *program = &run->program;
	struct watched *process = watched_new(target->pid, target, ++run->incarnations,
					      &run->files);

	if (!add(run, process))
		return err_no_memory(err);
	process->maps_ns = clock_now_ns(); /* the target was opened with them */
	if (!unwind_space_fill(&process->space))
		return err_no_memory(err);
	struct kernel_program_options options = { .hz = run->options.hz,
						  .table_words = room_for(process),
						  .children = run->options.children,
						  .no_native = run->options.no_native,
						  .no_kernel = run->options.no_kernel,
						  .seed = rng_u64(&run->rng),
						  .events = run->options.events,
						  .every = run->options.every,
						  .pid = target->pid,
						  .latency_min_ns = run->options.latency_min_ns,
						  .send_latency = run->options.event_weighs_time };
	if (!kernel_program_open(program, &options, on_record, run, err))
		return false;
	run->code = (struct kernel_code){ .processes_fd = program->processes_fd,
					  .spaces_fd = program->spaces_fd,
					  .machines_fd = program->machines_fd,
					  .riders_fd = program->riders_fd };
	if (!kernel_code_init(&run->code, program->tables_fd, options.table_words, err) ||
	    !tell_space(run, process, err))
		return false;
	watched_begin(process);
	run->quality.begin_ns = clock_now_ns();
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
	.open = kernel_open,
	.pump = kernel_pump,
	.quality = kernel_quality,
	.event_counts = kernel_event_counts,
	.close = kernel_close,
};
