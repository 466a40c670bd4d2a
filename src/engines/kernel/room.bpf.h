/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * room.bpf.h - where a walk is made: what is written where it is read again has no place on the stack. */
#pragma once
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>

#include "engines/kernel/named.h"
#include "unwind/tail.h"

enum {
	NATIVE_WORDS = sizeof(struct kernel_frame) / 8,
	MANAGED_WORDS = sizeof(struct frame) / 8,
	SEEK_MAX = 64, /* of a VM's threads, the newest */
	WORDS = KERNEL_NATIVE_MAX * NATIVE_WORDS + KERNEL_FRAMES_MAX * MANAGED_WORDS,
};

/* Which of the VM's threads runs here? */
struct seek {
	u64 where;   /* in the VM's list */
	u64 pointer; /* the thread pointer: what the VM has as its native thread */
	u64 found;   /* 0: none yet */
	struct vm_thread thread;
};

struct room {
	u64 is_taken;
	struct unwind_walk walk;
	struct tail tail;
	struct walk managed;
	struct pt_regs regs;
	u32 used;         /* of the words */
	u32 managed_most; /* so many managed frames, and no more */
	u32 names;        /* functions of them that were not seen before */
	struct mem_kept kept;
	struct seek seek;
	struct kernel_named named;
	/* what is sent, from here on: */
	struct kernel_record record;
	u64 words[WORDS]; /* frames; the rest is right behind the last one */
	struct kernel_rest rest;
};

/* constants.rooms_each for a CPU; as many as that makes is set before it is loaded. (A per-CPU map's value is 32 KiB at the
 * most.) */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct room);
} rooms SEC(".maps");
