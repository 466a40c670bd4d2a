/* SPDX-License-Identifier: Apache-2.0
 * bring_in.c - pages that an interrupt could not read.
 *
 * In an interrupt nothing can be fetched: a page that is swapped out, or was never touched, ends the walk.  One that the program
 * itself does not need (the outermost frames of a deep stack, what only leads to its thread) stays out, and each sample
 * would end there.  So its page is read from here, as any reader from outside does, which brings it in for the next sample. */
#include "engines/kernel/run.h"

#include "base/clock.h"
#include "mem/live.h"

enum {
	PAGE_BYTES = 4096,
	PAGES = 8, /* towards the root of a stack */
	AGAIN_MS = 10,
};

static void bring_in(const struct watched *process, u64 page)
{
	struct mem_span spans[PAGES];
	u8 bytes[PAGES];

	for (u32 i = 0; i < PAGES; i++)
		spans[i] = (struct mem_span){ page + i * PAGE_BYTES, &bytes[i], 1 };
	mem_live_readv(&process->target->mem, spans, PAGES);
}

void run_bring_in(struct watched *process, const struct kernel_head *head)
{
	for (u32 i = 0; i < COUNT_OF(head->missed) && !process->has_ended; i++) {
		u64 page = head->missed[i] & ~(u64)(PAGE_BYTES - 1);
		/* what cannot be brought in is missed again at once */
		bool is_again = page == process->missed[i].page &&
				head->time_ns <
					process->missed[i].brought_ns + AGAIN_MS * NS_PER_MS;
		if (!page || is_again)
			continue;
		process->missed[i].page = page;
		process->missed[i].brought_ns = head->time_ns;
		bring_in(process, page);
	}
}
