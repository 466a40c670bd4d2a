/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * mem.h - reading memory that is not ours: the one seam of every walker.
 *
 * A walker takes a struct mem and never asks where the bytes come from: another
 * process (live.c), our own (self.c), a recorded walk (tape.c), a snapshot that
 * proves itself (plan.c), or, inside the kernel, a BPF helper.  All spell it so:
 *
 *	mem_read   the bytes must hold still for the whole sample: they are compared
 *	mem_peek   the bytes may drift (a running leaf's pc, a counter): they are not
 *	mem_peek_last  they may drift, and are read after everything else: a counter that changes before what
 *	               else was read can mean something else
 *	mem_constant   the bytes stay as they are as long as the walk's epoch does: read once
 *
 * All return false when the bytes cannot be had; `dst` is then undefined. */
#pragma once
#include "base/types.h"

#ifdef __bpf__

struct mem {
	u32 unused;
};

static __always_inline bool mem_read(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	(void)mem;
	return bpf_probe_read_user(dst, len, (const void *)addr) == 0;
}

static __always_inline bool mem_peek(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem_read(mem, addr, dst, len);
}

static __always_inline bool mem_peek_last(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem_read(mem, addr, dst, len);
}

static __always_inline bool mem_constant(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem_read(mem, addr, dst, len);
}

#else

enum mem_hold { MEM_HOLDS, MEM_DRIFTS, MEM_LAST, MEM_CONSTANT };

/* The first member of every reader. A reader whose state changes as it reads (a tape, a plan)
 * is created non-const by its owner; walkers see it const. */
struct mem {
	bool (*read)(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold);
};

static inline bool mem_read(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem->read(mem, addr, dst, len, MEM_HOLDS);
}

static inline bool mem_peek(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem->read(mem, addr, dst, len, MEM_DRIFTS);
}

static inline bool mem_peek_last(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem->read(mem, addr, dst, len, MEM_LAST);
}

static inline bool mem_constant(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem->read(mem, addr, dst, len, MEM_CONSTANT);
}

#endif

static inline bool mem_u64(const struct mem *mem, u64 addr, u64 *out)
{
	return mem_read(mem, addr, out, sizeof *out);
}

static inline bool mem_u32(const struct mem *mem, u64 addr, u32 *out)
{
	return mem_read(mem, addr, out, sizeof *out);
}
