/* SPDX-License-Identifier: Apache-2.0
 * state.c - does a thread run now, and how much has it run?
 *
 * Four files of /proc/PID/task/TID know something about it (kernel 6.18, kept open):
 *
 *	file       us        what it says
 *	schedstat  0.6       CPU time and how often switched in; not whether it runs now
 *	syscall    0.8-1.6   "running", but asking may sleep: wait_task_inactive() waits a tick for
 *	                     a thread that is just going to sleep, and it needs the right to attach
 *	wchan      0.8-1.8   "0" when running, but also when refused, unknown or not built in
 *	stat       3.1       the state's letter, always, for everybody
 *
 * So the letter of stat is the answer, and schedstat saves reading it, for as long as it reads as
 * it did before that answer.  A thread that slept would have been switched in; one that ran is
 * charged its CPU time when it is switched out, and at each tick.  Both words count: a thread that is
 * woken while it goes to sleep is never switched out, so its count stays; its time moves at the
 * next tick. */
#include "target/proc.h"
#include "target/target.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Kernel threads aside: R runs or waits for a CPU, S sleeps, D sleeps uninterruptibly, T is stopped
 * by a signal, t by a tracer, Z and X have ended, I is idle (kernel), P parked (kernel). */
static enum thread_run_state state_of_letter(char letter)
{
	switch (letter) {
	case 'R':
		return THREAD_RUNNING;
	case 'D':
		return THREAD_BLOCKED;
	case 'T':
	case 't':
		return THREAD_STOPPED;
	case 'Z':
	case 'X':
	case 'x':
		return THREAD_GONE;
	default:
		return THREAD_SLEEPING;
	}
}

static enum thread_run_state state_of_stat(const char *text, ssize_t length)
{
	const char *close = length > 0 ? memrchr(text, ')', (size_t)length) : NULL;

	if (!close || close + 2 >= text + length)
		return THREAD_GONE;
	return state_of_letter(close[2]);
}

static bool time_of_schedstat(const char *text, ssize_t length, struct thread_time *out)
{
	const char *at = text;

	if (length <= 0)
		return false;
	out->cpu_ns = proc_decimal(&at);
	at += *at == ' ';
	proc_decimal(&at); /* time spent waiting for a CPU */
	at += *at == ' ';
	out->runs = proc_decimal(&at);
	return true;
}

enum thread_run_state target_thread_state(const struct target *target, u32 tid)
{
	char name[32], text[PROC_TEXT_MAX];

	snprintf(name, sizeof name, "task/%u/stat", tid);
	return state_of_stat(text, proc_read(target->proc_fd, name, text, sizeof text));
}

bool target_thread_time(const struct target *target, u32 tid, struct thread_time *out)
{
	char name[32], text[96];

	snprintf(name, sizeof name, "task/%u/schedstat", tid);
	return time_of_schedstat(text, proc_read(target->proc_fd, name, text, sizeof text), out);
}

/* --- kept open --------------------------------------------------------------------------- */

/* Of the files that we may have open, so many are left for others: where there are more threads than that, those that come
 * last are asked by name. */
enum { SPARE_FILES = 64 };

static bool is_spare(int file)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) || (u64)file + SPARE_FILES < limit.rlim_cur;
}

static int open_task_file(const struct target *target, u32 tid, const char *file)
{
	char name[32];

	snprintf(name, sizeof name, "task/%u/%s", tid, file);
	int opened = openat(target->proc_fd, name, O_RDONLY | O_CLOEXEC);
	if (opened < 0 || is_spare(opened))
		return opened;
	close(opened);
	errno = EMFILE;
	return -1;
}

/* Only while there are descriptors to spare: it takes one for each thread. */
static bool open_switches(struct thread_probe *probe)
{
	if (switches_open(&probe->switches, probe->tid) && is_spare(probe->switches.fd))
		return true;
	switches_close(&probe->switches);
	return false;
}

bool thread_probe_open(struct thread_probe *probe, const struct target *target, u32 tid)
{
	*probe = (struct thread_probe){ .proc_fd = target->proc_fd,
					.stat_fd = -1,
					.tid = tid,
					.state = THREAD_RUNNING,
					.switches = { .fd = -1 } };
	probe->schedstat_fd = open_task_file(target, tid, "schedstat");
	return probe->schedstat_fd >= 0;
}

void thread_probe_close(struct thread_probe *probe)
{
	if (probe->schedstat_fd >= 0)
		close(probe->schedstat_fd);
	if (probe->stat_fd >= 0)
		close(probe->stat_fd);
	probe->schedstat_fd = probe->stat_fd = -1;
	switches_close(&probe->switches);
}

bool thread_probe_time(const struct thread_probe *probe, struct thread_time *out)
{
	char name[32], text[96];

	if (probe->schedstat_fd >= 0)
		return time_of_schedstat(text, proc_reread(probe->schedstat_fd, text, sizeof text),
					 out);
	if (!probe->tid)
		return false;
	snprintf(name, sizeof name, "task/%u/schedstat", probe->tid);
	return time_of_schedstat(text, proc_read(probe->proc_fd, name, text, sizeof text), out);
}

