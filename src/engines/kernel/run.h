/* SPDX-License-Identifier: Apache-2.0
 * run.h - a run of the kernel engine, and what its files do for each other; private to this folder.
 *
 *	kernel.c     opens, pumps, closes
 *	processes.c  who is watched, and what the kernel is told of them
 *	samples.c    records become samples, and get their weights
 *	beside.c     what takes long, while the ring is emptied
 *	elsewhere.c  where names can be read that their process has no more
 *	sleepers.c   those that sleep from the beginning */
#pragma once
#include "base/rng.h"
#include "engines/engine.h"
#include "engines/kernel/assemble.h"
#include "engines/kernel/kept_names.h"
#include "engines/kernel/program.h"
#include "engines/kernel/watched.h"
#include "engines/thread_filter.h"

struct run {
	struct engine_options options;
	struct kernel_program program;
	struct kernel_code code;
	struct kernel_mappings mappings;
	struct unwind_files files;
	machine_cache machines;
	VEC(struct watched *) processes; /* by pid */
	seen_threads seen;
	u64 incarnations;
	struct quality quality;
	s64 carried_ns; /* CPU time of processes that have ended, see pay.c */
	struct rng rng;
	u64 redraw_ns, missed_ns, seek_ns; /* when to do these again */
	/* those that were passed when they gave up their CPU: when to ask for them, when they were asked for (0: not the last
	 * time), how many there were then and the time before */
	u64 passed_ns, asked_ns, passed[2];
	sample_fn *fn;
	void *arg;
	bool has_begun;
	bool is_beside; /* a thread of ours works */
	struct kept_names *kept_names;
	struct assembly *assembly;
	struct sample *sample; /* room for ASSEMBLED_MAX frames */
};

/* Does the work, in a thread of its own, unless this is one already. `run`: as unwind_files has it. */
void run_beside(void *run, void (*fn)(void *arg), void *arg);

/* ---- processes ----------------------------------------------------------------------------- */

/* NULL: it is not watched. */
struct watched *run_find(const struct run *run, u32 pid);
/* A process that the kernel has begun to watch by itself; NULL: out of memory. */
struct watched *run_adopt(struct run *run, const struct kernel_head *head);
/* The threads that it has now: their names, also of those that sleep all the time, and what they have used before. */
void run_begin_threads(struct run *run, struct watched *process);
/* The descendants that it has now. */
void run_add_descendants(struct run *run, u32 pid);
/* Takes it; false: out of memory. */
bool run_add(struct run *run, struct watched *process);
/* What the kernel was told of the parent since the fork it is told of the child, which has what there was then. */
void run_add_fork(struct run *run, const struct watched *parent, const struct kernel_head *head);
/* It has ended, and nothing of it can come any more. */
void run_drop(struct run *run, u32 place);
/* The kernel forgets what it knows of it, unless another process has the same. */
void run_leave_space(struct run *run, struct watched *process);
void run_leave_vms(struct run *run, struct watched *process);
/* Tells the kernel what it maps and runs, as far as that is known. */
bool run_tell_space(struct run *run, struct watched *process, struct err *err);
/* Reads that first. */
bool run_tell(struct run *run, struct watched *process, struct err *err);
/* Under a filter of threads: this one was there, for who asked for one in vain. */
void run_note_seen(struct run *run, const struct watched *process, struct watched_thread *thread);
/* Those who sleep since before their VM knew what they are called. */
void run_name_threads(struct run *run, u64 now_ns);
/* With what was mapped up to that time in place of other code. */
void run_take_mappings(struct run *run, u64 until_ns);
/* Looks for VMs that no record has shown yet: of who has just mapped code, and of who is starting one. When to look again. */
u64 run_seek_vms(struct run *run, u64 now_ns);
/* With what the record shows that it has and the kernel was not told of: code, a VM, a thread of it. */
void run_catch_up(struct run *run, struct watched *process, const struct kernel_record *record,
		  size_t size);

/* ---- samples ------------------------------------------------------------------------------- */

/* `process`: NULL when it is not watched, and is from now on if it may. */
void run_on_sample(struct run *run, struct watched *process, const struct kernel_record *record,
		   size_t size);
/* What the interrupt could not read is there for the next one. */
void run_bring_in(struct watched *process, const struct kernel_head *head);
/* How long what the thread's last sample was of took: a system call, or that it was off its CPU. */
void run_on_latency(struct run *run, const struct kernel_head *head);
/* `vms`: those of the sample; NULL: it has none. */
void run_hand_out(struct run *run, const struct watched *process,
		  const struct watched_thread *thread, const struct kernel_vm *vms,
		  const struct sample *sample);

/* The bytes that name a frame of a sample, where its process has them no more: places to read them, by number; NULL: that was
 * all.  Valid until the next call.  `vms`: see run_hand_out(). */
const struct mem *run_elsewhere(const struct run *run, const struct watched *process,
				const struct kernel_vm *vms, const struct frame *frame, u32 number);

/* ---- their weight (pay.c) ------------------------------------------------------------------ */

/* The thread's samples that have no weight yet share this. */
void run_share(struct run *run, const struct watched *process, struct watched_thread *thread,
	       u64 weight, u64 now_ns);
/* They get the CPU time that they stand for. */
void run_pay(struct run *run, struct watched *process, struct watched_thread *thread, u64 now_ns);
/* As run_pay(), and nothing more will be told of it. */
void run_on_last(struct run *run, struct watched *process, struct watched_thread *thread,
		 u64 now_ns);

/* ---- sleepers ------------------------------------------------------------------------------ */

/* A sample of each thread that sleeps now, of processes that have such: it is not seen to give up its CPU. */
void run_take_sleepers(struct run *run);
/* And of each that was passed when it gave up its CPU, and sleeps long. */
void run_take_passed(struct run *run, u64 now_ns);
