/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * sample.h - one look at one thread: the currency of the program.
 *
 * Every engine produces it, everything downstream consumes it.  It crosses the
 * kernel boundary, so its layout is pinned. */
#pragma once
#include "base/types.h"
#include "sample/frame.h"

enum sample_kind {
	SAMPLE_CPU,       /* weight: CPU nanoseconds */
	SAMPLE_WALL,      /* weight: nanoseconds of wall time */
	SAMPLE_LOCK,      /* weight: wall time in which the thread held the VM's lock (GVL, GIL) */
	SAMPLE_EXCEPTION, /* weight: wall time in which the thread raised or handled an exception */
	SAMPLE_OFFCPU,    /* weight: nanoseconds blocked */
	SAMPLE_EVENT, /* weight: nanoseconds that it took, of a system call; it stands for `more` further ones */
	SAMPLE_ALLOC,
	/* No stack: `weight` CPU nanoseconds are to be shared by the samples of this thread since
	 * the last SAMPLE_SHARE of it.  A CPU clock is read now and then, not at each sample. */
	SAMPLE_SHARE,
};

enum sample_flags {
	SAMPLE_MOVING = 1 << 0,    /* a [moving] leaf stands for frames that changed */
	SAMPLE_TRUNCATED = 1 << 1, /* outer frames are missing: too deep, or unreadable */
	SAMPLE_FAULT = 1 << 2,     /* a read failed on the way */
	SAMPLE_STARTING = 1 << 3,
	SAMPLE_PAUSED = 1 << 4, /* the thread was stopped for it */
	SAMPLE_UNPAID = 1 << 5, /* weight comes later, by SAMPLE_SHARE */
	SAMPLE_REPEATED =
		1 << 6,       /* the thread has not run since its last sample: depth is 0 and the
				    * frames are those of that sample */
	SAMPLE_TASK = 1 << 7, /* of a task that waits: `tid` is the thread whose loop runs it */
};

struct sample {
	u64 time_ns; /* CLOCK_MONOTONIC */
	u64 weight;
	u64 generation; /* of the runtime's addresses: equal means no frame id was reused between */
	u32 pid;        /* as this side sees it */
	u32 tid;
	u32 cpu;
	u16 kind;
	u16 flags;
	u32 depth;    /* frames[0] is the leaf */
	u32 leftover; /* managed frames that found no native place (stitch.c) */
	u32 more;     /* so many that were not looked at does it stand for, too */
	u32 zero;
	struct frame frames[];
};

#ifndef __bpf__
_Static_assert(sizeof(struct sample) == 56, "crosses the kernel boundary");
#endif
