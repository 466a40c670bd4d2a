/* SPDX-License-Identifier: Apache-2.0
 * account.c - see account.h. */
#include "engines/reader/account.h"

#include "base/clock.h"

static const u64 EPOCH_NS = 100 * NS_PER_MS;
static const u64 FIRST_EPOCH_NS = 20 * NS_PER_MS; /* to learn soon who runs */
/* A thread is looked at in every attempt for this long after it last used CPU. */
static const u64 HOT_NS = 500 * NS_PER_MS;
/* schedstat of a running thread lags by up to a scheduler tick (4 ms at 250 Hz); less than this
 * unexplained is no reason to ask everyone. */
static const u64 UNEXPLAINED_NS = 5 * NS_PER_MS;
/* Nor are they asked more often than this: a thousand of them take a millisecond. */
static const u64 SWEEP_NS = 400 * NS_PER_MS;

void account_begin(struct reader_process *process, u64 now_ns)
{
	process->epoch_ns = now_ns - EPOCH_NS + FIRST_EPOCH_NS;
	process->cpu_ns = 0;
	if (!process->born_here)
		target_cpu_ns(process->target, &process->cpu_ns);
}

static u64 thread_account(struct reader_thread *thread, u64 now_ns)
{
	struct thread_time time;

	if (!thread->tid || !thread_probe_time(&thread->probe, &time))
		return 0;
	thread->probed = time;
	u64 used = time.cpu_ns > thread->accounted_ns ? time.cpu_ns - thread->accounted_ns : 0;
	if (used) {
		thread->accounted_ns = time.cpu_ns;
		thread->owed_ns += used;
		thread->hot_until_ns = now_ns + HOT_NS;
	}
	return used;
}

/* Asking twice in one epoch is harmless: the second time little is new. */
static u64 account_threads(struct reader_process *process, u64 now_ns, bool only_hot)
{
	u64 used = 0;

	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (!only_hot || thread->hot_until_ns > now_ns)
			used += thread_account(thread, now_ns);
	}
	return used;
}

static void share_departed(struct reader_process *process, u64 left, share_fn *share, void *arg)
{
	u64 unpaid = 0;

	for (u32 i = 0; i < process->departed.count; i++)
		unpaid += process->departed.at[i].unpaid;
	for (u32 i = 0; i < process->departed.count && unpaid; i++) {
		const struct departed *departed = &process->departed.at[i];
		u64 part = left / unpaid * departed->unpaid +
			   left % unpaid * departed->unpaid / unpaid;
		share(arg, process, departed->tid, departed->name, part);
		left -= part;
		unpaid -= departed->unpaid;
	}
	vec_clear(&process->departed);
}

static void share_owed(struct reader_process *process, share_fn *share, void *arg)
{
	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (!thread->owed_ns || !thread->unpaid)
			continue;
		share(arg, process, thread->tid, thread->name, thread->owed_ns);
		thread->owed_ns = 0;
		thread->unpaid = 0;
	}
}

u64 account_owed(const struct reader_process *process)
{
	u64 owed = 0;

	for (u32 i = 0; i < process->threads.count; i++)
		if (process->threads.at[i]->wanted)
			owed += process->threads.at[i]->owed_ns;
	return owed;
}

void account_epoch(struct reader_process *process, u64 now_ns, bool settle, share_fn *share,
		   void *arg)
{
	if (!settle && now_ns < process->epoch_ns + EPOCH_NS)
		return;
	process->epoch_ns = now_ns;
	u64 cpu_ns = process->cpu_ns, explained = account_threads(process, now_ns, true);
	if (!target_cpu_ns(process->target, &cpu_ns))
		return;
	u64 used = cpu_ns - process->cpu_ns;
	bool ask_all = used > explained + UNEXPLAINED_NS && now_ns > process->swept_ns + SWEEP_NS;
	if (settle || process->departed.count || ask_all) {
		explained += account_threads(process, now_ns, false);
		process->swept_ns = now_ns;
	}
	process->cpu_ns = cpu_ns;
	if (process->departed.count)
		share_departed(process, used > explained ? used - explained : 0, share, arg);
	share_owed(process, share, arg);
}

void account_ended(struct reader_process *process, u64 period_ns, share_fn *share, void *arg,
		   struct quality *quality)
{
	u64 cpu_ns = 0, unpaid = 0, owed = 0;

	for (u32 i = 0; i < process->departed.count; i++)
		unpaid += process->departed.at[i].unpaid;
	for (u32 i = 0; i < process->threads.count; i++) {
		unpaid += process->threads.at[i]->unpaid;
		owed += process->threads.at[i]->owed_ns;
	}
	/* a zombie's clock still runs true; after it was reaped only the period is left */
	u64 left = unpaid * period_ns;
	if (target_cpu_ns(process->target, &cpu_ns) && cpu_ns > process->cpu_ns)
		left = cpu_ns - process->cpu_ns + owed;
	else if (unpaid)
		quality->cpu_estimated_ns += left;
	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		struct departed departed = { .tid = thread->tid, .unpaid = thread->unpaid };
		__builtin_memcpy(departed.name, thread->name, sizeof departed.name);
		if (thread->unpaid && vec_push(&process->departed, departed))
			thread->unpaid = 0;
	}
	if (!process->departed.count)
		quality->cpu_unshared_ns += left;
	share_departed(process, left, share, arg);
}
