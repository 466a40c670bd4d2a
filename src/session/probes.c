/* SPDX-License-Identifier: Apache-2.0
 * probes.c - see probes.h. */
#include "session/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#ifdef WITH_BPF
#include "engines/kernel/program.h"
#endif
#include "session/privilege.h"

static void say_yes(struct probe_result *out, const char *found)
{
	out->outcome = PROBE_YES;
	snprintf(out->found, sizeof out->found, "%s", found);
}

static void say_errno(struct probe_result *out, const char *what, int errnum)
{
	out->outcome = PROBE_NO;
	snprintf(out->found, sizeof out->found, "%s: %s", what, strerror(errnum));
}

/* --- a process to try things on -------------------------------------------- */

/* It waits for the end of the pipe and leaves; it never runs anything else. */
struct dummy {
	pid_t pid;
	pid_t reap; /* the child of ours to wait for, or 0 */
	int hold;
};

static _Noreturn void wait_and_leave(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* A child; or, with `orphan`, a process that is no descendant of ours any more: Yama allows
 * descendants what it forbids for all others. */
static bool dummy_start(struct dummy *dummy, bool orphan)
{
	int hold[2], tell[2];

	if (pipe2(hold, O_CLOEXEC) != 0)
		return false;
	AUTO_CLOSE int hold_read = hold[0];
	AUTO_CLOSE int hold_write = hold[1];
	if (pipe2(tell, O_CLOEXEC) != 0)
		return false;
	AUTO_CLOSE int tell_read = tell[0];
	AUTO_CLOSE int tell_write = tell[1];

	pid_t child = fork();
	if (child == 0) {
		pid_t pid = orphan ? fork() : getpid();

		close(hold_write);
		if (!orphan || pid == 0) {
			pid = getpid();
			(void)!write(tell_write, &pid, sizeof pid);
			wait_and_leave(hold_read);
		}
		_exit(0);
	}
	if (child < 0)
		return false;
	if (orphan)
		waitpid(child, NULL, 0);
	close(take_fd(&tell_write));
	*dummy = (struct dummy){ .reap = orphan ? 0 : child };
	if (read(tell_read, &dummy->pid, sizeof dummy->pid) != sizeof dummy->pid)
		dummy->pid = 0;
	dummy->hold = take_fd(&hold_write);
	return true;
}

static void dummy_end(struct dummy *dummy)
{
	close(dummy->hold);
	if (dummy->reap)
		waitpid(dummy->reap, NULL, 0);
}

static void try_reading(struct probe_result *out, bool orphan)
{
	static const char pattern[] = "sonde reads this";
	char copy[sizeof pattern] = "";
	struct dummy dummy;

	if (!dummy_start(&dummy, orphan)) {
		say_errno(out, "fork", errno);
		return;
	}
	struct iovec local = { copy, sizeof copy };
	struct iovec remote = { (void *)pattern, sizeof pattern };
	ssize_t n = process_vm_readv(dummy.pid, &local, 1, &remote, 1, 0);
	int errnum = n < 0 ? errno : EIO;
	dummy_end(&dummy);
	if (n == sizeof copy && !memcmp(copy, pattern, sizeof copy))
		say_yes(out, "process_vm_readv");
	else
		say_errno(out, "process_vm_readv", errnum);
}

static void probe_read_child(struct probe_result *out)
{
	try_reading(out, false);
}

static void probe_read_own(struct probe_result *out)
{
	try_reading(out, true);
}

static void probe_ptrace(struct probe_result *out)
{
	struct dummy dummy;
	int status;

	if (!dummy_start(&dummy, true)) {
		say_errno(out, "fork", errno);
		return;
	}
	/* As the reader does it: never PTRACE_ATTACH, whose SIGSTOP can outlive us. */
	if (ptrace(PTRACE_SEIZE, dummy.pid, NULL, NULL) != 0)
		say_errno(out, "PTRACE_SEIZE", errno);
	else if (ptrace(PTRACE_INTERRUPT, dummy.pid, NULL, NULL) != 0)
		say_errno(out, "PTRACE_INTERRUPT", errno);
	else if (waitpid(dummy.pid, &status, __WALL) != dummy.pid || !WIFSTOPPED(status))
		say_errno(out, "it did not stop", ECHILD);
	else if (ptrace(PTRACE_DETACH, dummy.pid, NULL, NULL) != 0)
		say_errno(out, "PTRACE_DETACH", errno);
	else
		say_yes(out, "seized, stopped and let go");
	dummy_end(&dummy);
}

/* --- the kernel's own answers ---------------------------------------------- */

static void probe_kernel(struct probe_result *out)
{
	struct utsname name;

	out->outcome = PROBE_FACT;
	if (uname(&name) == 0)
		snprintf(out->found, sizeof out->found, "%.40s %.60s, %.30s", name.sysname,
			 name.release, name.machine);
}

static void probe_user(struct probe_result *out)
{
	struct spawn_identity sudo;

	out->outcome = PROBE_FACT;
	int length = snprintf(out->found, sizeof out->found, "uid %u", geteuid());
	if (privilege_read_sudo(&sudo))
		snprintf(out->found + length, sizeof out->found - (size_t)length,
			 ", for %s (uid %u) by sudo", sudo.name, sudo.uid);
}

static void show_sysctl(struct probe_result *out, const char *name, const char *absent)
{
	s64 value;

	out->outcome = PROBE_FACT;
	if (privilege_read_sysctl(name, &value))
		snprintf(out->found, sizeof out->found, "%lld", (long long)value);
	else
		snprintf(out->found, sizeof out->found, "%s", absent);
}

static void probe_ptrace_scope(struct probe_result *out)
{
	show_sysctl(out, "kernel/yama/ptrace_scope", "no Yama: not restricted");
}

static void probe_paranoid(struct probe_result *out)
{
	show_sysctl(out, "kernel/perf_event_paranoid", "no perf events in this kernel");
}

static void show_capability(struct probe_result *out, u32 capability)
{
	bool has = privilege_has_capability(capability);

	out->outcome = has ? PROBE_YES : PROBE_NO;
	snprintf(out->found, sizeof out->found, "%s", has ? "in the effective set" : "not held");
}

static void probe_cap_ptrace(struct probe_result *out)
{
	show_capability(out, CAP_SYS_PTRACE);
}

static void probe_cap_perfmon(struct probe_result *out)
{
	show_capability(out, CAP_PERFMON);
}

static void probe_cap_bpf(struct probe_result *out)
{
	show_capability(out, CAP_BPF);
}

static void probe_memlock(struct probe_result *out)
{
	struct rlimit limit;

	out->outcome = PROBE_FACT;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		snprintf(out->found, sizeof out->found, "%s", strerror(errno));
	else if (limit.rlim_cur == RLIM_INFINITY)
		snprintf(out->found, sizeof out->found, "unlimited");
	else
		snprintf(out->found, sizeof out->found, "%llu KiB",
			 (unsigned long long)limit.rlim_cur / 1024);
}

/* --- tried ----------------------------------------------------------------- */

/* The side-band as target/tracker.h opens it: one dummy event on one CPU, for every process, and
 * its ring. */
static void probe_sideband(struct probe_result *out)
{
	enum { RING_PAGES = 1 + 8 };
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.task = 1,
		.comm = 1,
		.comm_exec = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	AUTO_CLOSE int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1,
					 PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		say_errno(out, "perf_event_open", errno);
		return;
	}
	size_t length = RING_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	void *ring = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		say_errno(out, "its ring", errno);
		return;
	}
	munmap(ring, length);
	say_yes(out, "perf_event_open");
}

