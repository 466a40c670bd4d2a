/* SPDX-License-Identifier: Apache-2.0
 * reader.c - the engine that reads another process's memory from outside.
 *
 * One loop: wait for a deadline, take note of forks, execs and exits, make one
 * attempt at every process.  The ledger is kept here: each process joins at a slot of
 * the schedule and leaves at one; the slots between are what is expected of it. */
#include "engines/engine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/thread.h"
#include "engines/reader/account.h"
#include "engines/reader/attempt.h"
#include "engines/reader/ghosts.h"
#include "engines/reader/process.h"
#include "engines/reader/schedule.h"
#include "engines/thread_filter.h"
#include "target/kin.h"
#include "target/tracker.h"

#define LOG_DOMAIN LOG_reader
#include "base/log.h"

enum {
	/* Asking whether a VM is there costs 1 to 10 ms. */
	IMAGE_COMES_MS = 60,
	VM_STARTS_MS = 1000,
	SOON_WAIT_MS = 3,
	STARTING_WAIT_MS = 100,
	ATTACH_WAIT_MOST_MS = 1000,
	ATTACH_SHARE = 50, /* of the time: one part asking, this many not */
	SOON_SHARE = 2,
};

static const u64 DELAYED_NS = NS_PER_MS / 2;

struct run {
	struct engine_options options;
	struct quality quality;
	struct schedule schedule;
	struct attempt attempt;
	struct tracker *tracker;
	VEC(struct reader_process *) processes;
	struct ghosts ghosts; /* gone before they were looked at, but parents */
	u64 incarnations;
	struct account_ends ends;
	seen_threads seen;
};

/* ---- processes come and go --------------------------------------------------------------- */

static bool is_sampled(const struct reader_process *process)
{
	return (process->attached.count || process->starting) && !process->shares_memory;
}

static void join(struct run *run, struct reader_process *process)
{
	process->join_slot = run->schedule.slot;
	run->quality.processes++;
	account_begin(process, clock_now_ns());
}

static void leave(struct run *run, struct reader_process *process)
{
	run->quality.expected += run->schedule.slot - process->join_slot;
	process->join_slot = run->schedule.slot;
}

static struct reader_process *process_of(const struct run *run, u32 pid)
{
	for (u32 i = 0; i < run->processes.count; i++)
		if (run->processes.at[i]->pid == pid)
			return run->processes.at[i];
	return NULL;
}

/* Since when we have looked at the image that it runs. */
static u64 begun_ns(const struct reader_process *process)
{
	return process->exec_ns > process->born_ns ? process->exec_ns : process->born_ns;
}

/* When to ask again. Soon after an exec the image is being mapped, and then the VM comes up; but a host may have mapped one
 * that it never starts. */
static void put_off_attach(struct reader_process *process, u64 now, u64 took)
{
	bool soon = now < process->exec_ns + IMAGE_COMES_MS * NS_PER_MS ||
		    (process->starting && now < begun_ns(process) + VM_STARTS_MS * NS_PER_MS);
	u64 most = (soon              ? SOON_WAIT_MS :
		    process->starting ? STARTING_WAIT_MS :
					ATTACH_WAIT_MOST_MS) *
		   NS_PER_MS;
	u64 least = took * (soon ? SOON_SHARE : ATTACH_SHARE);

	backoff_miss(&process->attach, now, NS_PER_MS, most);
	if (process->attach.next_ns < now + least)
		process->attach.next_ns = now + least;
}

/* Since it was asked the last time? Who has not has loaded nothing: a shell that waits costs nothing. */
static bool has_used_cpu(struct reader_process *process)
{
	u64 before = process->attach_cpu_ns;

	return !target_cpu_ns(process->target, &process->attach_cpu_ns) ||
	       process->attach_cpu_ns != before;
}

/* It was starting, and is no more: what it started is gone, or was never begun. */
static void stop_starting(struct run *run, struct reader_process *process)
{
	account_epoch(process, run->attempt.period_ns, clock_now_ns(), true, attempt_share,
		      &run->attempt);
	run->quality.cpu_unshared_ns += account_owed(process);
	leave(run, process);
	account_restart(process);
}

