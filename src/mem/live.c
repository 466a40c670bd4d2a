/* SPDX-License-Identifier: Apache-2.0
 * live.c - see live.h.
 *
 *	spans:  [a][b][c] ... one iovec each, 1,024 (IOV_MAX) to a system call
 *	answer: bytes copied, in order; it ends in the first span that is not there
 *
 * The kernel names an error only when nothing at all was copied, so a short
 * answer is reported as EFAULT without asking again: on the hot path a failed
 * sample costs no second call.
 *
 * Where process_vm_readv is refused (EPERM from a container's seccomp filter,
 * ENOSYS) /proc/PID/mem is tried once and kept if it opens: a system call a span,
 * the same answers, but for pages that the target may not read itself (PROT_NONE):
 * the file reads them, too (FOLL_FORCE).  Its descriptor keeps naming the memory of
 * the image that ran when it was opened; after an exec it reads nothing, which says
 * ESRCH. */
#include "mem/live.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SPANS_MAX = IOV_MAX };

/* The state behind a const struct mem_live is its owner's, who made it non-const (mem.h). */
static struct mem_live *owned(const struct mem_live *live)
{
	return (struct mem_live *)live;
}

/* Bytes read of the spans, in order; -1 and errno. */
static ssize_t read_vectored(struct mem_live *live, const struct mem_span *spans, u32 count)
{
	struct iovec local[SPANS_MAX], remote[SPANS_MAX];
	u32 places = 0;
	u8 *end = NULL;

	for (u32 i = 0; i < count; i++) {
		remote[i] = (struct iovec){ (void *)(uintptr_t)spans[i].addr, spans[i].len };
		if (spans[i].dst == end) /* one place costs the kernel less than many */
			local[places - 1].iov_len += spans[i].len;
		else
			local[places++] = (struct iovec){ spans[i].dst, spans[i].len };
		end = (u8 *)spans[i].dst + spans[i].len;
	}
	live->calls++;
	return process_vm_readv((pid_t)live->pid, local, places, remote, count, 0);
}

/* How many spans `bytes` fill from the front. */
static u32 whole_spans(const struct mem_span *spans, u32 count, u64 bytes)
{
	u32 whole = 0;

	while (whole < count && bytes >= spans[whole].len)
		bytes -= spans[whole++].len;
	return whole;
}

static bool open_memory_file(struct mem_live *live)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%u/mem", live->pid);
	live->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	return live->mem_fd >= 0;
}

static u32 read_file(struct mem_live *live, const struct mem_span *spans, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		if (spans[i].addr > INT64_MAX) {
			errno = EFAULT; /* no offset of a file; nor has user space such addresses */
			return i;
		}
		live->calls++;
		ssize_t got = pread(live->mem_fd, spans[i].dst, spans[i].len, (off_t)spans[i].addr);
		if (got == (ssize_t)spans[i].len)
			continue;
		errno = got == 0 ? ESRCH : EFAULT; /* 0: that memory has no owner any more */
		return i;
	}
	return count;
}

u32 mem_live_readv(const struct mem_live *live, const struct mem_span *spans, u32 count)
{
	struct mem_live *own = owned(live);

	for (u32 done = 0; done < count;) {
		u32 batch = count - done < SPANS_MAX ? count - done : SPANS_MAX;

		if (own->mem_fd >= 0)
			return done + read_file(own, spans + done, count - done);
		ssize_t got = read_vectored(own, spans + done, batch);
		if (got < 0) {
			int why = errno;
			if ((why == EPERM || why == ENOSYS) && open_memory_file(own))
				continue;
			errno = why;
			return done;
		}
		u32 whole = whole_spans(spans + done, batch, (u64)got);
		done += whole;
		if (whole < batch) {
			errno = EFAULT;
			return done;
		}
	}
	return count;
}

static bool live_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct mem_live *live = (const struct mem_live *)mem;
	struct mem_span span = { addr, dst, len };

	(void)hold; /* one read at a time cannot prove anything; plan.c can */
	return mem_live_readv(live, &span, 1) == 1;
}

void mem_live_init(struct mem_live *live, u32 pid)
{
	*live = (struct mem_live){ .mem = { .read = live_read }, .pid = pid, .mem_fd = -1 };
}

void mem_live_fini(struct mem_live *live)
{
	if (live->mem_fd >= 0)
		close(live->mem_fd);
	live->mem_fd = -1;
}

/* --- why not? ---------------------------------------------------------------------------- */

static bool has_capability(u32 capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability));
}

/* kernel.yama.ptrace_scope, or -1 without Yama. */
static int read_ptrace_scope(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = -1;

	if (file) {
		if (fscanf(file, "%d", &scope) != 1)
			scope = -1;
		fclose(file);
	}
	return scope;
}

static bool explain_refusal(u32 pid, struct err *err)
{
	static const char *const scopes[] = {
		"",
		"; kernel.yama.ptrace_scope is 1, which allows only parents: run as root or set it to 0",
		"; kernel.yama.ptrace_scope is 2, which demands CAP_SYS_PTRACE: run as root",
		"; kernel.yama.ptrace_scope is 3, which forbids it to everybody until the next boot",
	};
	int scope = read_ptrace_scope();
	struct stat st;
	char path[32];

	snprintf(path, sizeof path, "/proc/%u", pid);
	if (stat(path, &st) < 0)
		st.st_uid = 0;
	err_sys(err, EPERM, "process %u: its memory may not be read", pid);
	if (has_capability(CAP_SYS_PTRACE))
		err_hint(
			err,
			"we have CAP_SYS_PTRACE, so a security module, a seccomp filter or another "
			"user namespace forbids it: run sonde outside the container");
	else if (st.st_uid == geteuid())
		err_hint(
			err,
			"it is our own user's; its program may forbid it (prctl PR_SET_DUMPABLE)%s; in "
			"a container add --cap-add SYS_PTRACE",
			scope > 0 && scope <= 3 ? scopes[scope] : "");
	else
		err_hint(err,
			 "it belongs to user %u, which needs CAP_SYS_PTRACE: run as root%s; in a "
			 "container add --cap-add SYS_PTRACE%s",
			 st.st_uid, st.st_uid ? " or as that user" : "",
			 scope > 1 && scope <= 3 ? scopes[scope] : "");
	return false;
}

bool mem_live_probe(const struct mem_live *live, u64 addr, struct err *err)
{
	struct mem_span span = { addr, &(u8){ 0 }, 1 };

	if (mem_live_readv(live, &span, 1) == 1)
		return true;
	switch (errno) {
	case ESRCH:
		return err_set(err, ERR_NO_PROCESS, "process %u has ended", live->pid);
	case EPERM:
	case EACCES:
		return explain_refusal(live->pid, err);
	case EFAULT:
		return err_set(err, ERR_BAD_DATA, "process %u: nothing is mapped at 0x%llx",
			       live->pid, (unsigned long long)addr);
	default:
		return err_sys(err, errno, "process %u: its memory cannot be read", live->pid);
	}
}
