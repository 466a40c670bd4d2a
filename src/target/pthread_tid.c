/* SPDX-License-Identifier: Apache-2.0
 * pthread_tid.c - see pthread_tid.h.
 *
 * The right offset holds the pid in the main thread, and in each other the tid of another thread.  Where a VM was started
 * by another thread than the main one, and that one is none of its own, only the usual offsets are believed. */
#include "target/pthread_tid.h"

#include <stdlib.h>

#include "base/cleanup.h"

enum { PTHREAD_BYTES = 2304 }; /* sizeof(struct pthread) in glibc 2.36, x86-64 */

/* glibc on x86-64 and aarch64, musl on x86-64.  These first: the first process of a container has pid 1,
 * and that is a common number. */
static const u16 usual[] = { 720, 208, 48 };

static bool is_inner_tid(const target_threads *threads, u32 tid)
{
	for (u32 i = 0; i < threads->count; i++)
		if (threads->at[i].inner_tid == tid)
			return true;
	return false;
}

struct finding {
	const struct target *target;
	const struct mem *mem;
	const u64 *natives;
	u32 count;
	target_threads kernel;
	u32 *tids; /* room for `count` */
};

/* Does `offset` in each thread's struct pthread hold the tid of a thread of the process, each its own, and the
 * main thread's in `main_native`?  (A host of several interpreters has a thread of each on one native thread.) */
static bool holds_tids(struct finding *f, u64 main_native, u32 offset)
{
	for (u32 i = 0; i < f->count; i++) {
		u64 native = f->natives[i];
		f->tids[i] = 0;
		/* 0: ended, or between two native threads. */
		if (!native || !mem_peek(f->mem, native + offset, &f->tids[i], 4) || !f->tids[i])
			continue;
		if (!is_inner_tid(&f->kernel, f->tids[i]) ||
		    (native == main_native) != (f->tids[i] == f->target->inner_pid))
			return false;
		for (u32 k = 0; k < i; k++)
			if (f->tids[k] == f->tids[i] && f->natives[k] != native)
				return false;
	}
	return true;
}

static bool is_offset(struct finding *f, u64 main_native, u32 offset)
{
	u32 tid;

	return mem_peek(f->mem, main_native + offset, &tid, 4) && tid == f->target->inner_pid &&
	       holds_tids(f, main_native, offset);
}

static u16 find(struct finding *f, u64 main_native)
{
	if (main_native < 4096 || main_native & 7)
		return 0;
	for (u32 i = 0; i < COUNT_OF(usual); i++)
		if (is_offset(f, main_native, usual[i]))
			return usual[i];
	for (u32 offset = 4; offset < PTHREAD_BYTES; offset += 4)
		if (is_offset(f, main_native, offset))
			return (u16)offset;
	return 0;
}

/* The main thread is none of these: a usual offset that holds a tid in each of them. */
static u16 find_without_main(struct finding *f)
{
	for (u32 i = 0; i < COUNT_OF(usual); i++) {
		u32 said = 0, asked = 0;
		if (!holds_tids(f, 0, usual[i]))
			continue;
		for (u32 k = 0; k < f->count; k++) {
			asked += f->natives[k] != 0;
			said += f->tids[k] != 0;
		}
		if (asked && said == asked)
			return usual[i];
	}
	return 0;
}

u16 target_find_pthread_tid(const struct target *target, const struct mem *mem, const u64 *natives,
			    u32 count, u64 main_native)
{
	struct finding f = { target, mem, natives, count, { 0 }, NULL };
	AUTO_FREE u32 *tids = calloc(count + 1, sizeof *tids);
	u16 offset = 0;

	f.tids = tids;
	if (tids && target_read_threads(target, &f.kernel, NULL)) {
		if (main_native)
			offset = find(&f, main_native);
		for (u32 i = 0; i < count && !main_native && !offset; i++)
			offset = find(&f, natives[i]);
		if (!offset)
			offset = find_without_main(&f);
	}
	vec_free(&f.kernel);
	return offset;
}
