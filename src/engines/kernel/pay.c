/* SPDX-License-Identifier: Apache-2.0
 * pay.c - see run.h: how much CPU time a sample stands for.
 *
 * Whoever uses the CPU is met by one sample a period, on the average.  A thread that has used several periods since it was
 * paid is known by its own clock: its samples share what that says.  Of those that use less, or end before, most are met by
 * none, and those that are stand for the others: each sample of theirs weighs a period (Horvitz and Thompson, 1952).  What
 * the clock says more or less than that is carried on: by a thread to its later samples, from a thread that has ended by its
 * process, from a process that has ended by the run.  So the sum is the CPU time, but for some periods.
 *
 * To pay these what they have used themselves would leave out all that no sample has met: of threads of 2 ms at 99 Hz four
 * fifths. */
#include "engines/kernel/run.h"

#include "base/clock.h"
#include "engines/carry.h"

void run_share(struct run *run, const struct watched *process, struct watched_thread *thread,
	       u64 weight, u64 now_ns)
{
	struct sample sample = { .time_ns = now_ns,
				 .weight = weight,
				 .pid = process->pid,
				 .tid = thread->tid,
				 .kind = SAMPLE_SHARE };

	run_hand_out(run, process, thread, NULL, &sample);
	thread->unpaid = 0;
	thread->off_ns = 0;
}

static s64 owed_ns(const struct watched_thread *thread)
{
	return (s64)(thread->runtime_ns - thread->paid_ns);
}

/* Of samples that stand for others, too. */
static u64 estimate(struct run *run, struct watched *process, struct watched_thread *thread,
		    u64 period_ns)
{
	s64 own = (s64)(thread->unpaid * period_ns) +
		  carry_drain(&thread->carried_ns, thread->unpaid);
	s64 weight = own + carry_drain(&process->carried_ns, thread->unpaid) +
		     carry_drain(&run->carried_ns, thread->unpaid);

	thread->paid_ns += (u64)own;
	thread->carried_ns = carry_left(owed_ns(thread), period_ns, thread->unpaid);
	if (weight >= 0)
		return (u64)weight;
	process->carried_ns += weight;
	return 0;
}

static u64 weight_of_all(struct run *run, struct watched *process, struct watched_thread *thread,
			 u64 now_ns)
{
	u64 period_ns = NS_PER_S / run->options.hz;

	if (!carry_is_known(owed_ns(thread), thread->left_ns, period_ns, thread->paid_at_ns,
			    now_ns))
		return estimate(run, process, thread, period_ns);
	u64 owed = (u64)owed_ns(thread);
	thread->paid_ns = thread->runtime_ns;
	thread->carried_ns = 0;
	return owed;
}

/* Events have a weight of their own, or none.  One that waits for its latency had none: it is over when something else is. */
static bool has_cpu_weights(const struct run *run)
{
	return !run->options.events && run->options.mode != MODE_OFFCPU;
}

/* Is it known whether a thread without a sample is one of those that samples stand for?  It has no name that a filter could
 * ask for; and of processes that were met there were others, that nobody knows of. */
static bool knows_all(const struct run *run)
{
	return has_cpu_weights(run) && !thread_filter_is_set(&run->options);
}

void run_pay(struct run *run, struct watched *process, struct watched_thread *thread, u64 now_ns)
{
	if (thread->off_ns || !thread->unpaid)
		return; /* its weight comes when it runs again; it is carried on */
	u64 weight = has_cpu_weights(run) ? weight_of_all(run, process, thread, now_ns) : 0;
	run_share(run, process, thread, weight, now_ns);
	thread->left_ns = owed_ns(thread);
	thread->paid_at_ns = now_ns;
}

void run_on_last(struct run *run, struct watched *process, struct watched_thread *thread,
		 u64 now_ns)
{
	u64 off_ns = thread->off_ns;

	if (off_ns)
		run_share(run, process, thread, now_ns > off_ns ? now_ns - off_ns : 0, now_ns);
	run_pay(run, process, thread, now_ns);
	if (knows_all(run) && !process->was_met)
		process->carried_ns += owed_ns(thread);
	thread->paid_ns = thread->runtime_ns;
	thread->carried_ns = thread->left_ns = 0;
}
