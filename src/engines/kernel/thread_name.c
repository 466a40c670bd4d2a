/* SPDX-License-Identifier: Apache-2.0
 * thread_name.c - see thread_name.h.
 *
 * A VM knows a thread's name a little after the thread has begun, or never; so it is asked, less and less often, until it does, and
 * again when the kernel's name has changed: VMs give theirs to it, cut to 15 bytes. */
#include "engines/kernel/thread_name.h"

#include "base/clock.h"
#include "runtimes/runtime.h"

#include <stdio.h>
#include <string.h>

static const u64 WAIT_LEAST_NS = NS_PER_MS, WAIT_MOST_NS = NS_PER_S;

/* False: its VM has none for it now. */
static bool name_by_vm(const struct watched *process, struct watched_thread *thread,
		       const struct kernel_head *head)
{
	const struct mem *mem = &process->target->mem.mem;

	for (u32 i = 0; i < KERNEL_VMS; i++) {
		struct attached *attached = process->vms[i].machine.attached;
		if (!process->vms[i].number || !head->vms[i].thread)
			continue;
		attached_find_names(attached, mem, head->time_ns);
		if (attached_name_thread(attached, mem, head->vms[i].thread, thread->name,
					 sizeof thread->name))
			return true;
	}
	return false;
}

static bool has_vm_thread(const struct kernel_head *head)
{
	for (u32 i = 0; i < KERNEL_VMS; i++)
		if (head->vms[i].thread)
			return true;
	return false;
}

bool thread_name_update(const struct watched *process, struct watched_thread *thread,
			const struct kernel_head *head)
{
	char before[sizeof thread->name];
	bool is_new = memcmp(thread->comm, head->comm, sizeof thread->comm) != 0;

	if (!is_new && thread->name[0] &&
	    (thread->is_named || !backoff_is_due(&thread->ask_name, head->time_ns)))
		return false;
	memcpy(before, thread->name, sizeof before);
	if (is_new || !thread->name[0]) {
		memcpy(thread->comm, head->comm, sizeof thread->comm);
		snprintf(thread->name, sizeof thread->name, "%.*s", (int)sizeof thread->comm,
			 thread->comm);
		backoff_reset(&thread->ask_name);

		thread->is_named = false;
	}
	if (has_vm_thread(head)) {
		thread->is_named = name_by_vm(process, thread, head);
		backoff_miss(&thread->ask_name, head->time_ns, WAIT_LEAST_NS, WAIT_MOST_NS);
	}
	return strcmp(before, thread->name) != 0;
}

bool thread_name_ask(const struct watched *process, struct watched_thread *thread, u64 now_ns)
{
	struct kernel_head head = { .time_ns = now_ns };

	if (thread->is_named || !thread->vm_thread || thread->ask_name.wait_ns >= WAIT_MOST_NS ||
	    !backoff_is_due(&thread->ask_name, now_ns))
		return false;
	memcpy(head.comm, thread->comm, sizeof head.comm);
	head.vms[thread->vm].thread = thread->vm_thread;
	return thread_name_update(process, thread, &head);
}
