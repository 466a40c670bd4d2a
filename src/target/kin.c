/* SPDX-License-Identifier: Apache-2.0
 * kin.c - see kin.h. */
#include "target/kin.h"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "target/proc.h"

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

	return dir >= 0 && proc_read_stat(dir, &stat) && !proc_stat_ended(&stat);
}
