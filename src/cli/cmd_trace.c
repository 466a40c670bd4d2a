/* SPDX-License-Identifier: Apache-2.0
 * cmd_trace.c - sonde trace: who does it, each time that it happens. */
#include "cli/command.h"
#include "cli/record_run.h"
#include "cli/say.h"
#include "events/events.h"

#include <stdlib.h>
#include <string.h>

struct trace_options {
	struct record_options record; /* first: its rows are shared */
	u32 every;
	u64 latency_min_ns;
	bool weigh_time;
	u32 at;           /* 0: leaf, 1: root */
	const char *list; /* NULL: trace */
};

#define AT(field) offsetof(struct trace_options, field)
static const struct option_row rows[] = {
	SAMPLING_PID(record_options),
	RECORD_ALL,
	RECORD_FILE,
	{ 0, "every", "N", OPTION_NUMBER, AT(every), 1, 1000000,
	  .text = "take the stack of one hit in N, chosen at random: its sample counts for all N (default: "
		  "of each hit, up to 4,000 a second on each CPU)" },
	{ 0, "min-latency", "TIME", OPTION_DURATION, AT(latency_min_ns),
	  .text = "only system calls that take this long: 1ms, 50us" },
	{ 0, "by-latency", NULL, OPTION_FLAG, AT(weigh_time),
	  .text = "a system call weighs what it took, instead of one" },
	{ 0, "event-at", "WHERE", OPTION_CHOICE, AT(at), .choices = "leaf,root",
	  .text = "the event is the innermost frame, or for grouping the outermost" },
	{ 0, "list", "PATTERN", OPTION_TEXT, AT(list),
	  .text = "print the events that there are, and end: 'syscall:*', '*open*', 'usdt:libc:*'" },
	SAMPLING_WHOM(record_options),
	SAMPLING_FRAMES(record_options),
	RECORD_MORE,
	{ 0 },
};
#undef AT

static int compare_names(const void *a, const void *b)
{
	const struct event *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static int list_events(const char *pattern)
{
	struct event_list list = { 0 };
	struct err err = { 0 };
	struct out out;

	if (!events_match(&list, pattern, &err)) {
		events_free(&list);
		return say_failure("trace", &err);
	}
	if (!out_open_file(&out, "-", &err)) {
		events_free(&list);
		return say_failure("trace", &err);
	}
	if (list.all.count)
		qsort(list.all.at, list.all.count, sizeof list.all.at[0], compare_names);
	for (u32 i = 0; i < list.all.count; i++)
		outf(&out, "%s\n", list.all.at[i].name);
	bool any = list.all.count;
	events_free(&list);
	int code = say_close(&out, "trace");
	if (err.code != ERR_NONE)
		say_warning("not all are listed: %s", err.text);
	if (!any)
		say_warning("no event matches \"%.100s\"", pattern);
	return any ? code : EXIT_FAILED;
}

static int run(void *options, int rest_count, char **rest)
{
	struct trace_options *given = options;
	struct session_events events = { .words = (const char *const *)rest,
					 .every = given->every,
					 .latency_min_ns = given->latency_min_ns,
					 .weigh_time = given->weigh_time,
					 .at_root = given->at };

	if (given->list)
		return list_events(given->list);
	while ((int)events.count < rest_count && event_is_name(rest[events.count]))
		events.count++;
	if (!events.count)
		return say_usage("trace",
				 "which events? For example: sonde trace syscall:openat -p PID");
	given->record.weights = given->weigh_time;
	return record_run("trace", &given->record, &events,
			  (int)events.count < rest_count ? rest + events.count : NULL);
}

const struct command trace_command = {
	.name = "trace",
	.summary = "the stacks of system calls, tracepoints and probes",
	.usage = "[OPTIONS] EVENT... -p PID | -a | -- COMMAND [ARGUMENTS]",
	.details =
		"Records, each time an event happens, the stack of the thread that causes it: native "
		"and language frames in their order, with the event as the leaf. Needs root, or CAP_BPF and "
		"CAP_PERFMON.\n\n"
		"  sonde trace syscall:openat -p 1234\n"
		"  sonde trace 'syscall:*' --by-latency -o calls.html -- ruby app.rb\n"
		"  sonde trace syscall:read --min-latency 10ms -p 1234 -f folded -o -\n"
		"  sonde trace uprobe:libc:malloc tracepoint:sched:sched_switch -p 1234\n\n"
		"# Events\n\n"
		"syscall:NAME: a system call begins. syscall-exit:NAME: it ends; the name of its error "
		"is part of the frame. tracepoint:CATEGORY:NAME: of the kernel, with the kernel's own "
		"frames. uprobe:LIBRARY:SYMBOL: a function is entered; LIBRARY is a path or a name like "
		"libc. usdt:LIBRARY:PROVIDER:NAME: a probe that its author has put there. Names may hold "
		"*, ? and []; --list PATTERN prints what there is.\n\n"
		"# What is counted\n\n"
		"Every hit. Where hits come faster than stacks can be taken, a sample stands for "
		"several, and the last line says for how many; --every N says it beforehand. The table "
		"has the hits of each event and how long its system calls took.",
	.options = rows,
	.options_size = sizeof(struct trace_options),
	.run = run,
};