static void probe_bpf(struct probe_result *out)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(u32);
	attr.value_size = sizeof(u64);
	attr.max_entries = 1;
	AUTO_CLOSE int fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr);
	if (fd < 0)
		say_errno(out, "BPF_MAP_CREATE", errno);
	else
		say_yes(out, "a map was made");
}

/* The clock of a CPU, whatever runs there. */
static void probe_clock(struct probe_result *out)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
		.sample_period = NS_PER_S,
	};
	AUTO_CLOSE int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1,
					 PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		say_errno(out, "perf_event_open", errno);
	else
		say_yes(out, "cpu-clock");
}

/* The program of the engine itself: what the verifier says here is what it says when it matters. */
static void probe_programs(struct probe_result *out)
{
#ifdef WITH_BPF
	struct kernel_program_options options = { .hz = 1,
						  .table_words = 1 << 12,
						  .with_clock = true };
	struct kernel_program program = { 0 };
	struct err err = { 0 };
	u64 begin_ns = clock_now_ns();

	if (kernel_program_open(&program, &options, NULL, NULL, &err)) {
		say_yes(out, "");
		snprintf(out->found, sizeof out->found, "loaded in %u ms",
			 (u32)((clock_now_ns() - begin_ns) / NS_PER_MS));
	} else {
		out->outcome = PROBE_NO;
		snprintf(out->found, sizeof out->found, "%.150s", err.text);
	}
	kernel_program_close(&program);
#else
	out->outcome = PROBE_NO;
	snprintf(out->found, sizeof out->found, "this sonde was built without them");
#endif
}

