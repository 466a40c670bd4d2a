/* SPDX-License-Identifier: Apache-2.0
 * process.h - a process the reader samples: its runtimes and its threads.
 *
 * The runtime's state is plain data with addresses of the target: a forked child
 * has the same memory at the same addresses, so it starts with a copy and is sampled in
 * its first millisecond.  An exec starts over. */
#pragma once
#include "base/backoff.h"
#include "base/table.h"
#include "base/vec.h"

#include "engines/engine.h"
#include "engines/reader/look.h"
#include "engines/reader/pause.h"
#include "engines/reader/tasks.h"
#include "engines/reader/turns.h"
#include "mem/plan.h"
#include "runtimes/attached.h"
#include "target/target.h"

/* What a second VM of the process has on a native thread: Ruby that calls Python, or Python that calls Ruby. */
struct second_stack {
	const struct attached *attached; /* NULL: there is none */
	u64 thread;
	bool present;  /* refresh: still there */
	bool is_outer; /* it calls the first: it was seen with a stack while the first had none */
	struct read_set set;
	struct look_memory memory;
};

/* A native thread and the thread of the VM that it runs: VMs use native threads again, and some move
 * theirs from one to another. */
struct reader_thread {
	u32 tid; /* 0: a VM thread on no native thread just now */
	u32 inner_tid;
	char comm[16];
	bool present; /* refresh: still there */
	/* what it runs: thread_bind() */
	u64 thread; /* its address in the VM; 0: a thread that no runtime knows */
	const struct attached *attached; /* NULL when `thread` is 0 */
	struct second_stack second;
	reader_turns turns; /* what it may run instead */
	bool had_frames;    /* at the last look */
	bool bound_present; /* refresh: what it is bound to is still there */
	u64 carrier;        /* see struct vm_thread */
	u32 life;           /* see struct sample_source */
	char name[64];
	bool is_named;           /* its VM has a name for it */
	struct backoff ask_name; /* else */
	u32 vm_state;            /* enum vm_thread_state at the last refresh */
	bool wanted;             /* passes the thread filter */
	struct read_set set;
	struct look_memory memory;
	struct pause_history history;
	u8 restless; /* looks to go in which it runs and does not move, until it counts as calm */
	struct backoff rebind; /* process_rebind() */
	/* its use of CPUs */
	struct thread_probe probe;
	struct thread_time probed; /* at the last probe */
	u64 sampled_ns;            /* wall: when its last sample was taken; 0: never */
	/* CPU accounting, see account.h */
	u64 accounted_ns; /* CPU time handed out or owed */
	s64 owed_ns; /* used, and not handed out; less than 0: handed out as the part of others */
	s64 left_ns; /* owed when it was paid the last time */
	s64 carried_ns; /* what its later samples are to make up for; see carry.h */
	u64 paid_at_ns; /* or when it was met */
	u32 unpaid;     /* samples since the last share */
	u64 unpaid_slots; /* deadlines that they stand for: theirs, and those that were missed before */
	u64 hot_until_ns; /* it used CPU lately: looked at in each attempt until then */
	bool was_running;
	u32 head_used; /* bytes of `head`; 0: not known */
	u32 bulk_used,
		bulk_spans; /* bytes and spans of its head in the bulk look that is being made */
	u8 head[64];        /* head words at the last look, to tell who moved */
};

/* What ran on a thread and does no longer, and whose samples still wait for their weight. */
struct departed {
	u32 tid, life, unpaid;
	u64 unpaid_slots;
	bool ended;  /* its clock with it: it shares in what no clock explains */
	u64 owed_ns; /* what its clock has told */
	char name[64];
};

