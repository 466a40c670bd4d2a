/* SPDX-License-Identifier: Apache-2.0
 * machine.h - a VM as the kernel's walkers need it: how a native thread leads to its thread of the VM, and which C function
 * runs managed frames.
 *
 * Both are found in the running process, in stripped ones too: the words of known threads are looked for around their
 * thread pointers, and the loop by what the runtime knows of it. */
#pragma once
#include "engines/kernel/shared.h"
#include "runtimes/attached.h"
#include "unwind/space.h"

enum { MACHINE_LOOPS_MAX = 4 };

struct machine_loop {
	u64 begin, end;
};

struct machine {
	const struct attached *attached;
	s32 own_word; /* from the thread pointer */
	u32 loop_count;
	struct machine_loop loops[MACHINE_LOOPS_MAX];
};

/* False: no thread of it is known to have a word of its own (yet), and err says so. */
bool machine_find(struct machine *machine, const struct attached *attached,
		  struct unwind_space *space, struct err *err);
bool machine_is_loop(const struct machine *machine, u64 place);
void machine_tell(const struct machine *machine, struct kernel_machine *out);
