/* SPDX-License-Identifier: Apache-2.0
 * processes.c - see run.h. */
#include "engines/kernel/run.h"

#include "base/clock.h"
#include "engines/kernel/thread_name.h"
#include "target/kin.h"
#include "unwind/jit.h"

#include <stdio.h>
#include <string.h>

#define LOG_DOMAIN LOG_kernel
#include "base/log.h"

/* So often a VM is asked for its threads. */
static const u64 RIDERS_NS = 10 * NS_PER_MS;

/* Of the first that has this number or a higher one. */
static u32 place_of(const struct run *run, u32 pid)
{
	return vec_first_not(&run->processes, one, (*one)->pid < pid);
}

struct watched *run_find(const struct run *run, u32 pid)
{
	u32 place = place_of(run, pid);

	return place < run->processes.count && run->processes.at[place]->pid == pid ?
		       run->processes.at[place] :
		       NULL;
}

struct watched *run_adopt(struct run *run, const struct kernel_head *head)
{
	struct watched *process = watched_new(head->pid, NULL, ++run->incarnations, &run->files);
	struct err err = { 0 };

	if (!run_add(run, process))
		return NULL;
	process->execs = head->execs;
	process->was_met = true;
	history_begin(&process->history, clock_now_ns());
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
	u32 place = process ? place_of(run, process->pid) : 0;

	if (!process || !vec_push(&run->processes, process)) {
		if (process)
			watched_free(process);
		return false;
	}
	struct watched **at = &run->processes.at[place];
	memmove(at + 1, at, (run->processes.count - 1 - place) * sizeof *at);
	*at = process;
	run->quality.processes++;
	return true;
}

/* Does another process use the kernel's space, too? */
static bool is_space_shared(const struct run *run, const struct watched *process)
{
	for (u32 i = 0; i < run->processes.count; i++)
		if (run->processes.at[i] != process &&
		    run->processes.at[i]->space_number == process->space_number)
			return true;
	return false;
}

/* Forks have a VM in the same place. */
static bool is_vm_shared(const struct run *run, const struct watched *process, u32 vm)
{
	for (u32 i = 0; i < run->processes.count; i++)
		if (run->processes.at[i] != process &&
		    run->processes.at[i]->vms[vm].number == process->vms[vm].number)
			return true;
	return false;
}

void run_leave_space(struct run *run, struct watched *process)
{
	if (process->space_number && !is_space_shared(run, process))
		kernel_code_remove(&run->code, process->space_number);
	process->space_number = 0;
}

void run_leave_vms(struct run *run, struct watched *process)
{
	for (u32 i = 0; i < KERNEL_VMS; i++) {
		u32 number = process->vms[i].number;
		if (number && !is_vm_shared(run, process, i))
			kernel_code_remove_machine(&run->code, number);
		process->vms[i].number = 0;
	}
}

void run_drop(struct run *run, u32 place)
{
	struct watched **at = &run->processes.at[place];
	struct watched *process = *at;

	run->carried_ns += process->carried_ns;
	run_leave_space(run, process);
	run_leave_vms(run, process);
	memmove(at, at + 1, (--run->processes.count - place) * sizeof *at);
	watched_free(process);
}

static bool tell_process(struct run *run, struct watched *process, struct err *err)
{
	bool is_new = process->is_new;
	struct kernel_process told = { .space = process->space_number,
				       .execs = process->execs,
				       .is_held = run->options.may_start && !process->execs &&
						  process->target != &process->own,
				       .made_way = (u8)process->space.made_way,
				       .tells_jit = unwind_jit_may_tell(&process->space) };

	for (u32 i = 0; i < KERNEL_VMS; i++)
		told.machines[i] = process->vms[i].number;
	process->is_new = false;
	bool good = kernel_code_watch(&run->code, process->pid, &told, is_new, err);
	process->told_ns = clock_now_ns();
	return good;
}

/* Its words are elsewhere than its parent's: a VM of its own. */
static bool split_vm(struct run *run, struct watched_vm *vm, struct err *err)
{
	struct kernel_machine told;

	machine_tell(&vm->machine, &told);
	return kernel_code_add_machine(&run->code, &told, &vm->number, err);
}

