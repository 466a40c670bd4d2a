/* SPDX-License-Identifier: Apache-2.0
 * code.c - see code.h. */
#include "engines/kernel/code.h"

#include "base/clock.h"
#include "elf/image.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool kernel_code_init(struct kernel_code *code, int tables_fd, u32 room, struct err *err)
{
	code->room = room;
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
	vec_free(&code->placed);
	vec_free(&code->leaving);
}

static const struct kernel_placed *placed_file(const struct kernel_code *code,
					       const struct unwind_file *file)
{
	for (u32 i = 0; i < code->placed.count; i++)
		if (code->placed.at[i].file == file)
			return &code->placed.at[i];
	return NULL;
}

static enum kernel_range_kind place_table(struct kernel_code *code, const struct unwind_file *file,
					  u32 *at)
{
	if (!file || !file->table.words)
		return KERNEL_RANGE_NO_TABLE;
	const struct kernel_placed *placed = placed_file(code, file);
	if (placed) {
		*at = placed->at;
		return KERNEL_RANGE_TABLE;
	}
	if (file->table.count > code->room - code->used ||
	    !vec_push(&code->placed, (struct kernel_placed){ file, code->used })) {
		code->full = true;
		return KERNEL_RANGE_LEFT;
	}
	*at = code->used;
	memcpy(code->words + code->used, file->table.words, (size_t)file->table.count * 4);
	code->used += file->table.count;
	return KERNEL_RANGE_TABLE;
}

/* ---- what leaves --------------------------------------------------------------------------- */

/* A walk that is under way may still look at it, and the next one to be added would get its memory: walks take microseconds,
 * but a virtual machine's CPU may be away in the middle of one. */
static const u64 LINGER_NS = NS_PER_S;

static void drop_left(struct kernel_code *code, u64 before_ns)
{
	u32 gone = 0;

	for (; gone < code->leaving.count && code->leaving.at[gone].since_ns < before_ns; gone++)
		bpf_map_delete_elem(code->leaving.at[gone].map_fd, &code->leaving.at[gone].number);
	if (!gone)
		return;
	code->leaving.count -= gone;
	memmove(code->leaving.at, code->leaving.at + gone,
		code->leaving.count * sizeof *code->leaving.at);
}

static void leave(struct kernel_code *code, int map_fd, u32 number)
{
	struct kernel_leaving leaving = { clock_now_ns(), map_fd, number };

	if (!vec_push(&code->leaving, leaving))
		bpf_map_delete_elem(map_fd, &number);
}

/* Under a number that nothing has had. */
static bool put(struct kernel_code *code, int map_fd, u32 number, const void *value)
{
	drop_left(code, clock_now_ns() - LINGER_NS);
	if (bpf_map_update_elem(map_fd, &number, value, BPF_ANY) == 0)
		return true;
	drop_left(code, UINT64_MAX); /* it is full */
	return bpf_map_update_elem(map_fd, &number, value, BPF_ANY) == 0;
}

/* ---- spaces, VMs, processes ---------------------------------------------------------------- */

/* By which the kernel sees that other code has come; 0: by nothing. */
static u16 add_mark(const struct unwind_range *range, struct kernel_space *told, u32 *count)
{
	struct kernel_mark mark = { 0 };
	u8 id[BUILD_ID_MAX];
	u64 address;

	if (*count == KERNEL_MARKS_MAX || !range->file ||
	    image_loaded_build_id(range->file->image, id, &address) < sizeof mark.word)
		return 0;
	mark.address = range->bias + address;
	memcpy(&mark.word, id, sizeof mark.word);
	told->marks[(*count)++] = mark;
	return (u16)*count;
}

static void fill(struct kernel_code *code, const struct unwind_space *space,
		 const struct replaced *replaced, struct kernel_space *told)
{
	u32 marks = 0;

	code->full |= space->ranges.count > KERNEL_RANGES_MAX;
	for (u32 i = 0; i < space->ranges.count && i < KERNEL_RANGES_MAX; i++) {
		const struct unwind_range *range = &space->ranges.at[i];
		struct kernel_range *out = &told->ranges[told->count++];
		*out = (struct kernel_range){ .start = range->start,
					      .end = range->end,
					      .bias = range->bias };
		out->kind = (u16)place_table(code, range->file, &out->table);
		if (!replaced_ever(replaced, range->start, range->end))
			continue;
		out->mark = add_mark(range, told, &marks);
		if (!out->mark && out->kind == KERNEL_RANGE_TABLE)
			out->kind = KERNEL_RANGE_LEFT;
	}
}

bool kernel_code_add(struct kernel_code *code, struct unwind_space *space,
		     const struct replaced *replaced, u32 *number, struct err *err)
{
	struct kernel_space *told = calloc(1, sizeof *told);

	if (!told || (!space->is_filled && !unwind_space_fill(space))) {
		free(told);
		return err_no_memory(err);
	}
	fill(code, space, replaced, told);
	*number = ++code->space_count;
	bool good = put(code, code->spaces_fd, *number, told) ||
		    err_sys(err, errno, "telling the kernel what process %u maps",
			    space->target->pid);
	free(told);
	return good;
}

void kernel_code_remove(struct kernel_code *code, u32 number)
{
	leave(code, code->spaces_fd, number);
}

bool kernel_code_add_machine(struct kernel_code *code, const struct kernel_machine *machine,
			     u32 *number, struct err *err)
{
	*number = ++code->machine_count;
	return put(code, code->machines_fd, *number, machine) ||
	       err_sys(err, errno, "telling the kernel of a VM");
}

void kernel_code_remove_machine(struct kernel_code *code, u32 number)
{
	leave(code, code->machines_fd, number);
}

void kernel_code_add_rider(struct kernel_code *code, u32 machine, u32 tid, u64 thread)
{
	u64 key = (u64)machine << 32 | tid;

	bpf_map_update_elem(code->riders_fd, &key, &thread, BPF_ANY);
}

bool kernel_code_watch(struct kernel_code *code, u32 pid, const struct kernel_process *process,
		       bool is_new, struct err *err)
{
	if (bpf_map_update_elem(code->processes_fd, &pid, process, is_new ? BPF_ANY : BPF_EXIST) ==
	    0)
		return true;
	if (errno == ENOENT)
		return err_set(err, ERR_NO_PROCESS, "process %u has ended", pid);
	return err_sys(err, errno, "telling the kernel of process %u", pid);
}

void kernel_code_unwatch(struct kernel_code *code, u32 pid)
{
	bpf_map_delete_elem(code->processes_fd, &pid);
}

u32 kernel_code_words(const struct unwind_space *space)
{
	u32 words = 0;

	for (u32 i = 0; i < space->ranges.count; i++) {
		const struct unwind_file *file = space->ranges.at[i].file;
		bool is_first = file != NULL;
		for (u32 j = 0; is_first && j < i; j++)
			is_first = space->ranges.at[j].file != file;
		words += is_first ? file->table.count : 0;
	}
	return words;
}
