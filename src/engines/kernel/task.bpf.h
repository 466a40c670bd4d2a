/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * task.bpf.h - what our programs know of themselves, and of the thread that runs. */
#pragma once
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "engines/kernel/shared.h"

/* Set before the programs are loaded, and known to the verifier. */
const volatile struct kernel_constants constants = {
	.rooms_each = 1, .follow_children = true, .with_native = true, .with_kernel = true
};

/* What of a task is looked at; where it lies is the running kernel's word (CO-RE). */
#define OF_THE_KERNEL __attribute__((preserve_access_index))
struct ns_common {
	unsigned int inum;
} OF_THE_KERNEL;
struct pid_namespace {
	struct ns_common ns;
} OF_THE_KERNEL;
struct upid {
	int nr;
	struct pid_namespace *ns;
} OF_THE_KERNEL;
struct pid {
	unsigned int level;
	struct upid numbers[1];
} OF_THE_KERNEL;
struct sched_entity {
	u64 sum_exec_runtime;
} OF_THE_KERNEL;
typedef struct {
	int counter;
} OF_THE_KERNEL atomic_t;
struct signal_struct {
	atomic_t live; /* threads */
} OF_THE_KERNEL;
struct sched_info {
	unsigned long pcount; /* times that it was given a CPU */
} OF_THE_KERNEL;
struct thread_struct {
	unsigned long fsbase; /* x86-64: what a thread's storage hangs on */
} OF_THE_KERNEL;
struct thread_info {
	u32 status;
} OF_THE_KERNEL;
struct mm_struct {
	unsigned long start_code;
	unsigned long start_stack; /* of the first thread; its arguments lie above */
} OF_THE_KERNEL;
struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	unsigned int __state; /* 0: it runs, or could */
	int pid;
	struct sched_info sched_info;
	struct thread_struct thread;
	struct sched_entity se;
	int tgid;
	struct signal_struct *signal;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct mm_struct *mm; /* NULL: it has given its memory back, or never had any */
} OF_THE_KERNEL;

/* Has it code of its own to be in? In the middle of an exec its memory is new, and its registers are still the old program's. */
static __always_inline bool has_user(const struct task_struct *task)
{
	return task->mm && task->mm->start_code;
}

/* A thread by the number that our own pid namespace has for it; 0: none.  The first one's is the kernel's own.  (Read by the
 * helper: of each pointer that is followed in the kernel's types the verifier looks these up by name, a millisecond each.) */
static __always_inline u32 number_of(const struct task_struct *task)
{
	struct pid *pid = NULL;
	struct pid_namespace *space = NULL;
	unsigned int level = 0, inode = 0;
	int number = 0;

	if (!constants.pid_level)
		return task->pid;
	bpf_probe_read_kernel(&pid, sizeof pid, &task->thread_pid);
	bpf_probe_read_kernel(&level, sizeof level, &pid->level);
	if (!pid || level < constants.pid_level)
		return 0;
	const struct upid *ours = &pid->numbers[constants.pid_level];
	bpf_probe_read_kernel(&number, sizeof number, &ours->nr);
	/* other containers have numbers at our level, too */
	bpf_probe_read_kernel(&space, sizeof space, &ours->ns);
	bpf_probe_read_kernel(&inode, sizeof inode, &space->ns.inum);
	return inode == constants.pid_space ? number : 0;
}

/* The same of its process. */
static __always_inline u32 process_of(const struct task_struct *task)
{
	struct task_struct *leader = NULL;

	if (!constants.pid_level)
		return task->tgid;
	bpf_probe_read_kernel(&leader, sizeof leader, &task->group_leader);
	return number_of(leader);
}
