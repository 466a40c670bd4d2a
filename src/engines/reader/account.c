/* SPDX-License-Identifier: Apache-2.0
 * account.c - see account.h. */
#include "engines/reader/account.h"

#include <string.h>

#include "base/clock.h"
#include "engines/carry.h"

static const u64 EPOCH_NS = 100 * NS_PER_MS;
/* So long those wait whose clocks do not tell by then. */
static const u64 PAY_NS = NS_PER_S;
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
	process->cpu_ns = process->begun_ns;
	process->clocked_ns = process->born_ns ? process->born_ns : now_ns;
	if (!process->born_here)
		target_cpu_ns(process->target, &process->cpu_ns);
}

void account_restart(struct reader_process *process)
{
	struct thread_time time = { 0 };

	process->loose_ns = 0;
	target_cpu_ns(process->target, &process->begun_ns);
	if (target_thread_time(process->target, process->pid, &time))
		process->begun_main_ns = time.cpu_ns;
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
		thread->owed_ns += (s64)used;
		thread->hot_until_ns = now_ns + HOT_NS;
	}
	return used;
}

bool account_depart(struct reader_process *process, struct reader_thread *thread, bool ended)
{
	struct departed departed = { .tid = thread->tid,
				     .life = thread->life,
				     .unpaid = thread->unpaid,
				     .unpaid_slots = thread->unpaid_slots,
				     .ended = ended };

	thread->carried_ns = thread->left_ns = 0;
	if (thread->owed_ns < 0 || (!thread->unpaid && ended)) {
		process->loose_ns += thread->wanted ? thread->owed_ns : 0;
		thread->owed_ns = 0;
	}
	if (!thread->unpaid)
		return true; /* what it is owed, its next sample carries */
	departed.owed_ns = (u64)thread->owed_ns;
	memcpy(departed.name, thread->name, sizeof departed.name);
	if (!vec_push(&process->departed, departed))
		return false;
	thread->unpaid = 0;
	thread->unpaid_slots = 0;
	thread->owed_ns = 0;
	return true;
}

void account_rebind(struct reader_process *process, struct reader_thread *thread)
{
	process->rebound_ns += thread_account(thread, clock_now_ns());
	account_depart(process, thread, false);
}

static bool is_same_thread(u32 tid, const char *name, const struct departed *departed)
{
	return tid == departed->tid && !strcmp(name, departed->name);
}

/* What takes the samples and the time of a departed one along, if something does. */
static bool hand_on(struct reader_process *process, u32 index)
{
	const struct departed *one = &process->departed.at[index];

	for (u32 i = index + 1; i < process->departed.count; i++) {
		struct departed *later = &process->departed.at[i];
		if (!is_same_thread(later->tid, later->name, one))
			continue;
		later->unpaid += one->unpaid;
		later->unpaid_slots += one->unpaid_slots;
		later->owed_ns += one->owed_ns;
		later->ended |= one->ended;
		return true;
	}
	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *now = process->threads.at[i];
		if (!now->unpaid || one->ended || !is_same_thread(now->tid, now->name, one))
			continue;
		now->unpaid += one->unpaid;
		now->unpaid_slots += one->unpaid_slots;
		now->owed_ns += (s64)one->owed_ns;
		return true;
	}
	return false;
}

/* Threads of one tid and one name are one to the profile, and its samples are paid at once: what the
 * earlier ones are owed goes with the last. */
static void merge_departed(struct reader_process *process)
{
	u32 kept = 0;

	for (u32 i = 0; i < process->departed.count; i++)
		if (!hand_on(process, i))
			process->departed.at[kept++] = process->departed.at[i];
	process->departed.count = kept;
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

/* `left` is shared by those whose clocks ended with them, and stands for that of others that no sample has seen; what there
 * was none for is returned. */
static u64 share_departed(struct reader_process *process, u64 left, share_fn *share, void *arg)
{
	u64 unpaid = 0;

	merge_departed(process);
	for (u32 i = 0; i < process->departed.count; i++)
		if (process->departed.at[i].ended)
			unpaid += process->departed.at[i].unpaid;
	for (u32 i = 0; i < process->departed.count; i++) {
		const struct departed *departed = &process->departed.at[i];
		struct cpu_share part = { departed->tid, departed->life, departed->name,
					  departed->owed_ns };
		if (departed->ended) {
			u64 more = left / unpaid * departed->unpaid +
				   left % unpaid * departed->unpaid / unpaid;
			part.nanoseconds += more;
			left -= more;
			unpaid -= departed->unpaid;
		}
		share(arg, process, &part);
	}
	vec_clear(&process->departed);
	return left;
}

/* Of samples that stand for others, too. */
static u64 estimate_thread(struct reader_thread *thread, u64 period_ns)
{
	u64 slots = thread->unpaid_slots ? thread->unpaid_slots : thread->unpaid;
	s64 own = (s64)(slots * period_ns) + carry_drain(&thread->carried_ns, slots);

	own = own > 0 ? own : 0;
	thread->owed_ns -= own;
	thread->carried_ns = carry_left(thread->owed_ns, period_ns, slots);
	return (u64)own;
}

static u64 all_owed(struct reader_thread *thread)
{
	u64 owed = (u64)thread->owed_ns;

	thread->owed_ns = thread->carried_ns = 0;
	return owed;
}

static void share_owed(struct reader_process *process, u64 period_ns, u64 now_ns, bool settle,
		       share_fn *share, void *arg)
{
	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (!thread->unpaid || thread->owed_ns == thread->left_ns)
			continue;
		bool is_known = !period_ns || carry_is_known(thread->owed_ns, thread->left_ns,
							     period_ns, thread->paid_at_ns, now_ns);
		if (!is_known && now_ns < thread->paid_at_ns + PAY_NS && !settle)
			continue;
		struct cpu_share owed = { thread->tid, thread->life, thread->name,
					  is_known ? all_owed(thread) :
						     estimate_thread(thread, period_ns) };
		share(arg, process, &owed);
		thread->left_ns = thread->owed_ns;
		thread->paid_at_ns = now_ns;
		thread->unpaid = 0;
		thread->unpaid_slots = 0;
	}
}