static void probe_tracefs(struct probe_result *out)
{
	AUTO_CLOSE int fd = open("/sys/kernel/tracing/events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		say_errno(out, "/sys/kernel/tracing/events", errno);
	else
		say_yes(out, "/sys/kernel/tracing/events");
}

/* Who may not see the addresses is shown zeros. (The first may be zero.) */
static void probe_kallsyms(struct probe_result *out)
{
	char lines[4096] = "";
	AUTO_CLOSE int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	u64 seen = 0;

	if (fd < 0 || read(fd, lines, sizeof lines - 1) <= 0) {
		say_errno(out, "/proc/kallsyms", errno);
		return;
	}
	for (const char *line = lines; *line; line += *line == '\n') {
		seen |= strtoull(line, NULL, 16);
		line += strcspn(line, "\n");
	}
	if (seen)
		say_yes(out, "/proc/kallsyms");
	else
		say_errno(out, "addresses in /proc/kallsyms", EPERM);
}

static void probe_btf(struct probe_result *out)
{
	u16 magic = 0;
	AUTO_CLOSE int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		say_errno(out, "/sys/kernel/btf/vmlinux", errno);
	else if (read(fd, &magic, sizeof magic) != sizeof magic || magic != 0xeb9f)
		say_errno(out, "/sys/kernel/btf/vmlinux", EBADMSG);
	else
		say_yes(out, "/sys/kernel/btf/vmlinux");
}

static void probe_openat2(struct probe_result *out)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	AUTO_CLOSE int root = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int fd = (int)syscall(SYS_openat2, root, "/stat", &how, sizeof how);

	if (fd < 0)
		say_errno(out, "openat2", errno);
	else
		say_yes(out, "RESOLVE_IN_ROOT");
}

/* Our own executable, by the range that it is mapped at: the first line of our maps. */
static void probe_map_files(struct probe_result *out)
{
	char line[64], path[96];
	AUTO_CLOSE int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t n = maps >= 0 ? read(maps, line, sizeof line - 1) : -1;

	if (n <= 0) {
		say_errno(out, "/proc/self/maps", n ? errno : ENODATA);
		return;
	}
	line[n] = 0;
	snprintf(path, sizeof path, "/proc/self/map_files/%.*s", (int)strcspn(line, " "), line);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		say_errno(out, "map_files", errno);
	else
		say_yes(out, "/proc/PID/map_files");
}

