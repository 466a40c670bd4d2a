/* SPDX-License-Identifier: Apache-2.0
 * target.c - taking hold of a process, and knowing whether it is still the same.
 *
 * Three facts make an incarnation.  The descriptor of /proc/PID names one process
 * for ever, whoever gets its pid later.  The start time is the same fact as a
 * number, for records that carry pids.  And the kernel lays 16 fresh random bytes
 * on the stack of every image that it starts (AT_RANDOM): an exec, even of the
 * same file with the same addresses, changes them.
 *
 * A process whose main thread has ended while others run counts as gone: Linux
 * then gives away neither its mappings nor its memory by its pid. */
#include "target/target.h"

#include "target/maps.h"
#include "target/proc.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PF_KTHREAD = 0x00200000 }; /* include/linux/sched.h; stat shows it to everybody */

/* --- identity ---------------------------------------------------------------------------- */

static bool open_proc(struct target *target, struct err *err)
{
	target->proc_fd = proc_open(target->pid);
	if (target->proc_fd >= 0)
		return true;
	int why = errno;
	if (why != ENOENT)
		return err_sys(err, why, "process %u: /proc/%u cannot be opened", target->pid,
			       target->pid);
	if (target->pid && target->pid <= INT32_MAX &&
	    (kill((pid_t)target->pid, 0) == 0 || errno == EPERM))
		return err_set(err, ERR_PERMISSION,
			       "process %u is there, but /proc does not show it: run as root, or "
			       "mount /proc without hidepid",
			       target->pid);
	return err_set(err, ERR_NO_PROCESS, "no process %u", target->pid);
}

static bool read_identity(struct target *target, struct err *err)
{
	struct proc_stat stat;
	char status[PROC_STATUS_MAX];
	u32 levels;

	if (!proc_read_stat(target->proc_fd, &stat) ||
	    proc_read(target->proc_fd, "status", status, sizeof status) <= 0)
		return err_sys(err, errno == ENOENT ? ESRCH : errno, "process %u: stat",
			       target->pid);
	target->start_time = stat.start_time;
	memcpy(target->comm, stat.comm, sizeof target->comm);

	const char *group = proc_status_field(status, "Tgid");
	if (group) {
		u32 leader = (u32)strtoul(group, NULL, 10);
		if (leader != target->pid)
			return err_set(err, ERR_USAGE,
				       "%u is a thread of process %u: use that number", target->pid,
				       leader);
	}
	if (proc_stat_ended(&stat))
		return err_set(err, ERR_NO_PROCESS,
			       "process %u (%s) has ended; its parent has not waited for it yet",
			       target->pid, target->comm);
	if (stat.state == 'Z')
		return err_set(err, ERR_UNSUPPORTED,
			       "process %u (%s): its main thread has ended; the memory of the %u "
			       "other threads cannot be reached by its pid",
			       target->pid, target->comm, stat.threads - 1);
	if (stat.flags & PF_KTHREAD)
		return err_set(err, ERR_UNSUPPORTED,
			       "process %u (%s) is a kernel thread: it has no "
			       "program to look at",
			       target->pid, target->comm);

	const char *uid = proc_status_field(status, "Uid");
	if (uid && (uid = strchr(uid + 1, '\t')))
		target->uid = (u32)strtoul(uid, NULL, 10); /* real, then effective */
	u32 inner = proc_inner_pid(status, &levels);
	target->nested = levels > 1;
	target->inner_pid = target->nested ? inner : target->pid;
	return true;
}

static void read_exe(struct target *target)
{
	char path[PROC_TEXT_MAX], root[PROC_TEXT_MAX];
	ssize_t length = readlinkat(target->proc_fd, "exe", path, sizeof path - 1);
	ssize_t prefix = readlinkat(target->proc_fd, "root", root, sizeof root - 1);

	if (length <= 0)
		return;
	path[length] = 0;
	root[prefix > 0 ? prefix : 0] = 0;
	strncat(target->exe, proc_path_below(path, root), sizeof target->exe - 1);
}

/* --- incarnation ------------------------------------------------------------------------- */

