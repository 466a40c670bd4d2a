/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * shared.h - what the BPF programs and the engine that loads them tell each other.
 *
 *	processes   pid -> where its code lies, and the table of each run of addresses
 *	tables      the words of all tables (unwind/rule.h), one behind the other
 *	records     a ring: one record an interrupt
 *
 * Layouts are pinned: both sides are compiled by themselves. */
#pragma once
#include "base/types.h"

enum {
	KERNEL_RANGES_MAX = 512, /* runs of code a process; a power of two */
	KERNEL_NATIVE_MAX = 1024,
	KERNEL_KERNEL_MAX = 64, /* the kernel's own frames */
	KERNEL_PROCESSES_MAX = 8192,
};

/* Addresses that one file's table covers; by address. */
struct kernel_range {
	u64 start, end, bias;
	u32 table; /* where it begins in the words */
	u32 kind;  /* enum kernel_range_kind */
};

enum kernel_range_kind {
	KERNEL_RANGE_TABLE,
	KERNEL_RANGE_NO_TABLE, /* code without one: made at run time, or a file that has none */
};

struct kernel_process {
	u32 count, zero;
	struct kernel_range ranges[KERNEL_RANGES_MAX];
};

struct kernel_frame {
	u64 pc, sp;
};

struct kernel_record {
	u64 time_ns; /* CLOCK_MONOTONIC */
	u32 pid, tid, cpu;
	u16 end; /* enum unwind_step: how the native walk ended; UNWIND_MORE: at KERNEL_NATIVE_MAX */
	u16 kernel_count; /* of `kernel` */
	u32 native_count; /* so many struct kernel_frame follow */
	u32 zero;
	u64 kernel[KERNEL_KERNEL_MAX];
};

#ifndef __bpf__
_Static_assert(sizeof(struct kernel_range) == 32, "crosses the kernel boundary");
_Static_assert(sizeof(struct kernel_record) == 32 + 8 * KERNEL_KERNEL_MAX,
	       "crosses the kernel boundary");
#endif
