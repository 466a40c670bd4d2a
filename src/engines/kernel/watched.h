/* SPDX-License-Identifier: Apache-2.0
 * watched.h - a process that the kernel engine samples: where its code lies, and what its threads have used.
 *
 * A process may run two VMs (a Ruby that has loaded Python).  A forked child begins with what its parent has, so that its
 * samples have names even when it has ended before anybody looked.  An exec starts over. */
#pragma once
#include "base/backoff.h"
#include "engines/kernel/code.h"
#include "engines/kernel/history.h"
#include "engines/kernel/machine.h"
#include "engines/kernel/mapped.h"
#include "engines/kernel/replaced.h"
#include "target/told.h"

enum { WATCHED_ENDED = 16, WATCHED_ROOTS = 64 };

struct watched_thread {
	u32 tid;
	u32 life;       /* see struct sample_source */
	u32 unpaid;     /* samples that wait for their weight */
	u64 runtime_ns; /* its CPU time as last told */
	u64 paid_ns;    /* of it, what was shared or was before our time; can be ahead of it */
	s64 carried_ns; /* what its later samples are to make up for; see pay.c */
	s64 left_ns; /* how much more it had used than it was paid, when it was paid the last time */
	u64 paid_at_ns; /* then, or when it was met; CLOCK_MONOTONIC */
	bool was_sampled;
	u64 off_ns; /* when it gave up its CPU, if there is a sample of it that has no weight yet; else 0 */
	char comm[16];
	char name[64];           /* its VM's for it, or comm; see thread_name.h */
	bool is_named;           /* by its VM */
	struct backoff ask_name; /* while it has no name there */
	u32 inner_tid;           /* as the program sees it; 0: not asked */
	u64 vm_thread;           /* which of its VM's it was last; 0: none so far */
	u32 vm;                  /* the place of that VM */
};

/* A VM that it runs: the one that was attached to in the same place of the list. */
struct watched_vm {
	struct machine machine;
	u32 number;            /* the kernel's; 0: not found yet */
	u64 generation;        /* in the last sample; 0: none yet */
	u64 forked_generation; /* the parent's, in its last sample before the fork */
	u32 word_asks; /* of a fork: how often it may still be asked whether its word has moved */
	u16 forks_key_at; /* where a fork of it had its key, which those to come have, too; 0: none had it elsewhere */
	u64 roots
		[WATCHED_ROOTS]; /* outermost frames whose list reached the end of the native stack */
};

struct watched {
	u32 pid, parent; /* 0: not known */
	u32 execs;
	u64 incarnation;       /* never the same for two images of two processes */
	u64 forked_from;       /* the parent's, of which it still is a copy; 0: of none */
	u64 forked_ns;         /* CLOCK_MONOTONIC */
	struct target *target; /* the caller's, or `own` */
	struct target own;
	struct unwind_space space;
	u32 space_number;         /* the kernel's; 0: none */
	u64 maps_ns;              /* when the mappings were read; 0: they are to be read */
	struct told told;         /* of them, since then */
	bool is_told;             /* they could not be read any more, and are what was told */
	struct backoff read_maps; /* again, for code that is mapped nowhere */
	u64 ask_jit_ns;           /* not before: for code that it has made */
	struct replaced replaced;
	struct history history;
	bool is_doubted; /* what it maps is to be read */
	bool has_news;   /* it has mapped more code since that was read */
	u64 news_ns;     /* since when; CLOCK_MONOTONIC */
	bool was_met;    /* in a sample: when it and its threads began is not known */
	bool is_new;     /* the kernel does not know it yet: all others it has met itself */
	u64 told_ns; /* when the kernel was told of it last: a child that was forked before has less */
	bool has_ended;
	bool was_there, was_gone; /* when looks were taken for ends that nothing told of */
	attached_list attached;
	struct watched_vm vms[KERNEL_VMS];
	bool may_have_one; /* a VM that has not started, or none of whose threads is known */
	u64 ask_ns,
		asked_ns; /* when to look again, and when it was looked the first time; 0: not yet */
	u64 looked_at;    /* of which files that was */
	bool has_sleepers; /* whose samples, if they have any, are without its VM's frames */
	u64 riders_ns;     /* when to ask for threads that have no word of their own again */
	struct {
		u64 page, brought_ns;
	} missed[2]; /* what could not be read last, and when it was brought in: as in struct kernel_head */
	u32 lives;                          /* of threads */
	s64 carried_ns;                     /* of threads that have ended; see pay.c */
	VEC(struct watched_thread) threads; /* by tid */
	struct {
		u32 tid;
		u64 runtime_ns;
	} ended[WATCHED_ENDED]; /* threads, the last ones */
	u32 ended_at;
};

/* `target` is borrowed; NULL: opened when it is needed. */
struct watched *watched_new(u32 pid, struct target *target, u64 incarnation,
			    struct unwind_files *files);
/* With what the parent has; its code is the kernel's same space. */
struct watched *watched_fork(const struct watched *parent, u32 pid, u64 time_ns, u64 incarnation);
void watched_free(struct watched *process);

/* Forgets where code lay, and all threads but the one that is left. */
void watched_exec(struct watched *process, const struct kernel_head *head, u64 incarnation);
/* Is it time to read what it maps, for code that is at this address, or for what it has mapped since? */
bool watched_wants_maps(struct watched *process, u64 address, u64 time_ns);
/* Reads what it maps now, which may be ahead of the news, or of one that has ended takes what was told. False: neither can be; what
 * was known stays. */
bool watched_read_maps(struct watched *process, struct kernel_mappings *mappings, struct err *err);
/* It may have put other code anywhere since then, and nobody said so. */
void watched_doubt(struct watched *process, u64 since_ns);
/* What the kernel says of it. */
void watched_tell(struct watched *process, const struct kernel_mapped *mapped, const char *text);
/* Has it put other code where code was? Then what it maps is to be read, and the kernel told. */
bool watched_replaces(struct watched *process, const struct kernel_mapped *mapped);
/* Which VMs does it run? False: it is not time to look again. */
bool watched_look_for_vms(struct watched *process, char warning[200]);
/* At the end: it maps one that was never met running; see attached.h. */
void watched_say_never_started(struct watched *process, char warning[200]);
/* The place of one that has no number yet and is far enough; -1: none. */
int watched_next_vm(struct watched *process, machine_cache *cache);
bool watched_has_vm(const struct watched *process);
struct watched_thread *watched_find_thread(const struct watched *process, u32 tid);
/* The thread, made when it is new; NULL: out of memory. */
struct watched_thread *watched_thread(struct watched *process, u32 tid);
/* Was this CPU time of a thread that has ended? It still runs for a little while then. */
bool watched_has_ended(const struct watched *process, u32 tid, u64 runtime_ns);
/* It has ended: its number is free again. */
void watched_forget_thread(struct watched *process, struct watched_thread *thread);
/* What the threads that there are have used before our time. */
void watched_begin(struct watched *process);
/* Up to now, as the system says: what is told with samples is a little old. */
void watched_update(struct watched *process);