static void attach_if_due(struct run *run, struct reader_process *process)
{
	struct err err = { 0 };
	bool was_sampled = is_sampled(process);
	u64 now = clock_now_ns();

	if (!backoff_is_due(&process->attach, now))
		return;
	if (process->reopen) {
		process->reopen = !target_open(process->target, process->pid, &err);
		/* after the exec: it runs as somebody else */
		bool in_exec = now < process->exec_ns + IMAGE_COMES_MS * NS_PER_MS;
		process->attach.next_ns = now + (in_exec ? 1 : ATTACH_WAIT_MOST_MS) * NS_PER_MS;
		if (process->reopen) {
			log_debug(1, "exec of %u: %s", process->pid, err.text);
			return;
		}
	}
	if (!has_used_cpu(process)) {
		put_off_attach(process, now, 0);
		return;
	}
	u64 began = clock_own_cpu_ns();
	bool there = process_attach(process, &err);
	log_debug(1, "%llu us: attach to %u: %s", (unsigned long long)(now / NS_PER_US),
		  process->target->pid, there ? "attached" : err.text);
	put_off_attach(process, now, clock_own_cpu_ns() - began);
	if (!was_sampled && is_sampled(process))
		join(run, process);
	else if (was_sampled && !is_sampled(process))
		stop_starting(run, process);
	if (process->warning[0])
		snprintf(run->quality.warning, sizeof run->quality.warning, "%.199s",
			 process->warning);
	else if (!there && err.code == ERR_UNSUPPORTED && !run->quality.warning[0])
		snprintf(run->quality.warning, sizeof run->quality.warning,
			 "process %u is left out: %.160s", process->target->pid, err.text);
}

static inline void try_attach(struct run *run, struct reader_process *process)
{
	if (!process->attached.count)
		attach_if_due(run, process);
}

/* A vfork child runs in its parent's memory until its exec: its stack there is its parent's. When
 * the parent is a ghost, the memory may be that of whoever runs the same program. */
static bool is_in_other_memory(const struct run *run, const struct reader_process *child,
			       const struct reader_process *parent)
{
	if (parent->target)
		return target_shares_memory(child->target, parent->target);
	for (u32 i = 0; i < run->processes.count; i++) {
		const struct reader_process *other = run->processes.at[i];
		if (other != child && other->program == child->program &&
		    target_shares_memory(child->target, other->target))
			return true;
	}
	return false;
}

static void on_fork(struct run *run, const struct tracker_event *event)
{
	u32 pid = event->pid;
	const struct reader_process *parent = process_of(run, event->parent);
	struct err err = { 0 };

	if (!parent)
		parent = ghosts_find(&run->ghosts, event->parent);
	if (!parent || !run->options.children || process_of(run, pid))
		return;
	ghosts_drop(&run->ghosts, pid); /* its number was free again */
	struct reader_process *child = process_fork(parent, pid, ++run->incarnations);
	if (!child)
		return;
	if (!process_open(child, &err)) {
		log_debug(1, "child %u: %s", pid, err.text);
		ghosts_keep(&run->ghosts, child, clock_now_ns());
		return;
	}
	if (!vec_push(&run->processes, child)) {
		process_free(child);
		return;
	}
	child->born_here = !event->was_there;
	if (event->other_image) {
		child->reopen = !process_exec(child, child->incarnation, &err);
		try_attach(run, child);
		return;
	}
	child->shares_memory = is_in_other_memory(run, child, parent);
	if (is_sampled(child))
		join(run, child);
}

/* A ghost's children no longer have what its parent had; or it was only in the middle of this exec
 * when it was looked for, and is there. */
static void on_ghost_exec(struct run *run, u32 pid)
{
	struct reader_process *process = ghosts_take(&run->ghosts, pid);
	struct err err = { 0 };

	if (!process)
		return;
	process->reopen = !process_exec(process, ++run->incarnations, &err);
	bool there = !process->reopen || target_is_alive(pid);
	if (!there || !vec_push(&run->processes, process))
		ghosts_keep(&run->ghosts, process, clock_now_ns());
	else
		try_attach(run, process);
}

static void on_exec(struct run *run, u32 pid)
{
	struct reader_process *process = process_of(run, pid);
	struct err err = { 0 };

	if (!process) {
		on_ghost_exec(run, pid);
		return;
	}
	if (is_sampled(process)) {
		account_epoch(process, run->attempt.period_ns, clock_now_ns(), true, attempt_share,
			      &run->attempt);
		run->quality.cpu_unshared_ns += account_owed(process);
		leave(run, process);
		account_restart(process);
	} else if (!process->born_here && !process->own_child) {
		account_restart(process);
	}
	process->born_here = true;
	/* in the middle of an exec there is no memory to open yet: try_attach() will */
	process->reopen = !process_exec(process, ++run->incarnations, &err);
	try_attach(run, process);
}

