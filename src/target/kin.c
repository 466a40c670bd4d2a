/* SPDX-License-Identifier: Apache-2.0
 * kin.c - see kin.h. */
#include "target/kin.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "target/proc.h"

enum { CHILDREN_TEXT_MAX = 64 << 10 };

u32 target_parent(const struct target *target)
{
	struct proc_stat stat;

	return proc_read_stat(target->proc_fd, &stat) ? stat.parent : 0;
}

bool target_shares_memory(const struct target *a, const struct target *b)
{
	/* kcmp needs the right to ptrace both, as reading their memory does */
	return syscall(SYS_kcmp, (pid_t)a->pid, (pid_t)b->pid, KCMP_VM, 0, 0) == 0;
}

bool target_is_alive(u32 pid)
{
	struct proc_stat stat;
	AUTO_CLOSE int dir = proc_open(pid);

	if (dir >= 0 && proc_read_stat(dir, &stat))
		return !proc_stat_ended(&stat);
	return proc_cannot_open();
}

/* ---- descendants --------------------------------------------------------------------------- */

struct family {
	VEC(u32) queue; /* whose children are wanted; those at the front have been asked for them */
	target_child_fn *fn;
	void *arg;
	int dir; /* /proc/PID of the parent */
	u32 parent;
	bool no_file; /* the kernel has no `children` (CONFIG_PROC_CHILDREN) */
	bool no_memory;
};

static void meet(struct family *family, u32 pid, u32 parent)
{
	if (family->fn(family->arg, pid, parent) && !vec_push(&family->queue, pid))
		family->no_memory = true;
}

static bool meet_children_of_thread(void *arg, u32 tid)
{
	struct family *family = arg;
	char name[40], text[CHILDREN_TEXT_MAX];

	snprintf(name, sizeof name, "task/%u/children", tid);
	if (proc_read_whole(family->dir, name, text, sizeof text) < 0) {
		family->no_file |= errno == ENOENT && tid == family->parent;
		return true;
	}
	for (const char *at = text; *at >= '0' && *at <= '9'; at += *at == ' ')
		meet(family, (u32)proc_decimal(&at), family->parent);
	return true;
}

static bool is_queued(const struct family *family, u32 pid)
{
	for (u32 i = 0; i < family->queue.count; i++)
		if (family->queue.at[i] == pid)
			return true;
	return false;
}

/* Without `children` files: one process of all, whose parent may be wanted. */
static bool meet_if_child(void *arg, u32 pid)
{
	struct family *family = arg;
	struct proc_stat stat;
	AUTO_CLOSE int dir = proc_open(pid);

	if (dir >= 0 && proc_read_stat(dir, &stat) && is_queued(family, stat.parent))
		meet(family, pid, stat.parent);
	return true;
}

static void search_all_parents(struct family *family)
{
	AUTO_CLOSE int proc = proc_open_root();

	/* Each round finds one generation. */
	for (u32 before = 0; proc >= 0 && before != family->queue.count;) {
		before = family->queue.count;
		proc_list_numbers(proc, ".", meet_if_child, family);
	}
}

bool target_each_descendant(const u32 *pids, u32 count, target_child_fn *fn, void *arg)
{
	struct family family = { .fn = fn, .arg = arg };

	for (u32 i = 0; i < count; i++)
		if (!vec_push(&family.queue, pids[i]))
			family.no_memory = true;
	for (u32 i = 0; i < family.queue.count && !family.no_file; i++) {
		AUTO_CLOSE int dir = proc_open(family.queue.at[i]);
		family.dir = dir;
		family.parent = family.queue.at[i];
		if (dir >= 0)
			proc_list_numbers(dir, "task", meet_children_of_thread, &family);
	}
	if (family.no_file)
		search_all_parents(&family);
	vec_free(&family.queue);
	return !family.no_memory;
}
