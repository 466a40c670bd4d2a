/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * shared.h - what the BPF programs and the engine that loads them tell each other.
 *
 *	processes   pid -> its space, its machine, and how many execs made it what it is
 *	spaces      where code lies, and the table of each run of addresses: of a process and its forks
 *	machines    a VM: which runtime, its state, and where each thread keeps the word that leads to its own
 *	riders      machine and thread -> its thread of the VM, where there is no such word
 *	tables      the words of all tables (unwind/rule.h), one behind the other
 *	records     a ring: one record an interrupt, or an event
 *	calls       by the number of a system call: which events it is
 *	event_counts  of each event, on each CPU
 *	counts      of each CPU: what happened there
 *
 *	record = head | kernel's frames | native frames | each VM's frames | [rest]     rest = walk | bytes of the stack
 *
 * The rest is there when the walk met code that nobody has told the kernel of: who reads the record goes on from there.
 * Layouts are pinned: both sides are compiled by themselves. */
#pragma once
#include "base/types.h"
#include "engines/kernel/ranges.h"
#include "sample/frame.h"
#include "unwind/step.h"

enum {
	KERNEL_VMS = 2, /* VMs of a process that are walked */
	KERNEL_MACHINES_MAX = 1024,
	KERNEL_RIDERS_MAX = 65536,
	KERNEL_NATIVE_MAX = 1024,
	KERNEL_MANAGED_MAX = 4096, /* from the leaf on */
	KERNEL_ROOT_MAX = 100, /* of deeper stacks that are arrays: the outermost, behind a mark */
	KERNEL_FRAMES_MAX = KERNEL_MANAGED_MAX + KERNEL_ROOT_MAX + 2, /* mark and end */
	KERNEL_HIDDEN_MAX = 1024, /* steps beside those that give a frame */
	KERNEL_STATE_MAX = 1024,  /* of a runtime: RUNTIME_STATE_MAX */
	KERNEL_SEEN_MAX = 4096,
	KERNEL_KERNEL_MAX = 64, /* the kernel's own frames */
	KERNEL_PROCESSES_MAX = 8192,
	KERNEL_STACK_PAGES = 16, /* of a stack that are copied; the first one in part */
	KERNEL_STACK_BYTES = KERNEL_STACK_PAGES * 4096,
	KERNEL_CALLS_MAX = 1024,
	KERNEL_EVENTS_MAX = 2048,
	KERNEL_SLEEPERS_MAX = 1 << 16,
	KERNEL_REGS = 21,
	KERNEL_ROOMS_MOST = 4, /* a CPU: walks that are under way there */
};

/* Set before the programs are loaded. */
struct kernel_constants {
	u32 table_mask; /* words of `tables`, less one */
	u32 pid_level;  /* of our own pid namespace: pids are what this side calls processes */
	u32 rooms_each; /* a CPU's */
	u32 every; /* of an event's hits, one in so many is looked at; 0: as their rate allows */
	u64 latency_min_ns; /* a system call that is shorter is no event */
	u8 follow_children, with_native, with_kernel;
	u8 send_latency;   /* of system calls of which there is a sample */
	u8 with_preempted; /* who loses its CPU is off it, too, as who waits for something */
	u8 watch_all;      /* who is not watched is from now on */
	u8 zero[2];
	u64 cgroup;    /* but only in this one, or below it; 0: anywhere */
	u32 pid_space; /* the inode of our own pid namespace, where it is not the first one */
	u32 own_pid;   /* never */
};

/* Events that a system call is, when it begins and when it ends; 0: none. */
struct kernel_call {
	u16 enter, leave;
};

/* One of how many is looked at. */
struct kernel_pace {
	u64 since_ns, hits; /* since then, so many */
	u32 every, zero;
};

/* Of an event, on a CPU. */
struct kernel_event_count {
	u64 hits;
	u64 waiting; /* of them, those behind the last one that was looked at */
	u64 returned, latency_ns, latency_max_ns; /* of system calls */
	struct kernel_pace pace;
};

/* A thread that does not run: as it is when the engine begins, or one that was passed when it gave up its CPU. */
struct kernel_sleeper {
	u32 pid, tid;
	u64 since_ns; /* when it was passed; else 0 */
	u64 fsbase;
	u64 runs;              /* that it had: it has not run since if there are no more */
	u64 regs[KERNEL_REGS]; /* struct pt_regs */
};