static void end_process(struct run *run, struct reader_process *process)
{
	if (is_sampled(process)) {
		if (run->options.mode == MODE_CPU)
			account_ended(process, run->attempt.period_ns, attempt_share, &run->attempt,
				      &run->ends);
		leave(run, process);
	}
	for (u32 i = 0; i < run->processes.count; i++)
		if (run->processes.at[i] == process) {
			run->processes.at[i] = run->processes.at[--run->processes.count];
			break;
		}
	process_free(process);
}

static void on_event(void *arg, const struct tracker_event *event)
{
	struct run *run = arg;
	struct reader_process *process = process_of(run, event->pid);

	switch (event->kind) {
	case TRACK_FORK:
		on_fork(run, event);
		break;
	case TRACK_EXEC:
		on_exec(run, event->pid);
		break;
	case TRACK_EXIT:
		if (process)
			end_process(run, process);
		ghosts_drop(&run->ghosts, event->pid);
		break;
	case TRACK_THREAD:
	case TRACK_THREAD_EXIT:
		if (process)
			process->threads_changed = true;
		break;
	case TRACK_LOST:
		for (u32 i = 0; i < run->processes.count; i++)
			run->processes.at[i]->threads_changed = true;
		break;
	}
}

/* ---- one deadline ------------------------------------------------------------------------ */

/* Its end was seen before it was told: forks of its own may still be to be told. */
static void end_as_ghost(struct run *run, struct reader_process *process)
{
	struct reader_process *ghost = process_fork(process, process->pid, process->incarnation);

	end_process(run, process);
	if (ghost)
		ghosts_keep(&run->ghosts, ghost, clock_now_ns());
}

/* So often at the most: it takes 10 to 30 us. Who is told of each end asks in case that was lost. */
static const u64 ASK_NS = 20 * NS_PER_MS, ASK_TOLD_NS = 500 * NS_PER_MS;

static u64 when_to_ask(const struct run *run, u64 now)
{
	return now + (run->attempt.exits_are_told ? ASK_TOLD_NS : ASK_NS);
}

/* Is there still a process to look at? Ends those that are not. */
static bool still_there(struct run *run, struct reader_process *process)
{
	if (process->reopen && target_is_alive(process->pid))
		return true;
	switch (target_check(process->target)) {
	case TARGET_SAME:
		return true;
	case TARGET_EXECED:
		on_exec(run, process->target->pid);
		return true;
	default:
		end_as_ghost(run, process);
		return false;
	}
}

static void note_seen(struct run *run, const struct reader_thread *thread)
{
	struct engine_thread seen = { .tid = thread->tid, .wanted = thread->wanted };

	memcpy(seen.name, thread->name, sizeof seen.name);
	thread_filter_note(&run->seen, &seen);
}

static void refresh(struct run *run, struct reader_process *process)
{
	struct err err = { 0 };
	u32 before = process->threads_met;

	if (!process_refresh(process, &run->options, &err))
		log_debug(1, "threads of %u: %s", process->target->pid, err.text);
	run->quality.threads += process->threads_met - before;
	/* Until one is found: then nobody asks in vain, and the list costs no time. */
	bool asked = thread_filter_is_set(&run->options);
	for (u32 i = 0; asked && !run->quality.samples && i < process->threads.count; i++)
		note_seen(run, process->threads.at[i]);
}

/* Threads that are on no native thread can be on one at any time. */
static bool has_floating_threads(const struct reader_process *process)
{
	for (u32 i = 0; i < process->threads.count; i++)
		if (!process->threads.at[i]->tid)
			return true;
	return false;
}

