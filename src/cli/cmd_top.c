/* SPDX-License-Identifier: Apache-2.0
 * cmd_top.c - sonde top: where a program spends its time, while it does.
 *
 *	start the command, held -> attach -> let the command go -> a screen, text, or one report
 *
 * Without a terminal that can be drawn on, and with --once, it prints. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/columns.h"
#include "cli/nothing_taken.h"
#include "cli/report.h"
#include "cli/sampling.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/top_live.h"
#include "cli/top_terminal.h"
#include "engines/stops.h"
#include "session/privilege.h"

enum { TREE_PERCENT = 1 };

struct top_options {
	struct sampling sampling;
	u32 sort, limit;
	u64 duration_ns; /* 0: no end, or a second with --once */
	bool all, lines, once, json;
};

static const struct top_options defaults = { .sampling = SAMPLING_DEFAULTS, .limit = 20 };

#define AT(field) offsetof(struct top_options, field)
static const struct option_row rows[] = {
	SAMPLING_PID(top_options),
	{ 'a', "all", NULL, OPTION_FLAG, AT(all),
	  .text = "every process; with the reader, those that run Ruby or Python" },
	SAMPLING_RATE(top_options),
	{ 'd', "duration", "TIME", OPTION_DURATION, AT(duration_ns), OPTION_ENDLESS,
	  .text = "stop after this long: 30, 30s, 5m (with --once: 1s)" },
	{ 0, "once", NULL, OPTION_FLAG, AT(once), .text = "sample that long, print a report, end" },
	{ 'j', "json", NULL, OPTION_FLAG, AT(json), .text = "with --once: as JSON" },
	{ 's', "sort", "BY", OPTION_CHOICE, AT(sort), .choices = "self,total",
	  .text = "the heaviest by self first, or by total" },
	{ 'l', "lines", NULL, OPTION_FLAG, AT(lines), .text = "a row a line, not a function" },
	{ 'n', "limit", "ROWS", OPTION_NUMBER, AT(limit), 1, 1000000,
	  .text = "rows of a table that is printed (default: 20)" },
	SAMPLING_HOW(top_options),
	SAMPLING_SYNONYMS(top_options),
	{ 0, "subprocesses", NULL, OPTION_IGNORED, .text = "" },
	{ 0, "full-filenames", NULL, OPTION_IGNORED, .text = "not needed: paths are always whole" },
	{ 0 },
};
#undef AT

struct top {
	const struct top_options *given;
	char **command; /* NULL: attached */
	bool on_screen;
	struct spawn spawn;
	struct top_model model;
	struct top_sources sources;
	struct top_live live;
	struct str line; /* how sonde was called */
};

static bool check(struct top *top, int rest_count, char **rest, struct err *err)
{
	const struct top_options *given = top->given;
	u32 asked = (rest_count > 0) + (given->sampling.pid > 0) + given->all;

	if (asked > 1)
		return err_set(err, ERR_USAGE, "give only one of -p PID, -a and a command");
	if (!asked)
		return err_set(err, ERR_USAGE,
			       "of what? Give -p PID, -a, or a command: sonde top ruby app.rb");
	if (given->json && !given->once)
		return err_set(err, ERR_USAGE, "-j/--json is a report: give --once with it");
	top->command = rest_count ? rest : NULL;
	top->on_screen = !given->once && top_terminal_fits();
	return sampling_check(&given->sampling, err);
}

/* ---- the command -------------------------------------------------------------------------- */

/* What the command would write to must not be where we draw or print; gives what `fd` was. */
static int lend(int fd, int other)
{
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (kept >= 0)
		dup2(other, fd);
	return kept;
}

static void take_back(int fd, int kept)
{
	if (kept < 0)
		return;
	dup2(kept, fd);
	close(kept);
}

/* On the screen the command has no terminal, else no standard output: that is for our data. */
static bool start_command(struct top *top, struct err *err)
{
	struct spawn_identity identity = sampling_user();
	int kept[3] = { -1, -1, -1 };

	identity.drop &= !top->given->sampling.keep_root;
	if (!top->command)
		return true;
	AUTO_CLOSE int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nowhere < 0)
		return err_sys(err, errno, "/dev/null");
	for (int fd = 0; fd < 3 && top->on_screen; fd++)
		if (isatty(fd))
			kept[fd] = lend(fd, nowhere);
	if (!top->on_screen)
		kept[1] = lend(STDOUT_FILENO, STDERR_FILENO);
	bool started = spawn_start(&top->spawn, top->command, &identity, signals_inherited(), err);
	for (int fd = 0; fd < 3; fd++)
		take_back(fd, kept[fd]);
	return started;
}

