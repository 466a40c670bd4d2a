/* SPDX-License-Identifier: Apache-2.0
 * cmd_dump.c - sonde dump: every thread's stack now, leaf first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/json_names.h"
#include "cli/say.h"
#include "cli/value.h"
#include "engines/thread_filter.h"
#include "sample/label.h"
#include "session/dump.h"
#include "target/kin.h"

struct dump_options {
	u32 pid;
	u32 pause, async;
	const char *thread;
	bool json, locals, subprocesses;
};

static const struct dump_options defaults = { .pause = PAUSE_AUTO };

#define AT(field) offsetof(struct dump_options, field)
static const struct option_row rows[] = {
	{ 'p', "pid", "PID", OPTION_NUMBER, AT(pid), 1, VALUE_PID_HIGHEST,
	  .text = "the process to look at" },
	{ 'j', "json", NULL, OPTION_FLAG, AT(json), .text = "as JSON" },
	{ 'l', "locals", NULL, OPTION_FLAG, AT(locals),
	  .text = "the local variables of each frame too (Python); but for --pause=never a thread that runs is "
		  "stopped while they are read" },
	{ 's', "subprocesses", NULL, OPTION_FLAG, AT(subprocesses),
	  .text = "its children that are programs of Ruby or Python, too, and theirs" },
	{ 't', "thread", "TID|NAME", OPTION_TEXT, AT(thread), OPTION_NO_DASH,
	  .text = "only this thread" },
	{ 0, "pause", "WHEN", OPTION_CHOICE, AT(pause), .choices = "never,auto,always",
	  .text = "stop a thread for microseconds: never, always, or auto: when its stack changes "
		  "while it is read" },
	{ 0, "async", "WHICH", OPTION_CHOICE, AT(async), .choices = "off,running,all",
	  .text = "asyncio (Python): threads by the task that they run, and all: the tasks that wait, too" },
	{ 0, "nonblocking", NULL, OPTION_PRESET, AT(pause), PAUSE_NEVER, .text = "as --pause=never",
	  .synonym = true },
	{ 'n', "native", NULL, OPTION_IGNORED,
	  .text = "a dump has no native frames: sonde record and sonde top show them" },
	{ 0, "full-filenames", NULL, OPTION_IGNORED, .text = "not needed: paths are always whole" },
	{ 0, "force-version", "VERSION", OPTION_IGNORED,
	  .text = "not needed: the version is read from the process itself" },
	{ 0 },
};
#undef AT

static const char *state_text(const struct dump_thread *thread, char out[static 40])
{
	static const char *const texts[] = {
#define X(name, text) text,
		DUMP_STATES(X)
#undef X
	};

	const char *text = texts[thread->state], *place = strstr(text, "%s");

	if (!place)
		snprintf(out, 40, "%s", text);
	else
		snprintf(out, 40, "%.*s%s%s", (int)(place - text), text, thread->lock, place + 2);
	return out;
}

static const struct name_string *string_at(const struct dump *dump, u32 number)
{
	return &dump->names.strings.at[number];
}

/* What a frame is, for programs: "ruby", "cfunc" (a C function that the language knows by name),
 * "task" (asyncio's, around what it runs), "native", "kernel" or "mark" ([moving] and its kin). */
static const char *frame_kind(const struct dump *dump, const struct name_function *function)
{
	const char *language = string_at(dump, function->language)->text;

	if (function->flags & FRAME_TASK)
		return "task";
	if (function->flags & FRAME_C)
		return "cfunc";
	return language[0] ? language : "mark";
}

static bool is_wanted(const struct dump *dump, const struct dump_thread *thread, const char *wanted)
{
	char *end;

	if (!wanted || thread_filter_is_name(wanted, string_at(dump, thread->name)->text))
		return true;
	unsigned long tid = strtoul(wanted, &end, 10);
	return end != wanted && !*end && tid && tid == thread->tid;
}

static void write_foreign(struct out *out, const struct name_string *string)
{
	say_foreign(out, string->text, string->length);
}

static void write_frame(struct out *out, const struct dump *dump, u32 location)
{
	struct str label = { 0 };

	label_location(&label, &dump->names, location, 0);
	outf(out, "  %s\n", label.bad ? "" : label.text);
	str_free(&label);
}

/* Between its backslashes, which are repr()'s own. */
static void add_safe_repr(struct str *out, const char *text, const char *end)
{
	for (const char *at; (at = memchr(text, '\\', (size_t)(end - text))); text = at + 1) {
		text_add_safe(out, text, (size_t)(at - text), 0);
		str_add_text(out, "\\");
	}
	text_add_safe(out, text, (size_t)(end - text), 0);
}

