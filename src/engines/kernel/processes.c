/* SPDX-License-Identifier: Apache-2.0
 * processes.c - see run.h. */
#include "engines/kernel/run.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define LOG_DOMAIN LOG_kernel
#include "base/log.h"

/* So often a VM is asked for its threads. */
static const u64 RIDERS_NS = 10 * NS_PER_MS;

struct watched *run_find(const struct run *run, u32 pid)
{
	for (u32 i = 0; i < run->processes.count; i++)
		if (run->processes.at[i]->pid == pid)
			return run->processes.at[i];
	return NULL;
}

struct watched *run_adopt(struct run *run, const struct kernel_head *head)
{
	struct watched *process = watched_new(head->pid, NULL, ++run->incarnations, &run->files);
	struct err err = { 0 };

	if (!run_add(run, process))
		return NULL;
	process->execs = head->execs;
	if (!run_tell(run, process, &err)) { /* a thread of the kernel, or it has ended */
		log_debug(1, "process %u: %s", head->pid, err.text);
		process->own.pid = head->pid;
		memcpy(process->own.comm, head->comm, sizeof process->own.comm);
		process->space.is_filled = true; /* with nothing */
	}
	return process;
}

bool run_add(struct run *run, struct watched *process)
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

void run_leave_space(struct run *run, struct watched *process)
{
	if (process->space_number && !is_shared(run, process, false))
		kernel_code_remove(&run->code, process->space_number);
	process->space_number = 0;
}

void run_leave_machine(struct run *run, struct watched *process)
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

bool run_tell_space(struct run *run, struct watched *process, struct err *err)
{
	u32 number;

	if (!kernel_code_add(&run->code, &process->space, &number, err))
		return false;
	run_leave_space(run, process);
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

bool run_tell(struct run *run, struct watched *process, struct err *err)
{
	return watched_read_maps(process, err) && run_tell_space(run, process, err);
}

void run_catch_up(struct run *run, struct watched *process, const struct kernel_record *record,
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
		good = run_tell(run, process, &err);
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