static u64 loose_of(const struct reader_process *process)
{
	return process->loose_ns > 0 ? (u64)process->loose_ns : 0;
}

u64 account_owed(const struct reader_process *process)
{
	s64 owed = (s64)loose_of(process);

	for (u32 i = 0; i < process->threads.count; i++)
		if (process->threads.at[i]->wanted)
			owed += process->threads.at[i]->owed_ns;
	return owed > 0 ? (u64)owed : 0;
}

void account_epoch(struct reader_process *process, u64 period_ns, u64 now_ns, bool settle,
		   share_fn *share, void *arg)
{
	if (!settle && now_ns < process->epoch_ns + EPOCH_NS)
		return;
	process->epoch_ns = now_ns;
	u64 cpu_ns = process->cpu_ns, explained = account_threads(process, now_ns, true);
	if (!target_cpu_ns(process->target, &cpu_ns))
		return;
	u64 used = cpu_ns - process->cpu_ns;
	explained += process->rebound_ns;
	process->rebound_ns = 0;
	bool ask_all = used > explained + UNEXPLAINED_NS && now_ns > process->swept_ns + SWEEP_NS;
	if (settle || process->departed.count || ask_all) {
		explained += account_threads(process, now_ns, false);
		process->swept_ns = now_ns;
	}
	process->cpu_ns = cpu_ns;
	process->clocked_ns = now_ns;
	process->loose_ns += (s64)used -
			     (s64)explained; /* a thread's clock can be ahead of the process's */
	if (process->departed.count) {
		u64 loose = loose_of(process), left = share_departed(process, loose, share, arg);
		process->loose_ns -= (s64)(loose - left);
	}
	if (process->some_unwanted)
		process->loose_ns = 0;
	share_owed(process, period_ns, now_ns, settle, share, arg);
}

/* Deadlines that its unpaid samples stand for. */
static u64 slots_of(const struct reader_process *process)
{
	u64 slots = 0;

	for (u32 i = 0; i < process->departed.count; i++)
		slots += process->departed.at[i].unpaid_slots;
	for (u32 i = 0; i < process->threads.count; i++)
		slots += process->threads.at[i]->unpaid_slots;
	return slots;
}

/* What a process has used that was reaped before its clock was read: its samples stand for all deadlines since then, and it had no
 * more time than there was. */
static u64 estimate(const struct reader_process *process, u64 period_ns)
{
	u64 now = clock_now_ns(), stands_for = slots_of(process) * period_ns;
	u64 since = now > process->clocked_ns ? now - process->clocked_ns : 0;
	u64 most = since * (process->threads.count ? process->threads.count : 1);

	return stands_for < most ? stands_for : most;
}

/* What is to be paid of what a process left when it ended (carry.h): its own, or what its samples stand for. */
static u64 stand_for_others(struct reader_process *process, u64 left, u64 period_ns, s64 *carried)
{
	u64 slots = slots_of(process);

	if (left >= KNOWN_PERIODS * period_ns || process->some_unwanted)
		return left;
	s64 part = carry_drain(carried, slots);
	s64 weight = (s64)(slots * period_ns) + part;
	weight = weight > 0 ? weight : 0;
	*carried += (s64)left + part - weight;
	return (u64)weight;
}

void account_ended(struct reader_process *process, u64 period_ns, share_fn *share, void *arg,
		   struct account_ends *ends)
{
	u64 cpu_ns = 0, left;
	s64 owed = 0;

	for (u32 i = 0; i < process->threads.count; i++)
		owed += process->threads.at[i]->owed_ns;
	/* a zombie's clock still runs true */
	if (target_cpu_ns(process->target, &cpu_ns) && cpu_ns > process->cpu_ns) {
		u64 used = cpu_ns - process->cpu_ns + loose_of(process);
		u64 all = owed >= 0 || used > (u64)-owed ? used + (u64)owed : 0;
		/* a thread's clock can be read a moment after the process's */
		left = all > process->rebound_ns ? all - process->rebound_ns : 0;
		left = stand_for_others(process, left, period_ns, &ends->carried_ns);
	} else {
		left = estimate(process, period_ns);
		ends->estimated_ns += left;
	}
	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		thread->owed_ns = 0; /* it is in `left` */
		account_depart(process, thread, true);
	}
	ends->carried_ns += (s64)share_departed(process, left, share, arg);
}
