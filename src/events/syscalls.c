/* SPDX-License-Identifier: Apache-2.0
 * syscalls.c - system calls by name, as the C library's headers have them when sonde is built. */
#include "events/sources.h"

#include <fnmatch.h>

static const struct {
	u32 number;
	const char *name;
} calls[] = {
#define S(number, name) { number, name },
#include "events/syscall_names.h"
#undef S
};

static bool add(struct event_list *list, const struct event_source *source, const char *pattern,
		const struct target *target, struct err *err)
{
	(void)target;
	for (u32 i = 0; i < COUNT_OF(calls); i++)
		if (!fnmatch(pattern, calls[i].name, 0) &&
		    events_put(list, source, calls[i].name, calls[i].number) == UINT32_MAX)
			return err_no_memory(err);
	return true;
}

const struct event_source syscall_source = {
	.prefix = "syscall",
	.kind = EVENT_SYSCALL,
	.add = add,
};

const struct event_source syscall_exit_source = {
	.prefix = "syscall-exit",
	.kind = EVENT_SYSCALL_EXIT,
	.add = add,
};