static void probe_other_users(struct probe_result *out)
{
	char byte;
	AUTO_CLOSE int fd = open("/proc/1/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, &byte, 1) != 1)
		say_errno(out, "/proc/1/stat", errno);
	else
		say_yes(out, "/proc/1/stat");
}

/* --- the table ------------------------------------------------------------- */

#define SETCAP(file, docker)                                                           \
	"run sonde under sudo, or once: sudo setcap " file "+ep $(command -v sonde); " \
	"in a container start it with " docker

const struct probe probes[] = {
	{
		.name = "kernel",
		.title = "kernel",
		.run = probe_kernel,
	},
	{
		.name = "user",
		.title = "user",
		.run = probe_user,
	},
	{
		.name = "read-child",
		.title = "reading the memory of a child",
		.needed_for = "sonde record COMMAND",
		.grant =
			"a seccomp filter forbids process_vm_readv: in Docker, --cap-add=SYS_PTRACE lifts it",
		.run = probe_read_child,
	},
	{
		.name = "read-own",
		.title = "reading processes started elsewhere",
		.needed_for = "sonde record -p PID, sonde dump",
		.grant =
			"sudo sysctl kernel.yama.ptrace_scope=0, or CAP_SYS_PTRACE: run sonde under sudo",
		.run = probe_read_own,
	},
	{
		.name = "cap-sys-ptrace",
		.title = "CAP_SYS_PTRACE",
		.needed_for = "processes of other users",
		.grant = SETCAP("cap_sys_ptrace", "--cap-add=SYS_PTRACE"),
		.run = probe_cap_ptrace,
	},
	{
		.name = "ptrace",
		.title = "stopping a thread for microseconds",
		.needed_for = "--pause=auto and --pause=always",
		.grant = "as for reading processes started elsewhere",
		.run = probe_ptrace,
	},
	{
		.name = "ptrace-scope",
		.title = "kernel.yama.ptrace_scope",
		.means = "0: your processes can be read; 1: only children",
		.run = probe_ptrace_scope,
	},
	{
		.name = "processes-visible",
		.title = "seeing other users' processes in /proc",
		.needed_for = "processes of other users",
		.grant =
			"/proc is mounted with hidepid: join the group that its gid= names, or use sudo",
		.run = probe_other_users,
	},
	{
		.name = "map-files",
		.title = "opening mapped files by their range",
		.needed_for = "programs whose files were replaced or deleted since they started",
		.grant = SETCAP("cap_checkpoint_restore", "--cap-add=CHECKPOINT_RESTORE"),
		.run = probe_map_files,
	},
	{
		.name = "openat2",
		.title = "opening a target's files safely",
		.needed_for = "finding the runtime, and names of native functions",
		.grant = "a seccomp filter forbids openat2: update the container's runtime",
		.run = probe_openat2,
	},
	{
		.name = "perf-sideband",
		.title = "reports of new processes by the kernel",
		.needed_for = "children that live for milliseconds; without it sonde polls /proc",
		.grant = SETCAP(
			"cap_perfmon",
			"--cap-add=PERFMON") "; or for everybody: sudo sysctl kernel.perf_event_paranoid=0",
		.run = probe_sideband,
	},
	{
		.name = "perf-event-paranoid",
		.title = "kernel.perf_event_paranoid",
		.means = "0 or less: every user gets reports of new processes",
		.run = probe_paranoid,
	},
	{
		.name = "cap-perfmon",
		.title = "CAP_PERFMON",
		.needed_for = "reports of new processes, and sampling in the kernel",
		.grant = SETCAP("cap_perfmon", "--cap-add=PERFMON"),
		.run = probe_cap_perfmon,
	},
	{
		.name = "cap-bpf",
		.title = "CAP_BPF",
		.needed_for = "sampling in the kernel",
		.grant = SETCAP("cap_bpf", "--cap-add=BPF"),
		.run = probe_cap_bpf,
	},
	{
		.name = "bpf",
		.title = "making BPF maps",
		.needed_for = "sampling in the kernel",
		.grant = SETCAP("cap_bpf,cap_perfmon", "--cap-add=BPF --cap-add=PERFMON"),
		.run = probe_bpf,
	},
	{
		.name = "btf",
		.title = "the kernel's types (BTF)",
		.needed_for = "sampling in the kernel",
		.grant = "a kernel built with CONFIG_DEBUG_INFO_BTF",
		.run = probe_btf,
	},
	{
		.name = "cpu-clock",
		.title = "the clock of every CPU",
		.needed_for = "sampling in the kernel",
		.grant = SETCAP("cap_perfmon", "--cap-add=PERFMON"),
		.run = probe_clock,
	},
	{
		.name = "kernel-programs",
		.title = "loading the programs of the kernel engine",
		.needed_for = "sampling in the kernel, and sonde trace",
		.grant = "Linux 5.17 or newer with BTF; " SETCAP("cap_bpf,cap_perfmon",
								 "--cap-add=BPF --cap-add=PERFMON"),
		.run = probe_programs,
	},
	{
		.name = "kallsyms",
		.title = "names of kernel functions",
		.needed_for = "the kernel's frames; without them they are [unknown]",
		.grant = SETCAP("cap_syslog", "--cap-add=SYSLOG") "; kernel.kptr_restrict below 2",
		.run = probe_kallsyms,
	},
	{
		.name = "tracefs",
		.title = "the kernel's tracepoints",
		.needed_for = "sonde trace tracepoint:...",
		.grant = "as root: mount -t tracefs nodev /sys/kernel/tracing",
		.run = probe_tracefs,
	},
	{
		.name = "memlock",
		.title = "memory that may be locked (ulimit -l)",
		.means = "for perf rings, without CAP_PERFMON",
		.run = probe_memlock,
	},
};
const u32 probe_count = COUNT_OF(probes);
