/* SPDX-License-Identifier: Apache-2.0
 * live.h - memory of another process, as it is now.
 *
 * process_vm_readv, or /proc/PID/mem where that is refused (seccomp, old
 * containers).  Reading never stops the target and never faults us. */
#pragma once
#include "base/err.h"
#include "mem/mem.h"

struct mem_live {
	struct mem mem;
	u32 pid;
	int mem_fd; /* /proc/PID/mem; -1 until the fallback is needed */
	u64 calls;  /* system calls made, for the bench */
};

/* Nothing is opened before the first read. */
void mem_live_init(struct mem_live *live, u32 pid);
void mem_live_fini(struct mem_live *live);

struct mem_span {
	u64 addr;
	void *dst;
	u32 len;
};
/* As few system calls as the kernel allows (1,024 spans each). Returns how many spans were read
 * whole before the first that was not; errno says why. */
u32 mem_live_readv(const struct mem_live *live, const struct mem_span *spans, u32 count);
/* True when a byte of the process can be read at all; fills err with what is missing if not. */
bool mem_live_probe(const struct mem_live *live, u64 addr, struct err *err);
