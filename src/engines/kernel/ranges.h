/* SPDX-License-Identifier: Apache-2.0
 * ranges.h - where the code of a process lies, for the kernel's walk; written by one side, read by the other.
 *
 * A range whose code was replaced once has a mark: eight bytes of its file's build-id, and where they are in the process's memory.
 * Where there are others, or none can be read, other code has taken its place, and the walk ends there: who reads the record knows
 * of it, and walks on. */
#pragma once
#include "base/types.h"

enum {
	KERNEL_RANGES_MAX = 512, /* runs of code a process; a power of two */
	KERNEL_MARKS_MAX = 16,   /* a process; a power of two */
};

enum kernel_range_kind {
	KERNEL_RANGE_TABLE,
	KERNEL_RANGE_NO_TABLE, /* code without one: made at run time, or a file that has none */
	KERNEL_RANGE_LEFT, /* there is one, and who reads the record uses it: here is no room, or other code may come unseen */
};

/* Addresses that one file's table covers; by address. */
struct kernel_range {
	u64 start, end, bias;
	u32 table; /* where it begins in the words */
	u16 kind;  /* enum kernel_range_kind */
	u16 mark;  /* of `marks`, from 1 on; 0: none */
};

struct kernel_mark {
	u64 address, word;
};

struct kernel_space {
	u32 count, zero;
	struct kernel_range ranges[KERNEL_RANGES_MAX];
	struct kernel_mark marks[KERNEL_MARKS_MAX];
};
