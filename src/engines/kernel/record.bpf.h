/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * record.bpf.h - a thread that is watched, here and now, becomes a record: head, kernel's frames, native and managed ones. */
#pragma once
#include "engines/kernel/walk.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERNEL_PROCESSES_MAX);
	__type(key, u32);
	__type(value, struct kernel_process);
} processes SEC(".maps");

enum {
	CGROUP_LEVELS = 32,
	TASK_IS_EXITING = 4 /* PF_EXITING: it ends */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KERNEL_COUNTS);
	__type(key, u32);
	__type(value, u64);
} counts SEC(".maps");

/* Who runs here, if that is watched. */
struct current {
	struct task_struct *task;
	const struct kernel_process *process; /* NULL: it is not */
	u32 pid;
};

static __always_inline void count(u32 what, u64 by)
{
	u64 *counted = bpf_map_lookup_elem(&counts, &what);

	if (counted)
		*counted += by;
}

/* Or in one below it.  Levels count from the root of the machine, which a container does not see. */
__noinline int is_in_cgroup(void)
{
	for (int level = 0; level < CGROUP_LEVELS; level++) {
		u64 id = bpf_get_current_ancestor_cgroup_id(level);
		if (!id || id == constants.cgroup)
			return id != 0;
	}
	return false;
}

/* Nothing is known of it yet. */
static __always_inline const struct kernel_process *adopt(u32 pid)
{
	struct kernel_process fresh = { 0 };

	if (!pid || pid == constants.own_pid || (constants.cgroup && !is_in_cgroup()))
		return NULL;
	bpf_map_update_elem(&processes, &pid, &fresh, BPF_NOEXIST);
	const struct kernel_process *process = bpf_map_lookup_elem(&processes, &pid);
	if (!process)
		count(KERNEL_COUNT_FORKS_LOST, 1);
	return process;
}

static __always_inline struct current current_thread(void)
{
	struct current current = { .task = bpf_get_current_task_btf() };

	current.pid = process_of(current.task);
	current.process = bpf_map_lookup_elem(&processes, &current.pid);
	if (!current.process && constants.watch_all && !(current.task->flags & TASK_IS_EXITING))
		current.process = adopt(current.pid);
	if (current.process && current.process->is_held)
		current.process = NULL;
	return current;
}

enum { CALL_FUTEX = 202 /* x86-64 */ };

/* Why it is looked at. */
struct occasion {
	u16 kind;  /* of the record */
	u32 event; /* 0: the clock, or the scheduler */
	u32 hits;  /* for so many it stands */
	u64 latency_ns;
	u16 result;
	bool has_kernel; /* its kernel frames say something */
	u32 skip;        /* so many of them are our own */
};

static __always_inline void begin_head(struct kernel_head *head, struct task_struct *task, u32 pid,
				       u32 execs, u16 kind)
{
	head->time_ns = bpf_ktime_get_ns();
	head->runtime_ns = task->se.sum_exec_runtime;
	head->latency_ns = 0;
	head->pid = pid;
	head->tid = number_of(task);
	head->cpu = bpf_get_smp_processor_id();
	head->parent = 0;
	head->execs = execs;
	head->hits = 1;
	head->event = head->result = 0;
	head->kind = kind;
	head->end = UNWIND_MORE;
	head->native_count = 0;
	head->has_rest = head->has_new = false;
	head->kernel_count = 0;
	__builtin_memset(head->vms, 0, sizeof head->vms);
	head->futex = head->wants_lock = 0;
	bpf_get_current_comm(head->comm, sizeof head->comm);
}

/* A room that nobody of this CPU is in: who is interrupted, or has lost the CPU, still has its own. */
static __always_inline struct room *take_room(void)
{
	u32 first = bpf_get_smp_processor_id() * constants.rooms_each;

	for (u32 i = 0; i < KERNEL_ROOMS_MOST && i < constants.rooms_each; i++) {
		u32 key = first + i;
		struct room *room = bpf_map_lookup_elem(&rooms, &key);
		if (room && !__sync_lock_test_and_set(&room->is_taken, 1))
			return room;
	}
	return NULL;
}

static __always_inline void send_sample(struct drive *drive)
{
	struct room *room = drive->room;
	u64 size = sizeof room->record + 8 * (u64)room->used;

	if (room->record.head.has_rest)
		size += add_rest(drive);
	if (size > sizeof room->record + sizeof room->words + sizeof room->rest)
		return;
	/* what is not known has to be read while it is there */
	bool cannot_wait = room->record.head.has_rest || room->record.head.has_new;
	u64 wake = cannot_wait ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	if (bpf_ringbuf_output(&records, &room->record, size, wake) != 0)
		count(KERNEL_COUNT_DROPPED, room->record.head.hits);
}

/* Its own in the interrupt's, if it was in the kernel. */
static __always_inline void kernel_frames(void *context, struct kernel_record *record, u32 skip)
{
	long bytes = bpf_get_stack(context, record->kernel, sizeof record->kernel, skip);

	record->head.kernel_count = bytes > 0 ? bytes / sizeof record->kernel[0] : 0;
}

/* What could not be read since it was asked the last time. */
static __always_inline u64 take_missed(struct room *room)
{
	u64 missed = room->kept.missed;

	room->kept.missed = 0;
	return missed;
}

static __always_inline void walk_all(const struct current *current, struct room *room)
{
	struct drive drive = { .room = room, .process = current->process };
	const struct mem mem = { &room->kept };
	bool is_user = has_user(current->task);
	u32 space = current->process->space;

	mem_begin(&mem);
	begin_walk(&room->walk, &room->regs);
	drive.space = bpf_map_lookup_elem(&spaces, &space);
	room->used = room->names = 0;
	if (constants.with_native && is_user)
		bpf_loop(KERNEL_NATIVE_MAX, native_one, &drive, 0);
	else
		room->record.head.end = UNWIND_DONE;
	room->record.head.missed[0] = take_missed(room);
	if (is_user && (current->process->machines[0] | current->process->machines[1]))
		bpf_loop(KERNEL_VMS, walk_vm, &drive, 0);
	room->record.head.missed[1] = take_missed(room);
	send_sample(&drive);
}

static __always_inline void take_sample(void *context, const struct current *current,
					const struct occasion *occasion)
{
	struct room *room = take_room();

	if (!room || !user_registers(room)) {
		count(KERNEL_COUNT_DROPPED, occasion->hits);
	} else {
		struct kernel_head *head = &room->record.head;
		begin_head(head, current->task, current->pid, current->process->execs,
			   occasion->kind);
		head->futex = room->regs.orig_rax == CALL_FUTEX ? room->regs.rdi : 0;
		head->event = occasion->event;
		head->hits = occasion->hits;
		head->latency_ns = occasion->latency_ns;
		head->result = occasion->result;
		if (constants.with_kernel && occasion->has_kernel)
			kernel_frames(context, &room->record, occasion->skip);
		walk_all(current, room);
	}
	if (room)
		room->is_taken = 0;
	count(KERNEL_COUNT_SAMPLES, occasion->hits); /* what was counted is in the ring */
}
