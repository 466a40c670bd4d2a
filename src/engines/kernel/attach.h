/* SPDX-License-Identifier: Apache-2.0
 * attach.h - where the BPF programs are attached: the scheduler's switches, and the events that are asked for. */
#pragma once
#include "engines/kernel/program.h"

/* In records and maps: 0 is the clock. */
static inline u32 kernel_event_number(u32 index)
{
	return index + 1;
}

/* Of all programs of the object those are loaded that are used. */
void kernel_attach_choose(struct bpf_object *object, const struct kernel_program_options *options);
bool kernel_attach_switches(struct kernel_program *program, struct err *err);
bool kernel_attach_events(struct kernel_program *program, struct err *err);

/* What was refused, and to whom. */
bool kernel_refused(struct err *err, int why, const char *what);
/* NULL: errno says why there is none. */
bool kernel_keep_link(struct kernel_program *program, struct bpf_link *link, const char *what,
		      struct err *err);
