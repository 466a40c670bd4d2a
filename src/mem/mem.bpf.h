/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * mem.bpf.h - mem.h inside the kernel: the memory of the thread that is interrupted.
 *
 * A read costs some 60 ns, of 8 bytes or of 1,000, and a failed one a microsecond.  So what lies beside what was
 * read is kept for the next reads (stretches; of a page, where one has led to the next), and so is what was found out about an object
 * (notes): for as long as
 * the runtime says that its address means the same object, or for this walk.  Who is interrupted does not change
 * its own stack meanwhile.  A page that is swapped out, or was never touched, cannot be read in an interrupt. */
#pragma once
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "base/spread.h"
#include "base/types.h"
#include "mem/way.h"

enum {
	MEM_WAYS = 3,
	MEM_STRETCH_BYTES = 1024,
	MEM_PAGE_BYTES = 4096,
	MEM_STRETCHES_IN_ROW = 2, /* then the next are whole pages */
	MEM_BESIDE_BYTES = 128,
	MEM_NOTES = 512,
	MEM_KEEPS_CONSTANTS =
		0, /* what is found out about an object is noted, and costs fewer reads */
};

struct mem_stretch {
	u64 addr;
	u32 length; /* 0: nothing is known, but the last read was there */
	u32 row;    /* so many before it were near each other */
	u8 bytes[MEM_PAGE_BYTES];
};

struct mem_note {
	u64 addr, value, owner, epoch;
};

struct mem_kept {
	struct mem_stretch stretches[MEM_WAYS]; /* by enum mem_way */
	u64 owner, epoch;                       /* of the notes that count */
	u64 walks;
	u64 missed; /* an address that could not be read: its page may be out; whoever asks sets it to 0 */
	struct mem_note notes[MEM_NOTES];
};

/* mem_begin() first, for each walk. */
struct mem {
	struct mem_kept *kept;
};

static __always_inline void mem_begin(const struct mem *mem)
{
	for (u32 way = 0; way < MEM_WAYS; way++) {
		mem->kept->stretches[way].addr = 0;
		mem->kept->stretches[way].length = 0;
	}
}

/* Notes of `owner`, a number that is nobody else's, count as long as its epoch stands; 0: those of this walk. */
static __always_inline void mem_begin_notes(const struct mem *mem, u64 owner, u64 epoch)
{
	struct mem_kept *kept = mem->kept;

	kept->walks++;
	kept->owner = owner;
	kept->epoch = epoch ? epoch : kept->walks | 1ull << 63;
}

static __always_inline bool mem_read(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	if (bpf_probe_read_user(dst, len, (const void *)addr) == 0)
		return true;
	mem->kept->missed = addr;
	return false;
}

/* Within the page of `addr`: the next one may not be there. */
static __always_inline u64 mem_stretch_begin(enum mem_way way, u64 addr, u32 len)
{
	u64 page = addr & ~(u64)(MEM_PAGE_BYTES - 1);
	u64 last = page + MEM_PAGE_BYTES - MEM_STRETCH_BYTES;
	u64 down = addr + len - MEM_STRETCH_BYTES, beside = addr - MEM_BESIDE_BYTES;

	if (way == MEM_DOWN)
		return down > page ? down : page;
	if (way == MEM_BESIDE)
		addr = beside > page ? beside : page;
	return addr < last ? addr : last;
}

/* By words, wherever they begin: of a copy that may begin anywhere the compiler makes a load and a shift for each byte, and
 * x86-64 needs none of it.  `len` is a number. */
static __always_inline void mem_copy(u8 *dst, const u8 *src, u32 len)
{
	typedef u64 __attribute__((may_alias)) eight;
	typedef u32 __attribute__((may_alias)) four;
	u32 done = 0;

#pragma unroll
	for (; done + 8 <= len; done += 8) {
		u64 word = *(const eight *)(src + done);
		__builtin_memcpy(dst + done, &word, 8);
	}
	if (done + 4 <= len) {
		u32 word = *(const four *)(src + done);
		__builtin_memcpy(dst + done, &word, 4);
		done += 4;
	}
#pragma unroll
	for (; done < len; done++)
		dst[done] = src[done];
}

