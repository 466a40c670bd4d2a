/* SPDX-License-Identifier: Apache-2.0
 * program.h - the BPF programs, loaded and attached, and the ring that they write.
 *
 *	one cpu-clock event a CPU     on_clock: a sample of whatever watched thread runs there
 *	or events that were asked for (attach.c)
 *	the scheduler                 on_switch: a sample of a watched thread that gives up its CPU
 *	                              on_wake: it is ready again, and no longer off its CPU for what it waited for
 *	fork, exec and exit           what becomes of watched processes
 *	and the last switch           on_dead: a thread's end, with all that it used
 *
 * The period of each CPU's event is drawn anew at random instants, 25 times a second at most: a fixed one falls in step with
 * programs.  At each, what has passed of the period is lost, half a period on average, which is made up for:
 * tests/e2e has the rate, and what a program with a period of its own says. */
#pragma once
#include "base/err.h"
#include "base/rng.h"
#include "base/vec.h"
#include "engines/kernel/shared.h"
#include "engines/kernel/spool.h"

struct engine_event;
struct event_list;
struct bpf_object;
struct bpf_link;
struct ring_buffer;

struct kernel_program {
	struct bpf_object *object;
	struct ring_buffer *ring;
	VEC(struct bpf_link *) links;
	VEC(int) clocks; /* perf events, one for each CPU that is online */
	int processes_fd, spaces_fd, machines_fd, riders_fd, tables_fd, counts_fd, event_counts_fd;
	const struct event_list *events; /* borrowed; NULL: the clock */
	s32 probed_pid;                  /* of user-space probes; -1: all that map the file */
	int ring_fd;                     /* readable when there is something that cannot wait */
	u32 hz;
	bool with_clock, with_switches;
	struct rng rng;
	struct spool spool;
	u64 until_ns; /* records that are newer can stay in the ring */
	u64 dropped;  /* samples for which there was no memory */
	void *arg;
	void (*fn)(void *arg, const struct kernel_record *record, size_t size);
};

/* Of a record, its head alone where it is no sample; `size` is its bytes. */
typedef void kernel_record_fn(void *arg, const struct kernel_record *record, size_t size);

struct kernel_program_options {
	u32 hz;
	u32 table_words; /* a power of two */
	bool children, no_native, no_kernel;
	u64 seed;
	const struct event_list *events; /* NULL: the clock is what is looked at */
	bool with_clock, with_switches;  /* where there are no events */
	bool with_preempted;
	u32 every, pid;
	u64 latency_min_ns;
	bool send_latency;
	bool watch_all;
	u64 cgroup;
};

/* Nothing runs yet. Says which capability is missing. */
bool kernel_program_open(struct kernel_program *program,
			 const struct kernel_program_options *options, kernel_record_fn *fn,
			 void *arg, struct err *err);
/* Forks, execs and ends of watched processes are told from now on. */
bool kernel_program_start_lives(struct kernel_program *program, struct err *err);
/* And samples. */
bool kernel_program_start(struct kernel_program *program, struct err *err);
/* Zeros are closed, too. */
void kernel_program_close(struct kernel_program *program);
/* Calls for each watched thread that sleeps. */
typedef void kernel_sleeper_fn(void *arg, const struct kernel_sleeper *sleeper);
bool kernel_program_sleepers(const struct kernel_program *program, kernel_sleeper_fn *fn, void *arg,
			     struct err *err);
/* For each that was passed when it gave up its CPU and sleeps long. `period_ns`: since when they were asked for last. */
bool kernel_program_passed(const struct kernel_program *program, u64 period_ns,
			   kernel_sleeper_fn *fn, void *arg, struct err *err);
/* Draws the periods. When to draw them again. */
u64 kernel_program_redraw(struct kernel_program *program, u64 now_ns);
/* Takes what is in the ring by now, to be handed out later. */
void kernel_program_collect(struct kernel_program *program);
/* The same, and hands it out, however fast more comes. */
void kernel_program_consume(struct kernel_program *program);
/* Until then, until a record cannot wait, or until that descriptor can be read (-1: none). */
void kernel_program_wait(const struct kernel_program *program, int other_fd, u64 until_ns);
void kernel_program_counts(const struct kernel_program *program, u64 out[KERNEL_COUNTS]);
/* Of each event, all CPUs together. */
void kernel_program_event_counts(const struct kernel_program *program, struct engine_event *out);
