/* SPDX-License-Identifier: Apache-2.0
 * elsewhere.c - where a frame's name can be read when its process does not have it any more; see run.h.
 *
 * Code that died young was kept; and what a forked child ran, its parent has at the same address. */
#include "engines/kernel/run.h"

enum { ANCESTORS_MAX = 4 };

static struct watched *ancestor_of(const struct run *run, const struct watched *process, u32 number)
{
	struct watched *at = NULL;

	for (u32 i = 0; i <= number; i++) {
		const struct watched *child = at ? at : process;
		at = child->forked_from ? run_find(run, child->parent) : NULL;
		if (!at || at->incarnation != child->forked_from)
			return NULL;
	}
	return at;
}

/* Has nothing been moved or reused there, either? Then an address means what it meant in the sample. */
static bool is_as_sampled(const struct watched *process, const struct kernel_vm *vms,
			  const struct mem *mem)
{
	for (u32 i = 0; i < KERNEL_VMS; i++) {
		const struct attached *attached = process->vms[i].machine.attached;
		if (process->vms[i].number && vms[i].thread && attached &&
		    attached_generation(attached, mem, vms[i].thread) != vms[i].generation)
			return false;
	}
	return true;
}

const struct mem *run_elsewhere(const struct run *run, const struct watched *process,
				const struct kernel_vm *vms, const struct frame *frame, u32 number)
{
	const struct mem *live = &process->target->mem.mem, *mem;

	/* of the process and of its ancestors, first what was kept, then what they have */
	for (u32 i = 0; i < 2 * ANCESTORS_MAX; i++) {
		const struct watched *at = i < 2 ? process : ancestor_of(run, process, i / 2 - 1);
		if (!at)
			return NULL;
		if (i % 2 == 0)
			mem = kept_names_find(run->kept_names, at->incarnation, frame, live);
		else
			mem = i > 1 && vms && is_as_sampled(process, vms, &at->target->mem.mem) ?
				      &at->target->mem.mem :
				      NULL;
		if (mem && number-- == 0)
			return mem;
	}
	return NULL;
}
