/* SPDX-License-Identifier: Apache-2.0
 * code.h - what the BPF programs know of code: the words of all tables, and for each process what lies where.
 *
 * A file's table is written once, behind those that are there; nothing is taken out while the programs run. */
#pragma once
#include "base/vec.h"
#include "engines/kernel/shared.h"
#include "unwind/space.h"

/* Where a file's table stands in the words. */
struct kernel_placed {
	const struct unwind_file *file;
	u32 at;
};

struct kernel_code {
	int processes_fd;
	u32 *words; /* the map of tables, mapped */
	u32 room, used;
	bool full; /* a table or a range was left out */
	struct unwind_files files;
	VEC(struct kernel_placed) placed;
};

/* Maps `room` words of the map of tables. Borrows both descriptors. */
bool kernel_code_init(struct kernel_code *code, int processes_fd, int tables_fd, u32 room,
		      struct err *err);
void kernel_code_fini(struct kernel_code *code);
/* All code that the target maps now; what was known of its pid is replaced. */
bool kernel_code_add(struct kernel_code *code, struct target *target, struct err *err);
void kernel_code_remove(struct kernel_code *code, u32 pid);