/* False when the process is no more. */
static bool attempt_one(struct run *run, struct reader_process *process, u64 now)
{
	struct quality *quality = &run->quality;
	struct attempt *attempt = &run->attempt;
	u64 samples = quality->samples;
	bool was_sampled = is_sampled(process);

	try_attach(run, process);
	if (!was_sampled) {
		if (is_sampled(process) || now < process->ask_ns)
			return true;
		process->ask_ns = when_to_ask(run, now);
		return still_there(run, process);
	}
	if (!is_sampled(process)) {
		quality->lost.gone++; /* of this deadline */
		return true;
	}
	process_ask_turns(process, now);
	if (now >= process->refresh_ns &&
	    (process->threads_changed || has_floating_threads(process)))
		refresh(run, process);
	if (now >= process->ask_names_ns)
		process_ask_names(process, &run->options, now);
	if (process->attached.count)
		process_attach_more(process, now);
	if (process->attached.count)
		attempt_process(&run->attempt, process);
	else
		attempt_starting(&run->attempt, process);
	if (run->options.mode == MODE_CPU)
		account_epoch(process, run->attempt.period_ns, now, false, attempt_share,
			      &run->attempt);
	/* a process that never runs is never read: ask now and then */
	bool ask = attempt->gone || (quality->samples == samples && now >= process->ask_ns);
	u32 pid = process->target->pid;
	if (ask)
		process->ask_ns = when_to_ask(run, now);
	if (ask && !still_there(run, process)) {
		quality->lost.gone++;
		attempt->gone = false;
		return false;
	}
	if (attempt->gone)
		quality->lost.gone++;
	else if (attempt->no_memory)
		quality->lost.no_memory++;
	else
		quality->taken++, quality->idle += quality->samples == samples;
	attempt->gone = attempt->no_memory = false;
	return process_of(run, pid) != NULL;
}

static void miss(struct run *run, u64 slots, u32 sampled)
{
	run->attempt.missed += slots;
	run->quality.lost.late += slots * sampled;
}

static void take_deadline(struct run *run, u64 now)
{
	bool is_late = schedule_is_late(&run->schedule, now);
	u32 sampled = 0;

	for (u32 i = 0; i < run->processes.count; i++)
		sampled += is_sampled(run->processes.at[i]);
	if (is_late) {
		miss(run, schedule_put_off(&run->schedule, now), sampled);
		return;
	}
	if (now > run->schedule.deadline_ns + DELAYED_NS)
		run->quality.delayed += sampled;
	miss(run, schedule_take(&run->schedule, now), sampled);
	for (u32 i = 0; i < run->processes.count;)
		i += attempt_one(run, run->processes.at[i], now);
	run->attempt.missed = 0;
}

/* The caller may never come back: what was used until now is handed out now. */
static void settle(struct run *run, u64 now)
{
	for (u32 i = 0; run->options.mode == MODE_CPU && i < run->processes.count; i++)
		if (is_sampled(run->processes.at[i]))
			account_epoch(run->processes.at[i], run->attempt.period_ns, now, true,
				      attempt_share, &run->attempt);
}

static const u64 SPIN_NS = 5 * NS_PER_US;

/* Gives the time that it is then. A thread that did not stop in time will stop when it gets its CPU, and must be let go at once. */
static u64 sleep_until(struct run *run, u64 until_ns)
{
	u64 now = clock_now_ns();

	/* A sleep takes this much CPU time itself (3 to 5 us), and comes back late. */
	if (now + SPIN_NS >= until_ns) {
		while (now < until_ns)
			now = clock_now_ns();
		return now; /* still on the CPU that it had */
	}
	while (run->attempt.pause.late_count && now < until_ns) {
		u64 soon = now + NS_PER_MS / 4;
		clock_sleep_until(soon < until_ns ? soon : until_ns);
		pause_settle(&run->attempt.pause);
		now = clock_now_ns();
	}
	clock_sleep_until(until_ns);
	return run->attempt.woke_ns = clock_now_ns();
}

/* The next deadline, or the next time to ask whether a VM has started. */
static u64 next_wake(const struct run *run, u64 until_ns)
{
	u64 wake_ns = run->schedule.deadline_ns < until_ns ? run->schedule.deadline_ns : until_ns;

	for (u32 i = 0; i < run->processes.count; i++) {
		const struct reader_process *process = run->processes.at[i];
		if (!process->attached.count && process->attach.next_ns < wake_ns)
			wake_ns = process->attach.next_ns;
	}
	return wake_ns;
}

static void attach_waiting(struct run *run)
{
	for (u32 i = 0; i < run->processes.count; i++)
		try_attach(run, run->processes.at[i]);
}

/* A child that was gone when its fork was told may have left children: these forks were written by
 * then, so one more look finds them. */