/* Where forks before it had theirs. False: none had it elsewhere. */
static bool split_fork(struct run *run, const struct watched *parent, struct watched *child)
{
	struct err err = { 0 };
	bool is_split = false;

	for (u32 i = 0; i < KERNEL_VMS; i++) {
		u16 key_at = parent->vms[i].number ? parent->vms[i].forks_key_at : 0;
		if (!key_at)
			continue;
		child->vms[i].machine.key_at = key_at;
		if (!split_vm(run, &child->vms[i], &err))
			log_debug(1, "process %u: %s", child->pid, err.text);
		is_split = true;
	}
	return is_split;
}

/* Of a fork: a sample without a VM's thread may be one whose word has moved. */
static bool follow_words(struct run *run, struct watched *process, const struct kernel_head *head,
			 struct err *err)
{
	struct watched *parent = run_find(run, process->parent);
	bool has_moved = false;

	for (u32 i = 0; i < KERNEL_VMS; i++) {
		struct watched_vm *vm = &process->vms[i];
		if (!vm->word_asks || !vm->number || head->vms[i].thread)
			continue;
		vm->word_asks--;
		if (!machine_word_moved(&vm->machine, &process->target->mem.mem))
			continue;
		vm->word_asks = 0;
		if (!split_vm(run, vm, err))
			return false;
		if (parent && parent->vms[i].number)
			parent->vms[i].forks_key_at = vm->machine.key_at;
		has_moved = true;
	}
	return !has_moved || tell_process(run, process, err);
}

void run_add_fork(struct run *run, const struct watched *parent, const struct kernel_head *head)
{
	struct watched *child = watched_fork(parent, head->pid, head->time_ns, ++run->incarnations);
	struct err err = { 0 };

	bool is_split = child && split_fork(run, parent, child);
	if (run_add(run, child) && (is_split || parent->told_ns >= head->time_ns) &&
	    !tell_process(run, child, &err))
		log_debug(1, "process %u: %s", head->pid, err.text);
}

struct telling {
	struct run *run;
	u32 machine;
};

static void tell_rider(void *arg, u32 tid, u64 thread)
{
	const struct telling *telling = arg;

	kernel_code_add_rider(&telling->run->code, telling->machine, tid, thread);
}

/* Where threads have no word that leads to the VM's: now and then, for new ones. */
static void tell_riders(struct run *run, struct watched *process, const struct watched_vm *vm)
{
	struct telling telling = { .run = run, .machine = vm->number };

	if (vm->number && !machine_has_word(&vm->machine))
		machine_riders(&vm->machine, process->target, tell_rider, &telling);
}

/* Of all its VMs that are known, if one of them has said nothing in a record. */
static void tell_new_riders(struct run *run, struct watched *process,
			    const struct kernel_head *head)
{
	u64 now = clock_now_ns();

	if (now < process->riders_ns)
		return;
	process->riders_ns = now + RIDERS_NS;
	for (u32 i = 0; i < KERNEL_VMS; i++)
		if (!head->vms[i].thread)
			tell_riders(run, process, &process->vms[i]);
}

/* Looks for VMs that it may run. */
static bool tell_vms(struct run *run, struct watched *process, struct err *err)
{
	bool is_new = false;
	int found;

	if (!watched_look_for_vms(process, run->quality.warning))
		return true;
	log_debug(2, "process %u: %u VMs%s", process->pid, process->attached.count,
		  process->may_have_one ? ", or one that starts" : "");
	while ((found = watched_next_vm(process, &run->machines)) >= 0) {
		struct watched_vm *vm = &process->vms[found];
		struct kernel_machine told;
		machine_tell(&vm->machine, &told);
		if (!kernel_code_add_machine(&run->code, &told, &vm->number, err))
			return false;
		tell_riders(run, process, vm);
		process->has_sleepers = true;
		is_new = true;
	}
	return !is_new || tell_process(run, process, err);
}

bool run_tell_space(struct run *run, struct watched *process, struct err *err)
{
	u32 number;

	if (!kernel_code_add(&run->code, &process->space, &process->replaced, &number, err))
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
	if (!tell_process(run, process, err))
		return false;
	replaced_is_told(&process->replaced, clock_now_ns());
	return tell_vms(run, process, err);
}

