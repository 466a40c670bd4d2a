/* SPDX-License-Identifier: Apache-2.0
 * sleepers.c - see run.h.
 *
 * The kernel says which threads sleep, and with which registers; stack and managed frames are read from outside.  Who has
 * run meanwhile has another number of runs, and is left to the scheduler's own news. */
#include "engines/kernel/run.h"

#include "base/clock.h"
#include "mem/mem.h"

#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN LOG_kernel
#include "base/log.h"

enum { THREADS_MOST = 1 << 16, CALL_FUTEX = 202 /* x86-64 */ };

/* Where struct pt_regs has them (arch/x86/include/uapi/asm/ptrace.h). */
enum { AT_ORIG_RAX = 15, AT_RIP = 16, AT_RSP = 19 };
static const u8 register_at[][2] = {
	{ X86_R15, 0 },  { X86_R14, 1 },  { X86_R13, 2 },  { X86_R12, 3 },  { X86_RBP, 4 },
	{ X86_RBX, 5 },  { X86_R11, 6 },  { X86_R10, 7 },  { X86_R9, 8 },   { X86_R8, 9 },
	{ X86_RAX, 10 }, { X86_RCX, 11 }, { X86_RDX, 12 }, { X86_RSI, 13 }, { X86_RDI, 14 },
};
_Static_assert((int)AT_RSP < (int)KERNEL_REGS, "in struct pt_regs");

static struct unwind_walk walk_from(const struct kernel_sleeper *sleeper)
{
	struct unwind_walk walk = { .pc = sleeper->regs[AT_RIP],
				    .sp = sleeper->regs[AT_RSP],
				    .known = (1u << UNWIND_REGISTERS) - 1 };

	for (u32 i = 0; i < COUNT_OF(register_at); i++)
		walk.value[register_at[i][0]] = sleeper->regs[register_at[i][1]];
	return walk;
}

/* A record as the programs would write it. */
struct taking {
	struct run *run;
	struct kernel_record *record; /* room for everything */
	size_t size;
};

static void *put(struct taking *taking, size_t bytes)
{
	void *at = (u8 *)taking->record + taking->size;

	taking->size += bytes;
	return at;
}

static u64 thread_of(const struct watched *process, const struct machine *machine,
		     const struct kernel_sleeper *sleeper, struct vm_thread *out)
{
	const struct attached *attached = machine->attached;
	const struct runtime *runtime = attached->runtime;
	const struct mem *mem = &process->target->mem.mem;
	bool has_word = machine_has_word(machine);
	u64 where = 0, word = machine_word(machine, mem, sleeper->fsbase);

	for (u32 n = 0; n < THREADS_MOST; n++) {
		*out = (struct vm_thread){ 0 };
		if (runtime->next_thread(mem, attached->state, &where, out) != STEP_MORE)
			break;
		if (has_word ?
			    word && runtime->own_word(mem, attached->state, out->thread) == word :
			    out->tid == sleeper->tid)
			return out->thread;
	}
	return 0;
}

/* Of several that its native thread runs by turns, one that has frames; else `out` stays. */
static void take_turn(const struct watched *process, const struct machine *machine,
		      const struct kernel_sleeper *sleeper, struct vm_thread *out)
{
	const struct attached *attached = machine->attached;
	const struct runtime *runtime = attached->runtime;
	const struct mem *mem = &process->target->mem.mem;
	struct walk walk = { 0 };
	u64 where = 0;

	if (!runtime->has_turns ||
	    runtime->begin(mem, attached->state, out->thread, &walk) != STEP_EMPTY)
		return;
	for (u32 n = 0; n < THREADS_MOST; n++) {
		struct vm_thread thread = { 0 };
		if (runtime->next_thread(mem, attached->state, &where, &thread) != STEP_MORE)
			return;
		if (thread.native != sleeper->fsbase ||
		    runtime->begin(mem, attached->state, thread.thread, &walk) != STEP_MORE)
			continue;
		*out = thread;
		return;
	}
}

/* The frames of one of its VMs. */
static void put_managed(struct taking *taking, const struct watched *process, u32 number,
			const struct kernel_sleeper *sleeper)
{
	struct kernel_head *head = &taking->record->head;
	struct kernel_vm *vm = &head->vms[number];
	const struct machine *machine = &process->vms[number].machine;
	const struct attached *attached = machine->attached;
	const struct mem *mem = &process->target->mem.mem;
	struct vm_thread thread;
	struct walk walk = { 0 };

	vm->thread = process->vms[number].number ? thread_of(process, machine, sleeper, &thread) :
						   0;
	if (!vm->thread)
		return;
	take_turn(process, machine, sleeper, &thread);
	vm->thread = thread.thread;
	head->wants_lock |= (u32)(thread.state == VM_THREAD_WAITING) << number;
	vm->kind = attached->kind;
	enum step step = attached->runtime->begin(mem, attached->state, vm->thread, &walk);
	walk.flags |= WALK_PLACES;
	for (u32 n = 0; step_goes_on(step) && n < KERNEL_MANAGED_MAX + KERNEL_HIDDEN_MAX; n++) {
		struct frame frame = { 0 };
		step = attached->runtime->step(mem, attached->state, &walk, &frame);
		if (step != STEP_MORE)
			continue;
		if (vm->count == KERNEL_MANAGED_MAX)
			break; /* there is one more: it is cut, and the end says so */
		frame.kind = attached->kind;
		memcpy(put(taking, sizeof frame), &frame, sizeof frame);
		vm->count++;
	}
	vm->end = (u16)step;
	vm->generation = walk.generation;
	vm->flags = (u16)walk.flags;
}

