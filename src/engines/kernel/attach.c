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
#include <unistd.h>

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

static void choose(struct bpf_object *object, const char *name, bool wanted)
{
	bpf_program__set_autoload(bpf_object__find_program_by_name(object, name), wanted);
}

void kernel_attach_choose(struct bpf_object *object, const struct kernel_program_options *options)
{
	const struct event_list *events = options->events;

	choose(object, "ask_level", false);
	choose(object, "on_clock", options->with_clock);
	choose(object, "on_switch", options->with_switches);
	choose(object, "on_wake", options->with_switches);
	choose(object, "on_each", options->with_switches);
	choose(object, "on_passed", options->with_switches);
	for (u32 kind = 0; kind < COUNT_OF(programs); kind++)
		choose(object, programs[kind], false);
	for (u32 i = 0; events && i < events->all.count; i++)
		choose(object, programs[events->all.at[i].kind], true);
	for (u32 kind = EVENT_SYSCALL; events && kind <= EVENT_SYSCALL_EXIT; kind++)
		choose(object, programs[kind], has_calls(events));
}

bool kernel_attach_switches(struct kernel_program *program, struct err *err)
{
	static const char *const names[] = { "on_wake", "on_switch" };

	for (u32 i = 0; i < COUNT_OF(names); i++) {
		struct bpf_program *one = bpf_object__find_program_by_name(program->object,
									   names[i]);
		if (bpf_program__autoload(one) &&
		    !kernel_keep_link(program, bpf_program__attach(one),
				      "attaching to the scheduler", err))
			return false;
	}
	return true;
}

/* The rows that the iterator writes, in whatever pieces. */
static bool read_sleepers(int fd, kernel_sleeper_fn *fn, void *arg)
{
	struct kernel_sleeper row;
	size_t have = 0;
	ssize_t got;

	while ((got = read(fd, (u8 *)&row + have, sizeof row - have)) > 0 ||
	       (got < 0 && (errno == EINTR || errno == EAGAIN))) {
		have += got > 0 ? (size_t)got : 0;
		if (have == sizeof row) {
			fn(arg, &row);
			have = 0;
		}
	}
	return got == 0;
}

static bool iterate(const struct kernel_program *program, const char *name, kernel_sleeper_fn *fn,
		    void *arg, struct err *err)
{
	struct bpf_link *link = bpf_program__attach_iter(
		bpf_object__find_program_by_name(program->object, name), NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	bool good = fd >= 0 && read_sleepers(fd, fn, arg);

	if (!good)
		kernel_refused(err, errno, "looking for threads that sleep");
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return good;
}

bool kernel_program_sleepers(const struct kernel_program *program, kernel_sleeper_fn *fn, void *arg,
			     struct err *err)
{
	return iterate(program, "on_each", fn, arg, err);
}

bool kernel_program_passed(const struct kernel_program *program, u64 period_ns,
			   kernel_sleeper_fn *fn, void *arg, struct err *err)
{
	int fd = bpf_object__find_map_fd_by_name(program->object, "long_sleep_period_ns");
	u32 zero = 0;

	bpf_map_update_elem(fd, &zero, &period_ns, BPF_ANY);
	return iterate(program, "on_passed", fn, arg, err);
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