bool run_tell(struct run *run, struct watched *process, struct err *err)
{
	return watched_read_maps(process, &run->mappings, err) && run_tell_space(run, process, err);
}

static void tell_anew(struct run *run, struct watched *process)
{
	struct err err = { 0 };

	if (!run_tell(run, process, &err))
		log_debug(1, "process %u: %s", process->pid, err.text);
	process->is_doubted = false; /* if it cannot be read it will not be later */
}

static void note_news(struct watched *process)
{
	process->news_ns = process->has_news ? process->news_ns : clock_now_ns();
	process->has_news = true;
}

void run_take_mappings(struct run *run, u64 until_ns)
{
	struct kernel_mapped mapped;
	const char *text;

	while (kernel_mappings_next(&run->mappings, until_ns, &mapped, &text)) {
		struct watched *process = run_find(run, mapped.pid);
		if (!process)
			continue;
		watched_tell(process, &mapped, text);
		/* what was read already was noted then */
		if (mapped.is_exec || mapped.time_ns <= process->maps_ns)
			continue;
		if (watched_replaces(process, &mapped))
			tell_anew(run, process);
		else
			note_news(process);
	}
	for (u32 i = 0; run->mappings.lost_ns && i < run->processes.count; i++)
		watched_doubt(run->processes.at[i], run->mappings.lost_ns);
	run->mappings.lost_ns = 0;
}

/* A loader maps one library after the other. Of a CPU no more than a tenth is spent on this, of the last second: who starts
 * programs all the time is not asked for each of them. */
static const u64 NEWS_NS = NS_PER_MS, UNREADABLE_NS = 200 * NS_PER_MS, SPARED_NS = NS_PER_S;
enum { SEEK_PART = 10 };

static u64 when_to_seek(const struct run *run, const struct watched *process)
{
	u64 due = process->may_have_one ? process->ask_ns : process->news_ns + NEWS_NS;
	bool is_due = process->may_have_one || (process->has_news && !watched_has_vm(process));

	if (!is_due || process->has_ended || process->is_told)
		return UINT64_MAX;
	return due > run->seek_ns ? due : run->seek_ns;
}

static void seek(struct run *run, struct watched *process)
{
	struct err err = { 0 };
	u64 begin = clock_now_ns();
	bool good = process->has_news ? run_tell(run, process, &err) : tell_vms(run, process, &err);
	u64 end = clock_now_ns();

	if (!good) {
		process->news_ns = process->ask_ns = end + UNREADABLE_NS;
		log_debug(1, "process %u: %s", process->pid, err.text);
	}
	run->seek_ns = run->seek_ns + SPARED_NS > end ? run->seek_ns : end - SPARED_NS;
	run->seek_ns += (end - begin) * SEEK_PART;
}

u64 run_seek_vms(struct run *run, u64 now_ns)
{
	u64 next = UINT64_MAX;

	for (u32 i = 0; i < run->processes.count; i++) {
		struct watched *process = run->processes.at[i];
		if (when_to_seek(run, process) <= now_ns)
			seek(run, process);
		u64 due = when_to_seek(run, process);
		next = due < next ? due : next;
	}
	return next;
}

struct updating {
	struct unwind_space *space;
	bool is_new;
};

static void update_jit(void *updating_)
{
	struct updating *updating = updating_;

	updating->is_new = unwind_jit_update(updating->space);
}

/* Where a walk ends in code that was made at run time, its maker may have told debuggers of it. */
static bool tell_jit(struct run *run, struct watched *process, u64 address, struct err *err)
{
	const struct unwind_range *range = unwind_space_at(&process->space, address);
	struct updating updating = { .space = &process->space };

	if (!range || (range->file && range->file->device != UNWIND_NO_DEVICE))
		return true;
	bool is_first = !process->space.jit.is_sought;
	u64 begin = clock_now_ns();
	if (begin < process->ask_jit_ns)
		return true;
	if (is_first)
		run_beside(run, update_jit, &updating);
	else
		update_jit(&updating);
	bool good = updating.is_new ? run_tell_space(run, process, err) :
				      !is_first || tell_process(run, process, err);
	u64 end = clock_now_ns();
	if (updating.is_new && !is_first) /* some make code all the time */
		process->ask_jit_ns = end + (end - begin) * SEEK_PART;
	return good;
}

