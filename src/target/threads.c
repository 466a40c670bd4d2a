/* SPDX-License-Identifier: Apache-2.0
 * threads.c - the threads of the target, with their names and inner tids.
 *
 * The name is its own file and cheap (3.9 us a thread).  The tid in the target's
 * own pid namespace stands in status (10.7 us), which is read only when there is
 * such a namespace: then the leader's NSpid line has more than one number. All
 * threads of a process are in the same one (clone(2), CLONE_NEWPID).
 *
 * A thread that ends while the list is read is left out. */
#include "target/proc.h"
#include "target/target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { THREADS_MAX = 1 << 20 };

struct listing {
	const struct target *target;
	target_threads *out;
	bool no_memory;
};

static bool read_comm(const struct target *target, struct target_thread *thread)
{
	char name[32], text[COMM_SIZE + 2];

	snprintf(name, sizeof name, "task/%u/comm", thread->tid);
	ssize_t length = proc_read(target->proc_fd, name, text, sizeof text);
	if (length <= 0)
		return false;
	length -= text[length - 1] == '\n'; /* the kernel's; the name may hold others */
	if (length >= COMM_SIZE)
		length = COMM_SIZE - 1;
	memcpy(thread->comm, text, (size_t)length);
	return true;
}

static bool read_inner_tid(const struct target *target, struct target_thread *thread)
{
	char name[32], text[PROC_STATUS_MAX];
	u32 levels;

	thread->inner_tid = thread->tid;
	if (!target->nested)
		return true;
	snprintf(name, sizeof name, "task/%u/status", thread->tid);
	if (proc_read(target->proc_fd, name, text, sizeof text) <= 0)
		return false;
	thread->inner_tid = proc_inner_pid(text, &levels);
	return true;
}

u32 target_inner_tid(const struct target *target, u32 tid)
{
	struct target_thread thread = { .tid = tid };

	return read_inner_tid(target, &thread) && thread.inner_tid ? thread.inner_tid : tid;
}

static bool add_thread(void *arg, u32 tid)
{
	struct listing *listing = arg;
	struct target_thread thread = { .tid = tid };

	if (!read_comm(listing->target, &thread) || !read_inner_tid(listing->target, &thread))
		return true;
	if (listing->out->count < THREADS_MAX && vec_push(listing->out, thread))
		return true;
	listing->no_memory = true;
	return false;
}

bool target_read_threads(const struct target *target, target_threads *out, struct err *err)
{
	struct listing listing = { .target = target, .out = out };

	vec_clear(out);
	if (!proc_list_numbers(target->proc_fd, "task", add_thread, &listing)) {
		if (listing.no_memory)
			return err_no_memory(err);
		return err_sys(err, errno == ENOENT ? ESRCH : errno,
			       "process %u: its threads cannot be listed", target->pid);
	}
	if (!out->count)
		return err_set(err, ERR_NO_PROCESS, "process %u has ended", target->pid);
	return true;
}