static bool read_random(const struct target *target, u64 out[2])
{
	struct mem_span span = { target->random_at, out, 2 * sizeof out[0] };

	return mem_live_readv(&target->mem, &span, 1) == 1;
}

/* Without AT_RANDOM (kernels have it since 2.6.29) an exec goes unnoticed here. */
static void read_incarnation(struct target *target)
{
	Elf64_auxv_t entries[PROC_TEXT_MAX / sizeof(Elf64_auxv_t)];
	ssize_t length = proc_read(target->proc_fd, "auxv", (char *)entries, sizeof entries);

	for (size_t i = 0; length > 0 && i < (size_t)length / sizeof entries[0]; i++)
		if (entries[i].a_type == AT_RANDOM)
			target->random_at = entries[i].a_un.a_val;
	if (target->random_at && !read_random(target, target->random))
		target->random_at = 0;
}

bool target_has_memory(const struct target *target)
{
	u64 random[2];

	return !target->random_at || read_random(target, random);
}

enum target_change target_check(const struct target *target)
{
	struct proc_stat stat;
	u64 random[2];

	if (!proc_read_stat(target->proc_fd, &stat))
		return proc_cannot_open() ? TARGET_SAME : TARGET_GONE;
	if (proc_stat_ended(&stat) || stat.start_time != target->start_time)
		return TARGET_GONE;
	if (!target->random_at)
		return TARGET_SAME;
	if (read_random(target, random))
		return memcmp(random, target->random, sizeof random) ? TARGET_EXECED : TARGET_SAME;
	/* No memory: it is ending. But a /proc/PID/mem from before an exec says so too. */
	return errno == ESRCH && target->mem.mem_fd < 0 ? TARGET_GONE : TARGET_EXECED;
}

/* --- opening ----------------------------------------------------------------------------- */

static bool read_memory_facts(struct target *target, struct err *err)
{
	struct err why = { 0 };

	if (!target_read_maps(target, err)) {
		/* The same right opens maps and memory, and the memory knows how to explain it. */
		if (err && err->code == ERR_PERMISSION &&
		    !mem_live_probe(&target->mem, 4096, &why) && why.code == ERR_PERMISSION)
			*err = why;
		return false;
	}
	for (u32 i = 0; i < target->maps.all.count; i++) {
		if (!target->maps.all.at[i].readable)
			continue;
		if (mem_live_probe(&target->mem, target->maps.all.at[i].start, &why))
			return true;
		if (why.code == ERR_PERMISSION || why.code == ERR_NO_PROCESS)
			break;
	}
	if (err)
		*err = why;
	return false;
}

void target_init(struct target *target, u32 pid)
{
	*target = (struct target){ .pid = pid, .proc_fd = -1 };
	mem_live_init(&target->mem, pid);
}

bool target_open(struct target *target, u32 pid, struct err *err)
{
	target_init(target, pid);
	if (open_proc(target, err) && read_identity(target, err) &&
	    read_memory_facts(target, err)) {
		read_exe(target);
		read_incarnation(target);
		return true;
	}
	target_close(target);
	return false;
}

bool target_of_fork(struct target *target, const struct target *parent, u32 pid, u64 start_time)
{
	*target = *parent;
	target->pid = target->inner_pid = pid;
	target->start_time = start_time;
	target->proc_fd = -1;
	memset(&target->maps, 0, sizeof target->maps);
	mem_live_init(&target->mem, pid);
	if (!vec_grow(&target->maps.all, parent->maps.all.count) ||
	    !vec_grow(&target->maps.paths, parent->maps.paths.count)) {
		target_close(target);
		return false;
	}
	target->maps.all.count = parent->maps.all.count;
	target->maps.paths.count = parent->maps.paths.count;
	memcpy(target->maps.all.at, parent->maps.all.at,
	       parent->maps.all.count * sizeof parent->maps.all.at[0]);
	memcpy(target->maps.paths.at, parent->maps.paths.at, parent->maps.paths.count);
	return true;
}

void target_close(struct target *target)
{
	mem_live_fini(&target->mem);
	maps_free(&target->maps);
	if (target->proc_fd >= 0)
		close(target->proc_fd);
	target->proc_fd = -1;
}