void run_catch_up(struct run *run, struct watched *process, const struct kernel_record *record,
		  size_t size)
{
	const struct kernel_head *head = &record->head;
	/* without native frames nothing in the record says that a VM was loaded */
	bool may_load_one = run->options.no_native && !watched_has_vm(process);
	u64 unknown = may_load_one ? 0 : assembled_end(record, size);
	struct err err = { 0 };
	bool good = true;

	if (process->is_doubted)
		tell_anew(run, process);
	/* what a walk finds nothing about may be a library that the kernel was not told of yet */
	bool is_cut = head->end == UNWIND_NO_RULE && process->has_news;
	if ((head->has_rest || may_load_one || is_cut) &&
	    watched_wants_maps(process, unknown, head->time_ns)) {
		bool was_known = unwind_space_at(&process->space, unknown);
		good = run_tell(run, process, &err);
		if (good && !was_known && unwind_space_at(&process->space, unknown))
			backoff_reset(&process->read_maps); /* it helped */
	}
	if (head->end == UNWIND_NO_RULE)
		good = good && tell_jit(run, process, unknown, &err);
	if (process->may_have_one)
		good = good && tell_vms(run, process, &err);
	good = good && follow_words(run, process, head, &err);
	tell_new_riders(run, process, head);
	if (!good)
		log_debug(1, "process %u: %s", process->pid, err.text);
}

/* ---- those that are there when a run begins ------------------------------------------------- */

struct naming_threads {
	struct run *run;
	struct watched *process;
	u32 vm;
};

static void name_rider(void *arg, u32 tid, u64 vm_thread)
{
	const struct naming_threads *naming = arg;
	struct watched_thread *thread = watched_thread(naming->process, tid);
	struct kernel_head head = { .time_ns = clock_now_ns() };

	if (!thread)
		return;
	memcpy(head.comm, thread->comm, sizeof head.comm);
	head.vms[naming->vm].thread = vm_thread;
	thread_name_update(naming->process, thread, &head);
}

void run_begin_threads(struct run *run, struct watched *process)
{
	struct naming_threads naming = { .run = run, .process = process };

	watched_begin(process);
	for (; naming.vm < KERNEL_VMS; naming.vm++)
		if (process->vms[naming.vm].number)
			machine_riders(&process->vms[naming.vm].machine, process->target,
				       name_rider, &naming);
	for (u32 i = 0; i < process->threads.count; i++)
		run_note_seen(run, process, &process->threads.at[i]);
}

void run_name_threads(struct run *run, u64 now_ns)
{
	for (u32 i = 0; i < run->processes.count; i++) {
		struct watched *process = run->processes.at[i];
		for (u32 t = 0; t < process->threads.count; t++)
			if (thread_name_ask(process, &process->threads.at[t], now_ns))
				run_note_seen(run, process, &process->threads.at[t]);
	}
}

static bool add_descendant(void *arg, u32 pid, u32 parent)
{
	struct run *run = arg;
	struct err err = { 0 };

	if (run_find(run, pid) || !target_is_alive(pid))
		return false;
	struct watched *process = watched_new(pid, NULL, ++run->incarnations, &run->files);
	if (!run_add(run, process))
		return false;
	process->is_new = true;
	/* The bare entry comes first: from then on the kernel tells of its forks and execs. */
	if (!tell_process(run, process, &err) || !run_tell(run, process, &err)) {
		log_debug(1, "process %u, a child of %u: %s", pid, parent, err.text);
		if (target_is_alive(pid) && !run->quality.warning[0])
			snprintf(run->quality.warning, sizeof run->quality.warning,
				 "process %u cannot be looked into: %.100s", pid, err.text);
		process->own.pid = pid;
		process->space.is_filled = true; /* with nothing */
	}
	run_begin_threads(run, process);
	return true;
}

void run_add_descendants(struct run *run, u32 pid)
{
	target_each_descendant(&pid, 1, add_descendant, run);
}
