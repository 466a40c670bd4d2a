/* SPDX-License-Identifier: Apache-2.0
 * attempt.h - one look at one process: which of its threads, and how.
 *
 *	wall   every thread; one that has not run since its last sample repeats it;
 *	       and with --async=all the tasks that wait, in turn
 *	cpu    threads that are running now; CPU time is shared later (account.h)
 *	lock   the thread that holds the VM's lock, for a period and for each deadline that was missed before
 *	exception   every thread that raises or handles one, for as long
 *
 * Looking at a thread's memory is one system call, asking the kernel for its state another.
 * A thread whose words change between the copies of one read is running: that needs no asking.
 * Idle threads are told in bulk, from their head words, and a few are probed in turn. */
#pragma once
#include "engines/reader/account.h"
#include "engines/reader/look.h"
#include "engines/reader/process.h"
#include "engines/reader/tapes.h"

struct attempt {
	const struct engine_options *options;
	struct look look;
	look_frames outer, inner; /* stacks of two VMs on one thread */
	struct pause pause;
	struct tapes tapes;
	struct rng rng;
	struct quality *quality;
	u64 period_ns;
	u64 missed;             /* deadlines before this one, for which it stands, too */
	bool exits_are_told;    /* by the tracker: who has not been told to have ended is there */
	u64 woke_ns;            /* since when the caller has been on its CPU; 0: not known */
	struct median taken_ns; /* see struct switches_moment */
	u64 now_ns;             /* when the attempt began */
	u64 looked_ns;          /* when the last look at a thread's memory was made */
	/* where samples go */
	sample_fn *fn;
	void *arg;
	struct sample *sample; /* scratch */
	u32 sample_room;       /* frames */
	/* scratch of the bulk look */
	VEC(struct mem_span) spans;
	VEC(struct reader_thread *) looked_at;
	VEC(u8) heads;
	u32 first_looks;
	bool no_memory;
	bool gone; /* the process ended or exec'd during the attempt */
};

bool attempt_init(struct attempt *attempt, const struct engine_options *options,
		  struct quality *quality, u64 seed);
void attempt_fini(struct attempt *attempt);
/* One attempt now. */
void attempt_process(struct attempt *attempt, struct reader_process *process);
/* One look at each task that waits, of those listed (tasks.h). */
void attempt_each_task(struct attempt *attempt, struct reader_process *process);
/* A sample "(starting)" of a process whose VM is not up yet. */
void attempt_starting(struct attempt *attempt, struct reader_process *process);
/* Hands CPU time to the samples of a thread: a share_fn (account.h). */
void attempt_share(void *attempt, const struct reader_process *process,
		   const struct cpu_share *share);
