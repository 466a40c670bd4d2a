/* SPDX-License-Identifier: Apache-2.0
 * account.h - who used the CPU, and which samples carry it.
 *
 * A CPU weight is never the nominal period.  Ten times a second the threads that
 * used CPU lately are asked for their CPU time, and what each used since is shared
 * by the samples that saw it running (SAMPLE_SHARE): a sleeper weighs nothing, and
 * the sum is the CPU time.  Of threads that use too little to be known by it a sample weighs the time that it stands for (carry.h).  When the process's clock says that more was used than these threads
 * tell, all threads are asked.  CPU time of a thread that no sample has seen running yet
 * waits for its next sample; what is left at the end is counted in the quality record. */
#pragma once
#include "engines/reader/process.h"
#include "sample/quality.h"

/* Nanoseconds of CPU for the unpaid samples of one thread of the VM under one tid. */
struct cpu_share {
	u32 tid, life;
	const char *name;
	u64 nanoseconds;
};
typedef void share_fn(void *arg, const struct reader_process *process,
		      const struct cpu_share *share);

/* The thread's samples wait for their weight without it. `ended`: its clock is gone. False when out of
 * memory: then they stay with the thread. */
bool account_depart(struct reader_process *process, struct reader_thread *thread, bool ended);
/* Another thread of the VM runs on this one from now on: what was used goes to the samples until here. */
void account_rebind(struct reader_process *process, struct reader_thread *thread);
void account_begin(struct reader_process *process, u64 now_ns);
/* An exec: its account will begin with what it has used by now. */
void account_restart(struct reader_process *process);
/* Does nothing before the epoch's end, unless `settle`: then everything is settled.  `period_ns`: of the samples; 0: each has its thread's own time
 * alone. */
void account_epoch(struct reader_process *process, u64 period_ns, u64 now_ns, bool settle,
		   share_fn *share, void *arg);
/* CPU time used by wanted threads that no sample has carried yet. */
u64 account_owed(const struct reader_process *process);
/* Of all processes that have ended. */
struct account_ends {
	s64 carried_ns; /* CPU time that no sample of theirs stood for, less what samples stood for beside their own */
	u64 estimated_ns; /* of those whose clock was gone */
};
/* The process has ended: its clocks may be gone. */
void account_ended(struct reader_process *process, u64 period_ns, share_fn *share, void *arg,
		   struct account_ends *ends);