struct kernel_process {
	u32 space, execs; /* a key of `spaces`, 0: not known yet; how many execs were seen */
	u32 machines[KERNEL_VMS]; /* keys of `machines`; 0: none is known */
	u8 is_held;               /* it is still sonde, about to become the command */
	u8 made_way;              /* enum made_way */
	u8 tells_jit; /* and debuggers may be told of what it makes: what leads nowhere here is known by now */
	u8 zero;
};

struct kernel_machine {
	u32 kind; /* of its frames: FRAME_MANAGED + the runtime's place in runtimes/list.h */
	s32 own_word; /* from the thread pointer: of the word that leads to the thread of the VM; 0: see `riders` */
	s32 second_word;     /* where it is when that is empty; 0: nowhere */
	u16 keys_at, key_at; /* or in what a word there leads to, at so many bytes; 0: it is not */
	u8 state[KERNEL_STATE_MAX];
	u16 seen[KERNEL_SEEN_MAX]; /* functions that were sampled in this generation */
};

/* In a native frame's pc: it is a return address, so its call is in front of it; and its range's mark was there, so that its
 * caller was found by the right table (ranges.h). */
#define KERNEL_IS_RETURN (1ull << 63)
#define KERNEL_IS_SURE (1ull << 62)

#define KERNEL_PC(word) ((word) & ~(KERNEL_IS_RETURN | KERNEL_IS_SURE))

struct kernel_frame {
	u64 pc, sp;
};

/* What is left to do where nothing is known of the code. */
struct kernel_rest {
	struct unwind_walk walk;      /* every register that is known is in `value` */
	u8 stack[KERNEL_STACK_BYTES]; /* from walk.sp on */
};

enum kernel_record_kind {
	KERNEL_SAMPLE,
	KERNEL_SWITCH, /* a sample, too: the thread gives up its CPU */
	/* of these the head alone is sent: */
	KERNEL_FORK, /* pid is the child */
	KERNEL_EXEC,
	KERNEL_THREAD_END,
	KERNEL_PROCESS_END, /* and it was the last thread */
	KERNEL_LATENCY,     /* of the thread's last sample */
	KERNEL_RESUME, /* it runs again: how long it was off its CPU, since its last KERNEL_SWITCH */
	KERNEL_NAMED,  /* see named.h; it comes before the sample */
};

/* What one VM says of the thread. */
struct kernel_vm {
	u64 thread;      /* 0: it runs none there */
	u64 generation;  /* see struct walk */
	u16 count, kind; /* of its frames */
	u16 end, flags;  /* enum step, enum walk_flags */
};

struct kernel_head {
	u64 time_ns;    /* CLOCK_MONOTONIC */
	u64 runtime_ns; /* the thread's CPU time so far, at most a tick old */
	u64 latency_ns; /* of a system call that has ended */
	u64 missed[2];  /* addresses not read: by the native walk, by the others; 0: none */
	u32 pid, tid, cpu;
	u32 parent; /* process; of KERNEL_FORK */
	u32 execs;  /* of its process */
	u32 hits;   /* for so many it stands */
	u16 event;  /* 0: the clock */
	u16 result; /* errno of a system call that has ended; 0: it went well */
	u16 kind;   /* enum kernel_record_kind */
	u16 end; /* enum unwind_step: how the native walk ended; UNWIND_MORE: at KERNEL_NATIVE_MAX */
	u32 native_count;     /* so many struct kernel_frame follow */
	u8 has_rest, has_new; /* it follows these; of a managed function that was not seen before */
	u16 kernel_count;     /* of `kernel` */
	struct kernel_vm vms[KERNEL_VMS];
	u64 futex;      /* of KERNEL_SWITCH: what it sleeps on; 0: something else */
	u32 wants_lock; /* of KERNEL_SWITCH: a bit for each VM that says that it waits for its lock */
	u32 zero;
	char comm[16];
};

struct kernel_record {
	struct kernel_head head;
	u64 kernel[KERNEL_KERNEL_MAX]; /* leaf first */
};

enum kernel_count {
	KERNEL_COUNT_SAMPLES, /* interrupts in processes that are watched; hits for which a stack is to stand */
	KERNEL_COUNT_DROPPED,    /* of these, those for which the ring had no room */
	KERNEL_COUNT_LIVES_LOST, /* forks, execs and ends for which it had none */
	KERNEL_COUNT_FORKS_LOST, /* times that a process found no room among those that are watched */
	KERNEL_COUNT_PASSED,     /* times that a thread gave up its CPU, for which others stand */
	KERNEL_COUNTS,
};

#ifndef __bpf__
_Static_assert(sizeof(struct kernel_range) == 32, "crosses the kernel boundary");
_Static_assert(sizeof(struct kernel_head) == 160, "crosses the kernel boundary");
#endif