/* ---- a run -------------------------------------------------------------------------------- */

static void set_up(struct top *top)
{
	const struct top_options *given = top->given;
	struct session_options session = sampling_session(&given->sampling);

	session.command = top->line.text;
	top_sources_init(&top->sources, &top->model, &session);
	top->model.view = given->lines ? TOP_LINES : TOP_FUNCTIONS;
	top->model.sort = given->sort == REPORT_TOTAL ? TOP_BY_TOTAL : TOP_BY_SELF;
	top->live = (struct top_live){
		.model = &top->model,
		.sources = &top->sources,
		.screen = { .model = &top->model },
		.command = top->command ? &top->spawn : NULL,
		.all = given->all,
		.pid = top->command ? (u32)top->spawn.pid : given->sampling.pid,
		.limit = given->limit,
	};
}

/* By one engine that has every process, or by one for each process that runs a language. */
static bool attach_all(struct top *top, struct err *err)
{
	struct session_options *options = &top->sources.options;
	const struct engine *named = options->engine ? engine_named(options->engine) : NULL;
	struct err why = { 0 };

	if (named && named->has_all)
		return top_sources_add_all(&top->sources, err);
	if (!named && top_sources_add_all(&top->sources, &why))
		return true;
	if (!named && why.code != ERR_UNSUPPORTED) /* else it does not have this mode */
		say_note("only processes that run Ruby or Python: %s", why.text);
	if (!named)
		options->engine = "reader";
	u32 found = top_sources_find(&top->sources);
	if (found || !top->given->once)
		return true;
	err_set(err, ERR_NO_PROCESS, "no process here runs a language that sonde knows");
	return top->sources.not_allowed ?
		       err_hint(err, "%u could not be looked into; root could (sudo)",
				top->sources.not_allowed) :
		       false;
}

static bool attach(struct top *top, struct err *err)
{
	bool good = top->given->all ?
			    attach_all(top, err) :
			    top_sources_add(&top->sources, top->live.pid, top->command, err);

	privilege_drop();
	if (good && top_sources_note(&top->sources)[0])
		say_note("%s", top_sources_note(&top->sources));
	return good;
}

static void say_end(struct top *top, enum top_end end)
{
	const struct profile *profile = &top->model.gather.profile;
	const char *warning = top_live_warning(&top->live);
	char samples[32], duration[32];
	int number = signals_stop();

	if (warning)
		say_warning("%s", warning);
	value_grouped(profile->quality.samples, samples);
	value_duration_text(profile->duration_ns, duration);
	if (end == TOP_END_GONE && top->live.err.code != ERR_NO_PROCESS)
		say_warning("stopped: %s", top->live.err.text);
	else if (end == TOP_END_GONE)
		say_note("stopped: the process has ended after %s; %s samples", duration, samples);
	else if (end == TOP_END_COMMAND && top->spawn.code > 128)
		say_note("stopped: %s was ended by signal %d (%s) after %s; %s samples",
			 top->command[0], top->spawn.code - 128, strsignal(top->spawn.code - 128),
			 duration, samples);
	else if (end == TOP_END_COMMAND)
		say_note("stopped: %s has ended with exit code %d after %s; %s samples",
			 top->command[0], top->spawn.code, duration, samples);
	else if (end == TOP_END_SIGNAL && number != SIGINT)
		say_note("stopped: %s", number == SIGTERM ? "SIGTERM" : "SIGHUP");
	if (top->live.written.length)
		say_note("wrote %s", top->live.written.text);
}

static int report(const struct top *top)
{
	const struct top_options *given = top->given;
	const struct profile *profile = &top->model.gather.profile;
	struct report_options options = { .sort = given->sort,
					  .lines = given->lines,
					  .limit = given->limit,
					  .tree_percent = TREE_PERCENT,
					  .width = columns_of_output() };

	const struct session *first = top_sources_first(&top->sources);

	if (!profile->quality.samples && first)
		say_nothing_taken("not one sample was taken", first, &profile->quality,
				  (enum engine_mode)given->sampling.mode, given->sampling.thread);
	return report_print("top", profile, &options, given->json);
}

static enum top_end watch(struct top *top)
{
	enum top_end end;

	if (top->given->once)
		return top_live_wait(&top->live);
	if (!top->on_screen || !top_terminal_open())
		return top_live_text(&top->live);
	end = top_live_screen(&top->live);
	top_terminal_close();
	return end;
}

