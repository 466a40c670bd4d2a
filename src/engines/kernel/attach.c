/* SPDX-License-Identifier: Apache-2.0
 * attach.c - see attach.h.
 *
 *	on_enter, on_leave   all system calls; which of them are events is in `calls`
 *	on_tracepoint        attached to each, with the event's number as its cookie
 *	on_probe             the same, to each place of a file */
#include "engines/kernel/attach.h"

#include "events/events.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The program of each kind of event. */
static const char *const programs[] = {
	[EVENT_SYSCALL] = "on_enter",
	[EVENT_SYSCALL_EXIT] = "on_leave",
	[EVENT_TRACEPOINT] = "on_tracepoint",
	[EVENT_UPROBE] = "on_probe",
	[EVENT_USDT] = "on_probe",
};

static bool has_kind(const struct event_list *events, enum event_kind kind)
{
	for (u32 i = 0; i < events->all.count; i++)
		if (events->all.at[i].kind == kind)
			return true;
	return false;
}

/* Both ends of a system call are seen: how long it took is known of all. */
static bool has_calls(const struct event_list *events)
{
	return has_kind(events, EVENT_SYSCALL) || has_kind(events, EVENT_SYSCALL_EXIT);
}

static struct bpf_program *program_of(const struct bpf_object *object, enum event_kind kind)
{
	return bpf_object__find_program_by_name(object, programs[kind]);
}

void kernel_attach_choose(struct bpf_object *object, const struct event_list *events)
{
	bpf_program__set_autoload(bpf_object__find_program_by_name(object, "on_clock"), !events);
	for (u32 kind = 0; kind < COUNT_OF(programs); kind++)
		bpf_program__set_autoload(program_of(object, kind), false);
	for (u32 i = 0; events && i < events->all.count; i++)
		bpf_program__set_autoload(program_of(object, events->all.at[i].kind), true);
	for (u32 kind = EVENT_SYSCALL; events && kind <= EVENT_SYSCALL_EXIT; kind++)
		bpf_program__set_autoload(program_of(object, kind), has_calls(events));
}

/* ---- system calls -------------------------------------------------------------------------- */

static bool tell_calls(const struct kernel_program *program, struct err *err)
{
	int fd = bpf_object__find_map_fd_by_name(program->object, "calls");

	for (u32 i = 0; i < program->events->all.count; i++) {
		const struct event *event = &program->events->all.at[i];
		struct kernel_call call;
		if (event->kind > EVENT_SYSCALL_EXIT)
			continue;
		if (event->syscall >= KERNEL_CALLS_MAX)
			return err_set(err, ERR_UNSUPPORTED, "%s: its number is %u, of %u at most",
				       event->name, event->syscall, KERNEL_CALLS_MAX);
		if (bpf_map_lookup_elem(fd, &event->syscall, &call) != 0)
			return kernel_refused(err, errno, "asking for a system call");
		if (event->kind == EVENT_SYSCALL)
			call.enter = (u16)kernel_event_number(i);
		else
			call.leave = (u16)kernel_event_number(i);
		if (bpf_map_update_elem(fd, &event->syscall, &call, BPF_ANY) != 0)
			return kernel_refused(err, errno, "asking for a system call");
	}
	return true;
}

static bool attach_calls(struct kernel_program *program, struct err *err)
{
	if (!tell_calls(program, err))
		return false;
	for (u32 kind = EVENT_SYSCALL; kind <= EVENT_SYSCALL_EXIT; kind++) {
		struct bpf_link *link = bpf_program__attach(program_of(program->object, kind));
		if (!kernel_keep_link(program, link, "attaching to system calls", err))
			return false;
	}
	return true;
}

/* ---- tracepoints and probes ---------------------------------------------------------------- */

/* "tracepoint:CATEGORY:NAME" */
static bool attach_tracepoint(struct kernel_program *program, u32 index, struct err *err)
{
	LIBBPF_OPTS(bpf_tracepoint_opts, options, .bpf_cookie = kernel_event_number(index));
	const char *full = program->events->all.at[index].name;
	const char *category = strchr(full, ':') + 1, *name = strchr(category, ':') + 1;
	char front[EVENT_NAME_MAX];

	snprintf(front, sizeof front, "%.*s", (int)(name - 1 - category), category);
	struct bpf_link *link = bpf_program__attach_tracepoint_opts(
		program_of(program->object, EVENT_TRACEPOINT), front, name, &options);
	return kernel_keep_link(program, link, full, err);
}

/* The file by its descriptor: no path can lead elsewhere. */
static bool attach_site(struct kernel_program *program, const struct event_site *site,
			struct err *err)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = site->semaphore,
		    .bpf_cookie = kernel_event_number(site->event));
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", site->file);
	struct bpf_link *link = bpf_program__attach_uprobe_opts(
		program_of(program->object, EVENT_UPROBE), program->probed_pid, path, site->offset,
		&options);
	return kernel_keep_link(program, link, program->events->all.at[site->event].name, err);
}

bool kernel_attach_events(struct kernel_program *program, struct err *err)
{
	const struct event_list *events = program->events;

	if (events->all.count >= KERNEL_EVENTS_MAX)
		return err_set(err, ERR_USAGE, "%u events are asked for, and %d is the most",
			       events->all.count, KERNEL_EVENTS_MAX - 1);
	if (has_calls(events) && !attach_calls(program, err))
		return false;
	for (u32 i = 0; i < events->all.count; i++)
		if (events->all.at[i].kind == EVENT_TRACEPOINT &&
		    !attach_tracepoint(program, i, err))
			return false;
	for (u32 i = 0; i < events->sites.count; i++)
		if (!attach_site(program, &events->sites.at[i], err))
			return false;
	return true;
}