/* The text is that of a program: each of its lines is made safe. */
static void write_locals(struct out *out, const struct dump *dump, u32 string)
{
	const char *line = string_at(dump, string)->text;
	struct str safe = { 0 };

	for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
		str_clear(&safe);
		add_safe_repr(&safe, line, end);
		outf(out, "    %s\n", safe.bad ? "" : safe.text);
	}
	str_free(&safe);
}

static void write_text(const struct dump *dump, const char *wanted, struct out *out)
{
	char state[40];

	outf(out, "process %u (", dump->pid);
	write_foreign(out, string_at(dump, dump->runtime));
	outf(out, "), %u thread%s\n", dump->threads.count, dump->threads.count == 1 ? "" : "s");
	for (u32 i = 0; i < dump->threads.count; i++) {
		const struct dump_thread *thread = &dump->threads.at[i];

		if (!is_wanted(dump, thread, wanted))
			continue;
		u32 name = thread->task ? thread->task : thread->name;
		out_text(out, thread->task ? "\ntask " : "\nthread ");
		write_foreign(out, string_at(dump, name));
		outf(out, "%s(%u): %s\n", name ? " " : "", thread->tid, state_text(thread, state));
		u32 local = thread->locals;
		for (u32 s = thread->stack; s; s = dump->names.stacks.at[s].outer) {
			write_frame(out, dump, dump->names.stacks.at[s].location);
			if (local)
				write_locals(out, dump, dump->locals.at[local++]);
		}
	}
}

static void json_locals(struct json *json, const char *line)
{
	json_array(json, "locals");
	for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
		const char *equals = strstr(line, " = ");
		if (!equals || equals > end)
			continue;
		json_object(json, NULL);
		json_bytes(json, "name", line, (size_t)(equals - line));
		json_bytes(json, "value", equals + 3, (size_t)(end - equals - 3));
		json_end(json);
	}
	json_end(json);
}

/* `locals`: a string, or 0. */
static void json_frame(struct json *json, const struct dump *dump, u32 location_number, u32 locals)
{
	const struct name_location *location = &dump->names.locations.at[location_number];
	const struct name_function *function = &dump->names.functions.at[location->function];

	json_object(json, NULL);
	json_name(json, "name", &dump->names, function->name);
	if (function->path)
		json_name(json, "path", &dump->names, function->path);
	else
		json_null(json, "path");
	if (location->line)
		json_number(json, "line", location->line);
	else
		json_null(json, "line");
	if (location->column) { /* of languages that know */
		json_number(json, "end_line", location->end_line);
		json_number(json, "column", location->column);
		json_number(json, "end_column", location->end_column);
	}
	json_text(json, "kind", frame_kind(dump, function));
	if (locals)
		json_locals(json, string_at(dump, locals)->text);
	json_end(json);
}