/* Here the whole stack can be read. */
static void put_native(struct taking *taking, struct watched *process,
		       const struct kernel_sleeper *sleeper)
{
	struct kernel_head *head = &taking->record->head;
	struct unwind_walk walk = walk_from(sleeper);
	enum unwind_step step = UNWIND_MORE;

	if (taking->run->options.no_native)
		step = UNWIND_DONE;
	while (step == UNWIND_MORE && head->native_count < KERNEL_NATIVE_MAX) {
		struct kernel_frame frame = { walk.pc | (walk.is_return ? KERNEL_IS_RETURN : 0),
					      walk.sp };
		memcpy(put(taking, sizeof frame), &frame, sizeof frame);
		head->native_count++;
		step = unwind_space_step(&process->space, &process->target->mem.mem, &walk);
	}
	head->end = (u16)step;
}

/* Or one that is without its VM's frames. */
static bool has_no_sample(const struct watched *process, const struct watched_thread *thread)
{
	return process->has_sleepers && !(thread->off_ns && thread->vm_thread);
}

static void take(void *arg, const struct kernel_sleeper *sleeper)
{
	struct taking *taking = arg;
	struct run *run = taking->run;
	struct watched *process = run_find(run, sleeper->pid);
	struct watched_thread *thread = process ? watched_thread(process, sleeper->tid) : NULL;
	struct thread_time time;

	if (!thread || !(sleeper->since_ns || has_no_sample(process, thread)))
		return;
	struct kernel_head *head = &taking->record->head;
	*head = (struct kernel_head){ .time_ns = clock_now_ns(),
				      .runtime_ns = thread->runtime_ns,
				      .pid = process->pid,
				      .tid = thread->tid,
				      .execs = process->execs,
				      .hits = 1,
				      .kind = KERNEL_SWITCH };
	if (sleeper->regs[AT_ORIG_RAX] == CALL_FUTEX)
		head->futex = walk_from(sleeper).value[X86_RDI];
	memcpy(head->comm, thread->comm, sizeof head->comm);
	taking->size = sizeof *taking->record;
	put_native(taking, process, sleeper);
	for (u32 i = 0; i < KERNEL_VMS; i++)
		put_managed(taking, process, i, sleeper);
	if (!target_thread_time(process->target, sleeper->tid, &time) || time.runs != sleeper->runs)
		return;
	/* it was passed, or had a sample that gets no weight now */
	u64 since_ns = sleeper->since_ns ? sleeper->since_ns : thread->off_ns;
	run_on_sample(run, process, taking->record, taking->size);
	thread->off_ns = since_ns ? since_ns : thread->off_ns;
}

static bool any_has_sleepers(struct run *run)
{
	for (u32 i = 0; i < run->processes.count; i++)
		if (run->processes.at[i]->has_sleepers)
			return true;
	return false;
}

/* What they did before comes first, also what they did while a VM was looked for. */
static void catch_up(struct run *run)
{
	u32 before;

	do {
		before = run->code.machine_count;
		kernel_program_consume(&run->program);
	} while (run->code.machine_count != before);
}

static bool begin_taking(struct taking *taking, struct run *run)
{
	catch_up(run);
	*taking = (struct taking){
		.run = run,
		.record = malloc(sizeof *taking->record +
				 KERNEL_NATIVE_MAX * sizeof(struct kernel_frame) +
				 KERNEL_VMS * KERNEL_MANAGED_MAX * sizeof(struct frame)),
	};
	return taking->record;
}

void run_take_sleepers(struct run *run)
{
	struct taking taking;
	struct err err = { 0 };

	if (!run->program.with_switches || !any_has_sleepers(run))
		return;
	if (begin_taking(&taking, run) &&
	    !kernel_program_sleepers(&run->program, take, &taking, &err))
		log_debug(1, "%s", err.text);
	free(taking.record);
	for (u32 i = 0; i < run->processes.count; i++)
		run->processes.at[i]->has_sleepers = false;
}

/* As long as there are such: one that was passed by then may sleep since. A twentieth of a CPU is spent on it. */
static const u64 PASSED_NS = 20 * NS_PER_MS;
enum { PASSED_REST = 19 };

static bool were_passed(struct run *run)
{
	u64 counts[KERNEL_COUNTS];

	kernel_program_counts(&run->program, counts);
	bool any = counts[KERNEL_COUNT_PASSED] != run->passed[1];
	run->passed[1] = run->passed[0];
	run->passed[0] = counts[KERNEL_COUNT_PASSED];
	return any;
}

void run_take_passed(struct run *run, u64 now_ns)
{
	struct taking taking;
	struct err err = { 0 };

	if (!run->program.with_switches || now_ns < run->passed_ns)
		return;
	run->passed_ns = now_ns + PASSED_NS;
	u64 period_ns = run->asked_ns ? now_ns - run->asked_ns : PASSED_NS;
	run->asked_ns = were_passed(run) ? now_ns : 0;
	if (!run->asked_ns)
		return;
	if (begin_taking(&taking, run) &&
	    !kernel_program_passed(&run->program, period_ns, take, &taking, &err))
		log_debug(1, "%s", err.text);
	free(taking.record);
	u64 end_ns = clock_now_ns(), rested_ns = end_ns + (end_ns - now_ns) * PASSED_REST;
	if (rested_ns > run->passed_ns)
		run->passed_ns = rested_ns;
}