/* A command that somebody only wanted to look at does not outlive the look. */
static int end_command(struct top *top, enum top_end end, int code)
{
	if (end != TOP_END_COMMAND)
		kill(top->spawn.pid, SIGTERM);
	int command_code = spawn_wait(&top->spawn);
	return end == TOP_END_COMMAND ? command_code : code;
}

/* From when it is attached, as record counts. */
static u64 end_of(const struct top_options *given)
{
	u64 length_ns = given->duration_ns ? given->duration_ns : given->once ? NS_PER_S : 0;

	return length_ns ? clock_now_ns() + length_ns : UINT64_MAX;
}

static int show(struct top *top)
{
	top->live.end_ns = end_of(top->given);
	enum top_end end = watch(top);
	int code = EXIT_OK;

	top_sources_stop(&top->sources);
	if (end == TOP_END_COMMAND)
		spawn_wait(&top->spawn); /* a session may know before the parent does */
	if (top->given->once)
		code = report(top);
	say_end(top, end);
	if (top->model.gather.profile.bad || top->model.sums.bad)
		say_warning("sonde ran out of memory: samples are missing");
	if (end == TOP_END_GONE && !top->model.gather.profile.quality.samples)
		code = EXIT_GONE;
	return top->command ? end_command(top, end, code) : code;
}

static int run_top(struct top *top, int rest_count, char **rest)
{
	struct err err = { 0 };

	if (!check(top, rest_count, rest, &err) || !start_command(top, &err)) {
		int code = say_failure("top", &err);
		return top->command && err.code != ERR_USAGE ? EXIT_PROFILER : code;
	}
	str_addf(&top->line, "sonde top%s", top->given->all ? " -a" : "");
	sampling_add_line(&top->line, &top->given->sampling, top->command);
	set_up(top);
	signals_watch(top->command ? top->spawn.pid : 0);
	stops_defer();
	if (!attach(top, &err)) {
		if (top->command)
			spawn_abandon(&top->spawn);
		int code = say_failure("top", &err);
		return top->command ? EXIT_PROFILER : code;
	}
	if (top->command && !spawn_release(&top->spawn, &err))
		return sampling_exec_failed("top", top->command, &err);
	return show(top);
}

static int run(void *options_given, int rest_count, char **rest)
{
	struct top top = { .given = options_given };
	struct err err = { 0 };

	if (!top_model_init(&top.model)) {
		err_no_memory(&err);
		return say_failure("top", &err);
	}
	int code = run_top(&top, rest_count, rest);
	if (top.sources.model)
		top_sources_free(&top.sources);
	top_model_free(&top.model);
	str_free(&top.live.written);
	str_free(&top.line);
	return code;
}

const struct command top_command = {
	.name = "top",
	.summary = "show where a program spends its time, live",
	.usage = "[OPTIONS] -p PID | -a | [--] COMMAND [ARGUMENTS]",
	.details =
		"Samples as record does, and shows the hottest functions, lines, threads, processes and "
		"languages of the last ten seconds, or since the start. \"self\" is what the code of a "
		"row took itself, \"total\" is that and all it called; recursion counts once, and "
		"100 % is what the line above the table says. Among the lines, what has none of its "
		"own, a C function, is a row for each line that calls it.\n\n"
		"  sonde top -p 1234\n"
		"  sonde top ruby app.rb\n"
		"  sonde top -a --mode=wall\n"
		"  sonde top -p 1234 --once --json -d 5s\n\n"
		"Where no screen can be drawn (a pipe, TERM=dumb, less than 60 columns) a table is "
		"printed every three seconds.\n\n"
		"# Keys\n\n"
		"1 to 5 and Tab: functions, lines, threads, processes, languages. s, t, n: sort by "
		"self, total, name. a: the last ten seconds, or all since the start. /: only names "
		"that hold these words. Enter: the callers of a function or line and what it calls; "
		"of a thread, process or language, only what it does. Esc: back. Space holds the "
		"picture; sampling goes on. w writes all since the start as an HTML page, W as folded "
		"stacks, into this directory; sampling goes on. ? is help, q quits.\n\n"
		"# A command\n\n"
		"It gets no terminal while the screen is drawn: what it writes there is not shown. "
		"Redirect it to keep it: sonde top sh -c 'exec ruby app.rb >log 2>&1'. Where tables "
		"are printed, its standard output goes to standard error. It is sent SIGTERM when "
		"sonde ends first; else its exit code is returned.",
	.options = rows,
	.defaults = &defaults,
	.options_size = sizeof(struct top_options),
	.takes_command = true,
	.run = run,
};