static void json_dump(struct json *json, const struct dump *dump, const char *wanted)
{
	char state[40];

	json_object(json, NULL);
	json_number(json, "pid", dump->pid);
	json_name(json, "runtime", &dump->names, dump->runtime);
	json_array(json, "threads");
	for (u32 i = 0; i < dump->threads.count; i++) {
		const struct dump_thread *thread = &dump->threads.at[i];

		if (!is_wanted(dump, thread, wanted))
			continue;
		json_object(json, NULL);
		json_number(json, "tid", thread->tid);
		json_name(json, "name", &dump->names, thread->name);
		if (thread->task)
			json_name(json, "task", &dump->names, thread->task);
		json_text(json, "state", state_text(thread, state));
		json_array(json, "frames");
		u32 local = thread->locals;
		for (u32 s = thread->stack; s; s = dump->names.stacks.at[s].outer)
			json_frame(json, dump, dump->names.stacks.at[s].location,
				   local ? dump->locals.at[local++] : 0);
		json_end(json);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

/* ---- processes ----------------------------------------------------------------------------- */

typedef VEC(struct dump) dump_list;

static void write_all(const dump_list *all, const struct dump_options *given, struct out *out)
{
	struct json json = json_make(out);

	if (given->json && given->subprocesses) {
		json_object(&json, NULL);
		json_array(&json, "processes");
	}
	for (u32 i = 0; i < all->count; i++) {
		if (given->json) {
			json_dump(&json, &all->at[i], given->thread);
			continue;
		}
		out_text(out, i ? "\n" : "");
		write_text(&all->at[i], given->thread, out);
	}
	if (given->json && given->subprocesses) {
		json_end(&json);
		json_end(&json);
	}
}

static bool has_wanted(const dump_list *all, const char *wanted)
{
	for (u32 i = 0; i < all->count; i++)
		for (u32 k = 0; k < all->at[i].threads.count; k++)
			if (is_wanted(&all->at[i], &all->at[i].threads.at[k], wanted))
				return true;
	return !wanted;
}

typedef VEC(u32) pid_list;

static bool add_child(void *arg, u32 pid, u32 parent)
{
	(void)parent;
	return vec_push((pid_list *)arg, pid);
}

/* The process that was given and, if asked for, its descendants, as they are now. */
static bool list_processes(const struct dump_options *given, pid_list *out, struct err *err)
{
	if (!vec_push(out, given->pid))
		return err_no_memory(err);
	return !given->subprocesses || target_each_descendant(&given->pid, 1, add_child, out) ||
	       err_no_memory(err);
}

/* A child may be no program of Ruby or Python, or have ended meanwhile: no error, unless there is none at all. What else is wrong
 * with one is a warning. */
static bool is_worth_a_warning(const struct err *err)
{
	return err->code != ERR_NOT_MINE && err->code != ERR_NO_PROCESS &&
	       err->code != ERR_NOT_READY;
}

/* False: none; `err` is that of the first. */
static bool take_all(const struct dump_options *given, dump_list *all, struct err *err)
{
	struct dump_wish wish = { (enum engine_pause)given->pause, (enum engine_async)given->async,
				  given->locals };
	pid_list pids = { 0 };
	bool good = list_processes(given, &pids, err);

	for (u32 i = 0; good && i < pids.count; i++) {
		struct err own = { 0 };
		struct dump dump;
		if (!dump_take(&dump, pids.at[i], &wish, &own)) {
			if (i == 0)
				*err = own;
			else if (is_worth_a_warning(&own))
				say_warning("%s", own.text);
		} else if (!vec_push(all, dump)) {
			dump_free(&dump);
			good = err_no_memory(err);
		}
	}
	vec_free(&pids);
	return good && all->count;
}

static int print(const struct dump_options *given, const dump_list *all)
{
	struct err err = { 0 };
	struct out out;

	for (u32 i = 0; i < all->count; i++)
		if (all->at[i].warning)
			say_warning("%s", string_at(&all->at[i], all->at[i].warning)->text);
	if (!has_wanted(all, given->thread)) {
		err_set(&err, ERR_BAD_DATA, "process %u has no thread %.80s", given->pid,
			given->thread);
		say_failure("dump", &err);
		return EXIT_FAILED;
	}
	if (!out_open_file(&out, "-", &err)) {
		say_failure("dump", &err);
		return EXIT_FAILED;
	}
	write_all(all, given, &out);
	return say_close(&out, "dump");
}

static int run(void *options_given, int rest_count, char **rest)
{
	const struct dump_options *given = options_given;
	struct err err = { 0 };
	dump_list all = { 0 };

	if (rest_count)
		return say_usage("dump", "what is \"%.80s\"? Give the process with -p PID",
				 rest[0]);
	if (!given->pid)
		return say_usage("dump", "which process? Give -p PID");
	int code = take_all(given, &all, &err) ? print(given, &all) : say_failure("dump", &err);
	for (u32 i = 0; i < all.count; i++)
		dump_free(&all.at[i]);
	vec_free(&all);
	return code;
}

const struct command dump_command = {
	.name = "dump",
	.alias = "snapshot",
	.summary = "show what every thread does right now",
	.usage = "[OPTIONS] -p PID",
	.details =
		"Prints the stack of every thread of a Ruby or Python program, without native frames, the innermost "
		"frame first, with the thread's name, number and state: running, waiting for the GVL or GIL, "
		"holds the GVL or GIL, blocked (asleep with the lock, which nobody else gets), blocked "
		"(asleep, or in native code that does without the lock), GC, stopped (by a signal or a debugger; "
		"SIGCONT lets a stopped process go on), awaiting (a task, with --async=all) or unknown.\n\n"
		"With --json:\n\n"
		"  {\"pid\", \"runtime\", \"threads\": [{\"tid\", \"name\", \"task\", \"state\",\n"
		"    \"frames\": [{\"name\", \"path\", \"line\", \"kind\",\n"
		"      \"end_line\", \"column\", \"end_column\",\n"
		"      \"locals\": [{\"name\", \"value\"}]}]}]}\n\n"
		"kind is the language (ruby, python), cfunc for its functions written in C, task, "
		"or mark for [moving] and the like; path and line are null where there are none; "
		"columns, from 1 in bytes of UTF-8, are there from Python 3.11 on, locals with --locals, and "
		"task, a name, where the stack is not a thread's but that of a task that waits (--async=all). "
		"Bytes that are not UTF-8 are U+FFFD. With --subprocesses all that stands in {\"processes\": [...]}, "
		"whether or not there are children.",
	.options = rows,
	.defaults = &defaults,
	.options_size = sizeof(struct dump_options),
	.run = run,
};