/* Is it close to where the stretch is? */
static __always_inline bool mem_is_near(const struct mem_stretch *stretch, u64 addr)
{
	return addr - (stretch->addr - MEM_STRETCH_BYTES) < stretch->length + 2 * MEM_STRETCH_BYTES;
}

/* What lies at `addr` is in the stretch from now on, unless it is on two pages; 0: it cannot be read.  A global function: the
 * verifier looks at it once, and not at each read. */
__attribute__((noinline)) int mem_refill(struct mem_kept *kept, u32 way, u64 addr, u32 len)
{
	if (!kept || way >= MEM_WAYS)
		return 0;
	struct mem mem = { kept };
	struct mem_stretch *stretch = &kept->stretches[way];
	u64 begin = mem_stretch_begin(way, addr, len);
	u64 page = addr & ~(u64)(MEM_PAGE_BYTES - 1);
	if (addr - begin > MEM_STRETCH_BYTES - len)
		return 1;
	stretch->row = mem_is_near(stretch, addr) ? stretch->row + 1 : 0;
	bool is_whole = stretch->row >= MEM_STRETCHES_IN_ROW;
	bool good = is_whole ? mem_read(&mem, page, stretch->bytes, MEM_PAGE_BYTES) :
			       mem_read(&mem, begin, stretch->bytes, MEM_STRETCH_BYTES);
	stretch->addr = is_whole ? page : begin;
	stretch->length = !good ? 0 : is_whole ? MEM_PAGE_BYTES : MEM_STRETCH_BYTES;
	return good;
}

/* Does the stretch hold these bytes? Says it twice: the verifier knows a number only. */
static __always_inline bool mem_holds(const struct mem_stretch *stretch, u64 at, u32 len)
{
	return at <= MEM_PAGE_BYTES - len && at + len <= stretch->length;
}

/* `len` is a number, and MEM_STRETCH_BYTES at most. */
static __always_inline bool mem_read_along(const struct mem *mem, enum mem_way way, u64 addr,
					   void *dst, u32 len)
{
	struct mem_stretch *stretch = &mem->kept->stretches[way];
	u64 at = addr - stretch->addr;

	if (!mem_holds(stretch, at, len)) {
		if (!mem_refill(mem->kept, way, addr, len))
			return false;
		at = addr - stretch->addr;
		if (!mem_holds(stretch, at, len))
			return mem_read(mem, addr, dst, len);
	}
	mem_copy(dst, stretch->bytes + at, len);
	return true;
}

/* Of objects that may lie near each other, or anywhere. */
static __always_inline bool mem_read_near(const struct mem *mem, enum mem_way way, u64 addr,
					  void *dst, u32 len)
{
	struct mem_stretch *stretch = &mem->kept->stretches[way];

	if (mem_is_near(stretch, addr))
		return mem_read_along(mem, way, addr, dst, len);
	stretch->addr = addr;
	stretch->length = stretch->row = 0;
	return mem_read(mem, addr, dst, len);
}

static __always_inline bool mem_peek(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem_read(mem, addr, dst, len);
}

static __always_inline bool mem_place(const struct mem *mem, u64 addr, u64 *dst)
{
	return mem_peek(mem, addr, dst, sizeof *dst);
}

static __always_inline bool mem_peek_beside(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem_read_along(mem, MEM_BESIDE, addr, dst, len);
}

static __always_inline bool mem_peek_last(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem_read(mem, addr, dst, len);
}

static __always_inline bool mem_constant(const struct mem *mem, u64 addr, void *dst, u32 len)
{
	return mem_read(mem, addr, dst, len);
}

static __always_inline struct mem_note *mem_note_of(const struct mem *mem, u64 addr)
{
	return &mem->kept->notes[spread_slot(addr, MEM_NOTES)];
}

static __always_inline bool mem_recall(const struct mem *mem, u64 addr, u64 *value)
{
	const struct mem_note *note = mem_note_of(mem, addr);

	if (note->addr != addr || note->owner != mem->kept->owner ||
	    note->epoch != mem->kept->epoch)
		return false;
	*value = note->value;
	return true;
}

static __always_inline void mem_note(const struct mem *mem, u64 addr, u64 value)
{
	struct mem_note *note = mem_note_of(mem, addr);

	note->addr = addr;
	note->value = value;
	note->owner = mem->kept->owner;
	note->epoch = mem->kept->epoch;
}
