/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * mem.h - reading memory that is not ours: the one seam of every walker.
 *
 * A walker takes a struct mem and never asks where the bytes come from: another
 * process (live.c), our own (self.c), a recorded walk (tape.c), a snapshot that
 * proves itself (plan.c), or, inside the kernel, a BPF helper.  All spell it so:
 *
 *	mem_read   the bytes must hold still for the whole sample: they are compared
 *	mem_peek   the bytes may drift (a counter): they are not
 *	mem_place  the same, of a word that says where in its code the leaf is: nothing else of the walk goes by it
 *	mem_peek_last  they may drift, and are read after everything else: a counter that changes before what
 *	               else was read can mean something else
 *	mem_constant   the bytes stay as they are as long as the walk's epoch does: read once
 *	mem_read_along as mem_read, of what lies a little further one way each time, as frames do
 *	mem_read_near  the same, of what may lie anywhere, but often does so
 *	mem_peek_beside  as mem_peek, of members of one object after the other
 *
 * What a walker has found out about an object it may note, and recall: of a snapshot in this walk, inside the kernel as long as
 * its epoch lasts, elsewhere never.
 *
 * All return false when the bytes cannot be had; `dst` is then undefined. */
#pragma once
#include "base/types.h"
#include "mem/way.h"

#ifdef __bpf__
#include "mem/mem.bpf.h"
#else

enum { MEM_KEEPS_CONSTANTS = 1 }; /* worth a read of the epoch */

enum mem_hold { MEM_HOLDS, MEM_DRIFTS, MEM_PLACE, MEM_LAST, MEM_CONSTANT };

/* The first member of every reader. A reader whose state changes as it reads (a tape, a plan)
 * is created non-const by its owner; walkers see it const. */
struct mem {
	bool (*read)(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold);
	bool (*recall)(const struct mem *mem, u64 addr, u64 *value); /* NULL: it has no notes */
	void (*note)(const struct mem *mem, u64 addr, u64 value);
};

static inline bool mem_read(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem->read(mem, addr, dst, len, MEM_HOLDS);
}

static inline bool mem_read_along(const struct mem *mem, enum mem_way way, u64 addr, void *dst,
				  u32 len)
{
	(void)way;
	return mem_read(mem, addr, dst, len);
}

static inline bool mem_read_near(const struct mem *mem, enum mem_way way, u64 addr, void *dst,
				 u32 len)
{
	(void)way;
	return mem_read(mem, addr, dst, len);
}

static inline bool mem_peek(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem->read(mem, addr, dst, len, MEM_DRIFTS);
}

static inline bool mem_place(const struct mem *mem, u64 addr, u64 *dst)
{
	return mem->read(mem, addr, dst, sizeof *dst, MEM_PLACE);
}

static inline bool mem_peek_beside(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem_peek(mem, addr, dst, len);
}

static inline bool mem_peek_last(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem->read(mem, addr, dst, len, MEM_LAST);
}

static inline bool mem_constant(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem->read(mem, addr, dst, len, MEM_CONSTANT);
}

static inline bool mem_recall(const struct mem *mem, u64 addr, u64 *value)
{
	return mem->recall && mem->recall(mem, addr, value);
}

static inline void mem_note(const struct mem *mem, u64 addr, u64 value)
{
	if (mem->note)
		mem->note(mem, addr, value);
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
