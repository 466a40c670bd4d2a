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
 *	mem_read_along as mem_read, of what lies a little further one way each time, as frames do
 *
 * All return false when the bytes cannot be had; `dst` is then undefined. */
#pragma once
#include "base/types.h"

enum mem_way { MEM_UP, MEM_DOWN };

#ifdef __bpf__

enum { MEM_WAYS = 2, MEM_STRETCH_BYTES = 1024, MEM_PAGE_BYTES = 4096 };

/* Whoever is interrupted does not change its stack meanwhile, and many bytes cost what few do. */
struct mem_stretch {
	u64 addr;
	u64 is_known;
	u8 bytes[MEM_STRETCH_BYTES];
};

struct mem {
	struct mem_stretch *stretches; /* one a way; mem_forget() them first */
};

static __always_inline void mem_forget(const struct mem *mem)
{
	for (u32 way = 0; way < MEM_WAYS; way++)
		mem->stretches[way].is_known = false;
}

static __always_inline bool mem_read(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	(void)mem;
	return bpf_probe_read_user(dst, len, (const void *)addr) == 0;
}

/* Within the page of `addr`: the next one may not be there, and to find that out costs a microsecond. */
static __always_inline u64 mem_stretch_begin(enum mem_way way, u64 addr, u32 len)
{
	u64 page = addr & ~(u64)(MEM_PAGE_BYTES - 1);
	u64 last = page + MEM_PAGE_BYTES - MEM_STRETCH_BYTES;
	u64 down = addr + len - MEM_STRETCH_BYTES;

	if (way == MEM_UP)
		return addr < last ? addr : last;
	return down > page ? down : page;
}

/* `len` is a number, and MEM_STRETCH_BYTES at most. */
static __always_inline bool mem_read_along(const struct mem *mem, enum mem_way way, u64 addr,
					   void *dst, u32 len)
{
	struct mem_stretch *stretch = &mem->stretches[way];
	u64 at = addr - stretch->addr;

	if (!stretch->is_known || at > MEM_STRETCH_BYTES - len) {
		u64 begin = mem_stretch_begin(way, addr, len);
		at = addr - begin;
		if (at > MEM_STRETCH_BYTES - len) /* on two pages */
			return mem_read(mem, addr, dst, len);
		stretch->addr = begin;
		stretch->is_known = mem_read(mem, begin, stretch->bytes, MEM_STRETCH_BYTES);
		if (!stretch->is_known)
			return false;
	}
	__builtin_memcpy(dst, stretch->bytes + at, len);
	return true;
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

static inline bool mem_read_along(const struct mem *mem, enum mem_way way, u64 addr, void *dst,
				  u32 len)
{
	(void)way;
	return mem_read(mem, addr, dst, len);
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