struct reader_process {
	struct target *target;
	struct target owned; /* children: target == &owned */
	u32 pid;
	bool reopen; /* the target could not be opened in the middle of its exec */
	u64 incarnation;
	u64 program; /* whose calls it goes by (calls.h): a young child's is its parent's */
	u64 born_ns; /* when we heard of it */
	u64 join_slot;
	bool own_child;
	bool born_here; /* under our eyes: CPU time is counted from its begin, or from an exec, below */
	bool starting; /* a runtime's image is mapped, its VM is not up yet */
	bool has_run;  /* one of its threads had frames: who has none now is outside of the VM */
	bool shares_memory; /* a vfork child before its exec: its stack is its parent's */
	bool threads_changed;
	u32 torn_lists; /* of threads, in a row */
	bool refreshed; /* once at least: a thread that was not there then is new */
	u64 refresh_ns; /* not before: a refresh costs, and threads can churn */
	u64 ask_ns;     /* not before: whether it is still there */
	u64 turns_ns;   /* the same for process_ask_turns() */
	bool has_turns; /* its native threads may have several threads of one VM each */
	u64 rebind_ns;  /* the same for process_rebind() */
	u32 lives;      /* counted out to threads */
	u32 threads_met; /* so far: native ones, and those of VMs that were on none when they were met first */
	struct table
		riders; /* what VMs' threads were met: some move from one native thread to another all the time */
	VEC(u64) rider_addresses;
	u64 exec_ns;           /* when it was exec'd under our eyes */
	struct backoff attach; /* while there is nothing to attach to */
	u64 attach_cpu_ns;     /* what it had used by then */
	u64 images, images_ns; /* which are mapped, and when that is looked at again */
	u64 mapped_pages;      /* when they were read */
	u64 maps_ns;           /* when they are read again, though that is the same */
	attached_list attached;
	VEC(struct reader_thread *) threads;
	struct reader_tasks tasks; /* --async */
	u32 rotation;              /* next idle thread to probe */
	u32 head_turn;             /* which of the idle threads have their turn in a bulk look */
	u64 ask_names_ns;          /* not before: process_ask_names() */
	/* account.h */
	u64 begun_ns,
		begun_main_ns; /* of it, and of its main thread: what was told of the image before */
	u64 cpu_ns, clocked_ns; /* its clock, and when that was read */
	u64 epoch_ns, swept_ns;
	/* CPU time that no thread has told, so far: of those that were not there to be asked */
	s64 loose_ns;
	bool some_unwanted; /* it may be theirs: it is kept for nobody */
	u64 rebound_ns;     /* of this epoch's CPU time, what account_rebind() has handed on */
	VEC(struct departed) departed;
	char warning[200];
};

struct reader_process *process_new(struct target *borrowed, u64 incarnation);
/* A fork's child, which begins with what its parent has attached; without a target as yet. NULL
 * without memory. */
struct reader_process *process_fork(const struct reader_process *parent, u32 pid, u64 incarnation);
/* Its target; false when it is gone already. */
bool process_open(struct reader_process *process, struct err *err);
void process_free(struct reader_process *process);
/* After an exec: forgets runtimes and threads, reads the new image's facts. */
bool process_exec(struct reader_process *process, u64 incarnation, struct err *err);

/* Asks every runtime about every image. ERR_NOT_MINE: none knows it. ERR_NOT_READY: `starting`. */
bool process_attach(struct reader_process *process, struct err *err);
/* Another VM can be loaded at any time: looks for one now and then. */
void process_attach_more(struct reader_process *process, u64 now_ns);
typedef bool runtime_has_fn(const struct runtime *runtime);
/* Has one of its runtimes what `option` asks for ("tasks are")? Of what has no runtime yet nothing is known: true. */
bool process_can(const struct reader_process *process, runtime_has_fn *has, const char *option,
		 const char *what, struct err *err);
/* Brings `threads` up to date. Departed ones go to `departed` with what they are owed. */
bool process_refresh(struct reader_process *process, const struct engine_options *options,
		     struct err *err);
/* Now and then: may native threads have several threads of a VM? Then which is to be asked again and again: nobody tells
 * when one that is known runs another interpreter. */
void process_ask_turns(struct reader_process *process, u64 now_ns);
/* Asks VMs for the names of threads that had none when they were asked the last time, where it is time to. */
void process_ask_names(struct reader_process *process, const struct engine_options *options,
		       u64 now_ns);
/* Which thread of the VM runs on `thread` now? True when it is another than was known. `suspect`: what
 * was read of it says so; otherwise it is asked now and then.  Adds and removes no threads. */
bool process_rebind(struct reader_process *process, struct reader_thread *thread,
		    const struct engine_options *options, bool suspect);