static bool has_ended(struct run *run)
{
	for (u64 kept = 0; !run->processes.count && run->ghosts.kept != kept;) {
		kept = run->ghosts.kept;
		tracker_poll(run->tracker, on_event, run);
	}
	return !run->processes.count;
}

static bool run_until(struct run *run, u64 until_ns, struct err *err)
{
	u64 now = run->attempt.woke_ns = clock_now_ns();
	for (;;) {
		tracker_poll(run->tracker, on_event, run);
		if (has_ended(run))
			return err_set(err, ERR_NO_PROCESS, "the process has ended");
		ghosts_expire(&run->ghosts, now);
		if (engine_interrupted() || now >= until_ns) {
			settle(run, now);
			return true;
		}
		attach_waiting(run);
		if (now >= run->schedule.deadline_ns)
			take_deadline(run, now);
		if (run->processes.count) /* else: were they the last ones? */
			now = sleep_until(run, next_wake(run, until_ns));
	}
}

/* A wake-up is on time where another program's slice would have to end first. The kernel's shortest. */
static const u64 SLICE_NS = 100 * NS_PER_US;

static bool reader_pump(struct run *run, u64 until_ns, sample_fn *fn, void *arg, struct err *err)
{
	run->attempt.fn = fn;
	run->attempt.arg = arg;
	u64 slack_ns = clock_set_slack_ns(1), slice_ns = thread_set_slice_ns(SLICE_NS);
	bool goes_on = run_until(run, until_ns, err);
	thread_set_slice_ns(slice_ns);
	clock_set_slack_ns(slack_ns);
	return goes_on;
}

static void reader_quality(const struct run *run, struct quality *out)
{
	*out = run->quality;
	out->cpu_estimated_ns = run->ends.estimated_ns;
	out->cpu_unshared_ns += run->ends.carried_ns > 0 ? (u64)run->ends.carried_ns : 0;
	out->end_ns = clock_now_ns();
	/* deadlines that passed since the last one that was taken */
	const struct schedule *schedule = &run->schedule;
	u64 overdue = out->end_ns > schedule->deadline_ns ?
			      (out->end_ns - schedule->deadline_ns) / schedule->period_ns + 1 :
			      0;
	for (u32 i = 0; i < run->processes.count; i++) {
		const struct reader_process *process = run->processes.at[i];
		if (!is_sampled(process))
			continue;
		out->expected += schedule->slot - process->join_slot + overdue;
		out->lost.late += overdue;
		if (run->options.mode == MODE_CPU)
			out->cpu_unshared_ns += account_owed(process);
	}
}

static u32 reader_seen(const struct run *run, struct engine_thread *out, u32 room)
{
	return thread_filter_list(&run->seen, out, room);
}

/* ---- life -------------------------------------------------------------------------------- */

static void reader_close(struct run *run)
{
	for (u32 i = 0; i < run->processes.count; i++)
		process_free(run->processes.at[i]);
	vec_free(&run->processes);
	ghosts_free(&run->ghosts);
	vec_free(&run->seen);
	attempt_fini(&run->attempt);
	tracker_close(run->tracker);
	free(run);
}

static bool has_raises(const struct runtime *runtime)
{
	return runtime->raises;
}

/* Of none of its runtimes: then there would be no sample, ever. */
static bool knows_raises(const struct reader_process *process, struct err *err)
{
	const char *lacks = NULL;

	for (u32 i = 0; i < process->attached.count; i++) {
		const struct attached *attached = process->attached.at[i];
		if (!attached->runtime->raises)
			continue;
		lacks = attached->runtime->raises_lacks ?
				attached->runtime->raises_lacks(attached->state) :
				NULL;
		if (!lacks)
			return true;
	}
	return !lacks ||
	       err_set(err, ERR_UNSUPPORTED, "--mode exception: process %u does not say %s",
		       process->pid, lacks);
}

/* Where no VM has a lock nobody holds it. */
static bool has_lock(const struct reader_process *process, struct err *err)
{
	for (u32 i = 0; i < process->attached.count; i++) {
		const struct attached *attached = process->attached.at[i];
		if (!attached->runtime->has_lock || attached->runtime->has_lock(attached->state))
			return true;
	}
	return !process->attached.count ||
	       err_set(err, ERR_UNSUPPORTED, "--mode gil: this %s has no %s: use --mode cpu",
		       process->attached.at[0]->runtime->name,
		       process->attached.at[0]->runtime->lock);
}

