/* SPDX-License-Identifier: Apache-2.0
 * code.h - what the kernel's unwinder knows of processes: where their code lies, and its tables.
 *
 * The maps are borrowed; the tables' words are mapped and filled in without a system call.  A file's table is copied once, for
 * all processes that map it; a space is handed to all forks of a process. */
#pragma once
#include "engines/kernel/replaced.h"
#include "engines/kernel/shared.h"
#include "unwind/space.h"

/* A file whose table is in the words. */
struct kernel_placed {
	const struct unwind_file *file;
	u32 at;
};

/* What is of no use any more, in a map of the kernel's. */
struct kernel_leaving {
	u64 since_ns;
	int map_fd;
	u32 number;
};

struct kernel_code {
	int processes_fd, spaces_fd, machines_fd, riders_fd;
	u32 *words; /* the map of tables, mapped */
	u32 room, used;
	u32 space_count, machine_count; /* that were made */
	bool full;                      /* a table or a range was left out */
	VEC(struct kernel_placed) placed;
	VEC(struct kernel_leaving) leaving; /* the longest first */
};

/* The descriptors are set. `room`: how many words the map of tables has. */
bool kernel_code_init(struct kernel_code *code, int tables_fd, u32 room, struct err *err);
void kernel_code_fini(struct kernel_code *code);
/* Tells the kernel what a space holds; `number` names it from then on. `replaced`: where its code may be replaced again. */
bool kernel_code_add(struct kernel_code *code, struct unwind_space *space,
		     const struct replaced *replaced, u32 *number, struct err *err);
void kernel_code_remove(struct kernel_code *code, u32 number);
/* The same of a VM. */
bool kernel_code_add_machine(struct kernel_code *code, const struct kernel_machine *machine,
			     u32 *number, struct err *err);
void kernel_code_remove_machine(struct kernel_code *code, u32 number);
/* A thread's thread of a VM, which is told by its number. */
void kernel_code_add_rider(struct kernel_code *code, u32 machine, u32 tid, u64 thread);
/* A process is watched, and this is known of it. Unless `is_new`, the kernel knows it: when it does not any more, the process
 * has ended (ERR_NO_PROCESS), and stays forgotten. */
bool kernel_code_watch(struct kernel_code *code, u32 pid, const struct kernel_process *process,
		       bool is_new, struct err *err);
/* It has ended, and the kernel may not have noticed. */
void kernel_code_unwatch(struct kernel_code *code, u32 pid);
/* How many words the tables of a space take. */
u32 kernel_code_words(const struct unwind_space *space);
