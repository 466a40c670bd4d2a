/* SPDX-License-Identifier: Apache-2.0
 * samples.c - see run.h. */
#include "engines/kernel/run.h"
#include "engines/kernel/thread_name.h"

#include "base/clock.h"
#include "events/events.h"

#include <string.h>

/* So often a thread's samples get their weight. */
static const u64 PAY_NS = NS_PER_S;

struct kernel_source {
	struct sample_source source; /* first */
	const struct run *run;
	const struct watched *process;
	const struct kernel_vm *vms; /* of the sample; NULL: none */
};

static const struct runtime *runtime_of(const struct sample_source *source, u16 kind,
					const void **state)
{
	const struct kernel_source *self = (const struct kernel_source *)source;
	const struct attached *attached = attached_of_kind(&self->process->attached, kind);

	*state = attached ? attached->state : NULL;
	return attached ? attached->runtime : NULL;
}

/* The VM's thread that the sample's is; 0: none. */
static u64 vm_thread(const struct kernel_source *self, u32 vm)
{
	return self->vms && self->process->vms[vm].number ? self->vms[vm].thread : 0;
}

static u64 generation_now(const struct sample_source *source)
{
	const struct kernel_source *self = (const struct kernel_source *)source;
	u64 each[KERNEL_VMS] = { 0 };

	for (u32 i = 0; i < KERNEL_VMS; i++)
		if (vm_thread(self, i))
			each[i] = attached_generation(self->process->vms[i].machine.attached,
						      source->mem, vm_thread(self, i));
	return assembled_generation(self->process, self->vms, each);
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

static bool mapped_at(const struct sample_source *source, u64 owner, u32 index,
		      struct engine_mapping *out)
{
	const struct unwind_space *space = &((const struct kernel_source *)source)->process->space;

	for (u32 i = 0; i < space->ranges.count; i++) {
		const struct unwind_range *range = &space->ranges.at[i];
		if (!range->file || range->file->number != owner || index--)
			continue;
		*out = (struct engine_mapping){ range->start, range->end,
						range->start - range->base };
		return true;
	}
	return false;
}

static const struct mem *elsewhere(const struct sample_source *source, const struct frame *frame,
				   u32 number)
{
	const struct kernel_source *self = (const struct kernel_source *)source;

	return run_elsewhere(self->run, self->process, self->vms, frame, number);
}

void run_hand_out(struct run *run, const struct watched *process,
		  const struct watched_thread *thread, const struct kernel_vm *vms,
		  const struct sample *sample)
{
	struct kernel_source source = {
		.source = { .target = process->target,
			    .mem = &process->target->mem.mem,
			    .incarnation = process->incarnation,
			    .forked_from = process->forked_from,
			    .forked_ns = process->forked_ns,
			    .runtime_of = runtime_of,
			    .generation_now = generation_now,
			    .elsewhere = elsewhere,
			    .image_of = image_of,
			    .mapped_at = mapped_at,
			    .event_name = event_name,
			    .thread_name = thread->name,
			    .thread_life = thread->life },
		.run = run,
		.process = process,
		.vms = vms,
	};

	run->fn(run->arg, sample, &source.source);
}

static bool is_wanted(const struct run *run, const struct watched *process,
		      struct watched_thread *thread)
{
	if (run->options.tid && !thread->inner_tid)
		thread->inner_tid = target_inner_tid(process->target, thread->tid);
	return thread_filter_passes(&run->options, thread->tid, thread->inner_tid, thread->name);
}

void run_note_seen(struct run *run, const struct watched *process, struct watched_thread *thread)
{
	struct engine_thread seen = { .tid = thread->tid,
				      .wanted = is_wanted(run, process, thread) };

	if (!thread_filter_is_set(&run->options))
		return;
	memcpy(seen.name, thread->name, sizeof seen.name);
	thread_filter_note(&run->seen, &seen);
}

static void count_sample(struct run *run, const struct sample *sample)
{
	run->quality.samples++;
	run->quality.leftover += sample->leftover != 0;
	run->quality.truncated += (sample->flags & SAMPLE_TRUNCATED) != 0;
	run->quality.complete += !(sample->flags & ~(u32)SAMPLE_UNPAID);
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

void run_on_latency(struct run *run, const struct kernel_head *head)
{
	struct watched *process = run_find(run, head->pid);
	struct watched_thread *thread = process ? watched_thread(process, head->tid) : NULL;
	bool is_resume = head->kind == KERNEL_RESUME;

	if (thread && thread->unpaid && is_resume == (thread->off_ns != 0))
		run_share(run, process, thread, head->latency_ns * (is_resume ? 1 : head->hits),
			  head->time_ns);
}

/* Does it wait for the VM's lock? */
static bool waits_for(const struct watched *process, const struct kernel_head *head, u32 number)
{
	const struct watched_vm *vm = &process->vms[number];
	const struct attached *attached = vm->number ? vm->machine.attached : NULL;

	if (!attached || !head->vms[number].thread)
		return false;
	return (head->wants_lock >> number & 1) ||
	       (head->futex && attached->runtime->is_lock &&
		attached->runtime->is_lock(&process->target->mem.mem, attached->state,
					   head->futex));
}

/* What it sleeps on is a VM's lock: as the leaf. */
static void name_lock(const struct watched *process, const struct kernel_head *head,
		      struct sample *sample)
{
	const struct runtime *runtime = NULL;

	for (u32 i = 0; i < KERNEL_VMS; i++)
		if (waits_for(process, head, i))
			runtime = process->vms[i].machine.attached->runtime;
	if (!runtime || sample->depth >= ASSEMBLED_MAX)
		return;
	memmove(sample->frames + 1, sample->frames, sample->depth * sizeof sample->frames[0]);
	sample->frames[0] = (struct frame){ .kind = FRAME_MARK, .id = runtime->waits };
	sample->depth++;
}

static enum sample_kind kind_of(const struct kernel_head *head)
{
	if (head->kind == KERNEL_SWITCH)
		return SAMPLE_OFFCPU;
	return head->event ? SAMPLE_EVENT : SAMPLE_CPU;
}

/* Of a thread that nobody knew: what it has used before it was looked at is not known, but for a period of the clock. */
static u64 before_our_time(const struct run *run, const struct kernel_head *head)
{
	u64 period = run->options.hz ? NS_PER_S / run->options.hz : 0;

	return head->runtime_ns > period ? head->runtime_ns - period : 0;
}

/* VMs run one thread after the other on a native one: each has its own name, stacks and CPU time. */
static void bind(struct run *run, struct watched *process, struct watched_thread *thread,
		 const struct kernel_head *head)
{
	u64 vm_thread = 0;
	u32 vm = 0;

	while (vm < KERNEL_VMS && !(vm_thread = head->vms[vm].thread))
		vm++;
	if (!vm_thread || vm_thread == thread->vm_thread)
		return;
	if (thread->vm_thread) {
		run_pay(run, process, thread, head->time_ns);
		thread->life = ++process->lives;
		thread->name[0] = 0;
	}
	thread->vm_thread = vm_thread;
	thread->vm = vm;
}

static void note_generations(struct watched *process, const struct kernel_head *head)
{
	for (u32 i = 0; i < KERNEL_VMS; i++)
		if (head->vms[i].thread && head->vms[i].generation)
			process->vms[i].generation = head->vms[i].generation;
}

/* May there be one that nobody has told us of? */
static bool may_be_new(const struct run *run)
{
	u64 counts[KERNEL_COUNTS];

	if (run->options.all)
		return true;
	kernel_program_counts(&run->program, counts);
	return run->options.children && counts[KERNEL_COUNT_LIVES_LOST];
}

void run_on_sample(struct run *run, struct watched *process, const struct kernel_record *record,
		   size_t size)
{
	const struct kernel_head *head = &record->head;
	if (!process && may_be_new(run))
		process = run_adopt(run, head);
	/* it has no number once it is released */
	bool is_over = process &&
		       (!head->tid || watched_has_ended(process, head->tid, head->runtime_ns));
	struct watched_thread *thread = process && !is_over ? watched_thread(process, head->tid) :
							      NULL;
	struct sample *sample = run->sample;

	if (!thread) {
		run->quality.lost.gone += head->hits;
		return;
	}
	run_catch_up(run, process, record, size);
	run_bring_in(process, head);
	thread->runtime_ns = head->runtime_ns > thread->runtime_ns ? head->runtime_ns :
								     thread->runtime_ns;
	run->quality.taken += head->hits;
	note_generations(process, head);
	bind(run, process, thread, head);
	if (thread_name_update(process, thread, head))
		run_note_seen(run, process, thread);
	if (!is_wanted(run, process, thread)) {
		run->quality.idle += head->hits;
		return;
	}
	if (thread->off_ns) /* that it runs again was not told */
		run_share(run, process, thread, 0, head->time_ns);
	if (kind_of(head) != SAMPLE_CPU) /* the next share is not theirs */
		run_pay(run, process, thread, head->time_ns);
	*sample = (struct sample){ .time_ns = head->time_ns,
				   .weight = weight_of(run, head),
				   .pid = head->pid,
				   .tid = head->tid,
				   .cpu = head->cpu,
				   .kind = (u16)kind_of(head),
				   .flags = is_unpaid(run, head) ? SAMPLE_UNPAID : 0,
				   .more = head->hits - 1 };
	assemble(run->assembly, process, record, size, run->options.event_at_root, sample);
	if (head->kind == KERNEL_SWITCH)
		name_lock(process, head, sample);
	count_sample(run, sample);
	if (!thread->paid_at_ns) {
		thread->paid_at_ns = head->time_ns;
		if (process->was_met && !thread->paid_ns)
			thread->paid_ns = before_our_time(run, head);
	}
	run->quality.threads += !thread->was_sampled;
	thread->was_sampled = true;
	run_hand_out(run, process, thread, head->vms, sample);
	thread->unpaid += (sample->flags & SAMPLE_UNPAID) != 0;
	thread->off_ns = head->kind == KERNEL_SWITCH ? head->time_ns : 0;
	if (sample->kind == SAMPLE_CPU && head->time_ns > thread->paid_at_ns + PAY_NS)
		run_pay(run, process, thread, head->time_ns);
}