static bool can_mode(const struct reader_process *process, enum engine_mode mode, struct err *err)
{
	if (mode == MODE_OFFCPU)
		return err_set(err, ERR_UNSUPPORTED,
			       "--mode offcpu needs the kernel engine (-e kernel)");
	if (mode == MODE_LOCK)
		return has_lock(process, err);
	return mode != MODE_EXCEPTION ||
	       (process_can(process, has_raises, "mode exception", "who raises is", err) &&
		knows_raises(process, err));
}

static struct run *run_new(const struct engine_options *options, struct err *err)
{
	if (!engine_check_rate(options, err))
		return NULL;
	struct run *run = calloc(1, sizeof *run);
	if (!run) {
		err_no_memory(err);
		return NULL;
	}
	run->options = *options;
	if (!run->options.seed)
		run->options.seed = rng_seed();
	snprintf(run->quality.engine, sizeof run->quality.engine, "reader");
	return run;
}

static bool note_child(void *arg, u32 pid, u32 parent)
{
	(void)pid, (void)parent;
	*(bool *)arg = true;
	return false;
}

/* A shell, or a server's master: what is asked for is what its children do. */
static bool is_for_children(const struct target *target, const struct engine_options *options,
			    const struct err *why)
{
	bool has_child = false;

	if (options->children && why->code == ERR_NOT_MINE)
		target_each_descendant(&target->pid, 1, note_child, &has_child);
	return has_child;
}

static struct run *reader_open(struct target *target, const struct engine_options *options,
			       struct err *err)
{
	struct run *run = run_new(options, err);

	if (!run)
		return NULL;
	engine_raise_file_limit();
	run->tracker = tracker_open(target->pid, options->children, err);
	struct reader_process *process = process_new(target, ++run->incarnations);
	if (!process || !vec_push(&run->processes, process)) {
		free(process);
		err_no_memory(err);
		reader_close(run);
		return NULL;
	}
	if (!run->tracker ||
	    !attempt_init(&run->attempt, &run->options, &run->quality, run->options.seed ^ 1)) {
		reader_close(run);
		return NULL;
	}
	run->attempt.exits_are_told = !strcmp(tracker_source(run->tracker), "perf");
	process->own_child = target_parent(target) == (u32)getpid();
	run->attempt.pause.own_child = process->own_child ? target->pid : 0;
	struct err why = { 0 };
	if (!process_attach(process, &why) && !process->starting && !options->may_start &&
	    !is_for_children(target, options, &why)) {
		if (err)
			*err = why;
		reader_close(run);
		return NULL;
	}
	if (!can_mode(process, options->mode, err) || !tasks_can(process, options->async, err)) {
		reader_close(run);
		return NULL;
	}
	run->quality.begin_ns = clock_now_ns();
	schedule_init(&run->schedule, run->quality.begin_ns, options->hz, run->options.seed);
	if (is_sampled(process)) {
		join(run, process);
		refresh(run, process);
	}
	if (process->warning[0])
		snprintf(run->quality.warning, sizeof run->quality.warning, "%.199s",
			 process->warning);
	return run;
}

/* What is sampled as one that starts, and did not. */
static void warn_of_starting(struct run *run)
{
	for (u32 i = 0; i < run->processes.count && !run->quality.warning[0]; i++) {
		struct reader_process *process = run->processes.at[i];
		if (process->starting && !process->reopen)
			attached_say_never_started(&process->attached, process->target,
						   begun_ns(process), run->quality.warning);
	}
}

/* What comes now may take long: no thread stays stopped meanwhile. */
static void reader_finish(struct run *run, sample_fn *fn, void *arg)
{
	(void)fn, (void)arg;
	pause_finish(&run->attempt.pause);
	warn_of_starting(run);
}

const struct engine reader_engine = {
	.name = "reader",
	.has_tasks = true,
	.can_pause = true,
	.has_tapes = true,
	.modes = 1 << MODE_CPU | 1 << MODE_WALL | 1 << MODE_LOCK | 1 << MODE_EXCEPTION,
	.open = reader_open,
	.pump = reader_pump,
	.finish = reader_finish,
	.quality = reader_quality,
	.seen = reader_seen,
	.close = reader_close,
};