/* A thread that was there is taken to be there so long. */
static const u64 THERE_NS = 200 * NS_PER_US;

enum thread_run_state thread_probe_state(struct thread_probe *probe, const struct target *target,
					 const struct switches_moment *moment, bool is_there)
{
	struct thread_time time = { 0 };
	char text[PROC_TEXT_MAX];

	enum switches_state switched = switches_read(&probe->switches, moment, probe->released_ns);
	if (switched == SWITCHES_OFF_CPU)
		return probe->state = THREAD_SLEEPING;
	/* one that has ended stays on its CPU for ever: it is asked for its time, which it then has not */
	if (switched == SWITCHES_ON_CPU && (is_there || moment->at_ns < probe->there_ns + THERE_NS))
		return probe->state = THREAD_RUNNING;
	if (!thread_probe_time(probe, &time))
		return THREAD_GONE;
	probe->there_ns = moment->at_ns;
	if (switched == SWITCHES_ON_CPU)
		return probe->state = THREAD_RUNNING;
	/* 0 runs: a kernel without CONFIG_SCHED_INFO */
	if (time.runs && time.runs == probe->time.runs && time.cpu_ns == probe->time.cpu_ns)
		return probe->state;
	if (probe->stat_fd < 0)
		probe->stat_fd = open_task_file(target, probe->tid, "stat");
	if (probe->stat_fd < 0) /* gone, or no descriptor left */
		return target_thread_state(target, probe->tid);
	probe->state = state_of_stat(text, proc_reread(probe->stat_fd, text, sizeof text));
	probe->time = time;
	if (probe->state == THREAD_RUNNING && !probe->switches.pages && !probe->unwatchable)
		probe->unwatchable = !open_switches(probe);
	return probe->state;
}

bool thread_probe_watch(struct thread_probe *probe, const struct target *target)
{
	if (probe->switches.pages || probe->unwatchable)
		return probe->switches.pages;
	probe->unwatchable = !open_switches(probe);
	if (probe->unwatchable)
		return false;
	/* who sleeps now, and is not switched, sleeps on */
	probe->slept_mark = 0;
	probe->slept = target_thread_state(target, probe->tid) == THREAD_SLEEPING;
	return true;
}

bool thread_probe_slept(struct thread_probe *probe)
{
	static const struct switches_moment now = { .at_ns = UINT64_MAX, .woke_ns = UINT64_MAX };
	u64 mark = switches_mark(&probe->switches);

	if (mark == probe->slept_mark && probe->slept)
		return true;
	probe->slept_mark = mark;
	probe->slept = switches_read(&probe->switches, &now, 0) == SWITCHES_OFF_CPU;
	return false;
}

enum { WAIT_TRIES = 4 };

/* "NUMBER ARGUMENT ...", numbers as for the thread's own machine; "-1 ..." is no call.  False: it runs, or waits for a CPU. */
static bool read_futex(const struct target *target, u32 tid, u64 *out)
{
	char name[32], text[PROC_TEXT_MAX];
	unsigned long long argument;
	long number;

	*out = 0;
	snprintf(name, sizeof name, "task/%u/syscall", tid);
	if (proc_read(target->proc_fd, name, text, sizeof text) <= 0)
		return true;
	if (!strncmp(text, "running", strlen("running")))
		return false;
	if (sscanf(text, "%ld %llx", &number, &argument) == 2 && number == SYS_futex)
		*out = argument;
	return true;
}

enum thread_run_state target_thread_wait(const struct target *target, u32 tid, u64 *futex)
{
	enum thread_run_state state = THREAD_RUNNING;
	bool is_one = false;

	*futex = 0;
	for (u32 i = 0; i < WAIT_TRIES && !is_one; i++) {
		state = target_thread_state(target, tid);
		/* it sleeps, and then runs: the two are not of one moment */
		is_one = state != THREAD_SLEEPING || read_futex(target, tid, futex);
	}
	return is_one ? state : THREAD_RUNNING;
}

/* --- the whole process ------------------------------------------------------------------- */

/* The kernel's clock of a process's CPU time (CPUCLOCK_SCHED = 2), as clock_getcpuclockid() makes
 * it; that function also asks whether the process is there, which costs a second call. */
static clockid_t process_clock(u32 pid)
{
	return (clockid_t)(~pid << 3 | 2);
}

bool target_cpu_ns(const struct target *target, u64 *out)
{
	struct timespec t;
	struct proc_stat stat;

	if (clock_gettime(process_clock(target->pid), &t) == 0) {
		*out = (u64)t.tv_sec * NS_PER_S + (u64)t.tv_nsec;
		return true;
	}
	long hz = sysconf(_SC_CLK_TCK);
	if (hz <= 0 || !proc_read_stat(target->proc_fd, &stat))
		return false;
	*out = (stat.user_ticks + stat.system_ticks) * (NS_PER_S / (u64)hz);
	return true;
}
