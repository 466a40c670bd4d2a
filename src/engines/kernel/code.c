/* SPDX-License-Identifier: Apache-2.0
 * code.c - see code.h. */
#include "engines/kernel/code.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool kernel_code_init(struct kernel_code *code, int processes_fd, int tables_fd, u32 room,
		      struct err *err)
{
	*code = (struct kernel_code){ .processes_fd = processes_fd, .room = room };
	void *words = mmap(NULL, (size_t)room * 4, PROT_READ | PROT_WRITE, MAP_SHARED, tables_fd,
			   0);
	if (words == MAP_FAILED)
		return err_sys(err, errno, "mapping the unwind tables, %u KiB", room / 256);
	code->words = words;
	return true;
}

void kernel_code_fini(struct kernel_code *code)
{
	if (code->words)
		munmap(code->words, (size_t)code->room * 4);
	unwind_files_free(&code->files);
	vec_free(&code->placed);
}

static const struct kernel_placed *placed_file(const struct kernel_code *code,
					       const struct unwind_file *file)
{
	for (u32 i = 0; i < code->placed.count; i++)
		if (code->placed.at[i].file == file)
			return &code->placed.at[i];
	return NULL;
}

/* False: it has none, or there is no room for it. */
static bool place_table(struct kernel_code *code, const struct unwind_file *file, u32 *at)
{
	const struct kernel_placed *placed = placed_file(code, file);

	if (placed) {
		*at = placed->at;
		return true;
	}
	if (!file->table.words)
		return false;
	if (file->table.count > code->room - code->used) {
		code->full = true;
		return false;
	}
	if (!vec_push(&code->placed, (struct kernel_placed){ file, code->used }))
		return false;
	*at = code->used;
	memcpy(code->words + code->used, file->table.words, (size_t)file->table.count * 4);
	code->used += file->table.count;
	return true;
}

bool kernel_code_add(struct kernel_code *code, struct target *target, struct err *err)
{
	struct kernel_process *process = calloc(1, sizeof *process);
	struct unwind_space space;

	if (!process)
		return err_no_memory(err);
	unwind_space_init(&space, target, &code->files);
	bool good = unwind_space_fill(&space) || err_no_memory(err);
	code->full |= space.ranges.count > KERNEL_RANGES_MAX;
	for (u32 i = 0; good && i < space.ranges.count && i < KERNEL_RANGES_MAX; i++) {
		const struct unwind_range *range = &space.ranges.at[i];
		struct kernel_range *out = &process->ranges[process->count++];
		*out = (struct kernel_range){ .start = range->start,
					      .end = range->end,
					      .bias = range->bias,
					      .kind = KERNEL_RANGE_NO_TABLE };
		if (range->file && place_table(code, range->file, &out->table))
			out->kind = KERNEL_RANGE_TABLE;
	}
	if (good && bpf_map_update_elem(code->processes_fd, &target->pid, process, BPF_ANY) != 0)
		good = err_sys(err, errno, "process %u: telling the kernel what it maps",
			       target->pid);
	unwind_space_free(&space);
	free(process);
	return good;
}

void kernel_code_remove(struct kernel_code *code, u32 pid)
{
	bpf_map_delete_elem(code->processes_fd, &pid);
}
