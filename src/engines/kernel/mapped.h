/* SPDX-License-Identifier: Apache-2.0
 * mapped.h - what processes map to be run, told by the kernel as it happens.
 *
 * Code at new addresses is found when it is run.  Code that takes the place of other code (dlclose, then dlopen) is not:
 * until the kernel is told, its tables are of what was there before. */
#pragma once
#include "base/vec.h"
#include "target/perf_ring.h"

/* A mapping that was made, or whose protection was changed, and can be run; or an exec, before the first one of the new
 * image. */
struct kernel_mapped {
	u64 time_ns; /* CLOCK_MONOTONIC */
	u64 start, end, offset, inode;
	u32 device; /* as struct mapping has it */
	u32 pid;
	u32 text; /* in `texts`: the path, or of an exec the new name */
	bool is_exec;
};

struct kernel_mappings {
	VEC(struct perf_ring) rings;
	VEC(struct kernel_mapped) news; /* by time */
	u32 taken;                      /* of them: the first ones */
	VEC(char) texts;                /* of all news */
	u64 drained_ns;                 /* what is older was in the rings then, if it is not lost */
	u64 lost_ns; /* some were lost since then; 0: none. It is for the reader to set it back */
	int wait_fd; /* an epoll of all rings: readable when one has news */
};

bool kernel_mappings_open(struct kernel_mappings *mappings, struct err *err);
/* Zeros are closed, too. */
void kernel_mappings_close(struct kernel_mappings *mappings);
/* The oldest news of up to that time, and its text until the next call; false: there are none. */
bool kernel_mappings_next(struct kernel_mappings *mappings, u64 until_ns, struct kernel_mapped *out,
			  const char **text);
/* Those that were not taken yet, of up to now, by time; until the next call. */
const struct kernel_mapped *kernel_mappings_waiting(struct kernel_mappings *mappings, u32 *count);
