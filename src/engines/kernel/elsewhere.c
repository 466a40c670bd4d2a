/* SPDX-License-Identifier: Apache-2.0
 * elsewhere.c - where a frame's name can be read when its process does not have it any more; see run.h.
 *
 * Code that died young was kept; and what a forked child ran, its parent has at the same address, unless one of them has
 * collected since: counts that agree again would be of two histories. */
#include "engines/kernel/run.h"

/* Of a process that was forked by one that was forked. */
enum { ANCESTORS_MAX = 4 };

/* Nothing has been collected yet, or frames tell by themselves what is at their address. */
enum { FIRST_GENERATION = 1 };

static const struct watched *parent_of(const struct run *run, const struct watched *child)
{
	const struct watched *parent = child->forked_from ? run_find(run, child->parent) : NULL;

	return parent && parent->incarnation == child->forked_from ? parent : NULL;
}

/* Was the child in the sample's generation from its fork on? */
static bool had_generations(const struct watched *child, const struct kernel_vm *vms)
{
	for (u32 i = 0; i < KERNEL_VMS; i++)
		if (vms[i].thread && vms[i].generation != FIRST_GENERATION &&
		    vms[i].generation != child->vms[i].forked_generation)
			return false;
	return true;
}

/* And is the process that it was forked by still in it? `process` knows where the VM says so. */
static bool has_generations(const struct watched *process, const struct kernel_vm *vms,
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
	const struct mem *live = &process->target->mem.mem;
	const struct watched *at = process;
	bool is_copy = vms != NULL;

	for (u32 i = 0; at && i <= ANCESTORS_MAX; i++) {
		const struct mem *mem = kept_names_find(run->kept_names, at->incarnation, frame,
							live);
		if (mem && number-- == 0)
			return mem;
		const struct watched *parent = parent_of(run, at);
		is_copy = is_copy && parent && had_generations(at, vms);
		mem = is_copy ? &parent->target->mem.mem : NULL;
		if (mem && has_generations(process, vms, mem) && number-- == 0)
			return mem;
		at = parent;
	}
	return NULL;
}
