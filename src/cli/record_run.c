/* SPDX-License-Identifier: Apache-2.0
 * record_run.c - see record_run.h. */
#include "cli/record_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/progress.h"
#include "cli/quality_file.h"
#include "cli/nothing_taken.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/trace_table.h"
#include "session/privilege.h"

enum {
	TIMELINE_CELLS = 512 * 1024, /* 6 MiB: for a page */
	SLICE_MS = 200, /* how often the progress line changes and the command is looked after */
	DELAYED_PERCENT = 20, /* of the attempts: worth a word */
};

/* One run, from the words to the exit code. */
struct recording {
	const char *name;
	const struct record_options *given;
	const struct session_events *events; /* NULL: none */
	char **command;                      /* NULL: attached to given->pid */
	struct record_output output;
	struct spawn spawn;
	struct session *session;
	struct str line; /* how sonde was called, for the profile's details */
	bool gone;       /* the target has ended */
	bool warned;
	u64 shown_ns; /* when the table of events was shown */
};

static int failed(struct recording *r, const struct err *err)
{
	int code = say_failure(r->name, err);

	return r->command && err->code != ERR_USAGE ? EXIT_PROFILER : code;
}

static bool check(struct recording *r, struct err *err)
{
	const struct record_options *given = r->given;
	u32 pid = given->sampling.pid;

	if (r->command && pid)
		return err_set(err, ERR_USAGE,
			       "either a process (-p %u) or a command (%.80s), not both", pid,
			       r->command[0]);
	bool is_all = given->sampling.all || given->sampling.cgroup;
	if (is_all && (r->command || pid))
		return err_set(err, ERR_USAGE,
			       "either every process (-a, --cgroup) or one of them, not both");
	if (!r->command && !pid && !is_all)
		return err_set(err, ERR_USAGE,
			       "of what? Give -p PID, -a, or a command: sonde %s ... python app.py",
			       r->name);
	return sampling_check(&given->sampling, err) &&
	       record_output_choose(&r->output, given->output, given->format, err);
}

/* The directory for tapes, made when it is not there. */
static bool make_tape_dir(const char *path, const struct spawn_identity *user, struct err *err)
{
	struct stat st;

	if (mkdir(path, 0700) == 0)
		return !user->drop || chown(path, user->uid, user->gid) == 0 ||
		       err_sys(err, errno, "--tape: %s", path);
	if (errno != EEXIST)
		return err_sys(err, errno, "--tape: cannot make %s", path);
	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return err_sys(err, ENOTDIR, "--tape: %s", path);
	return true;
}

static bool start_command(struct recording *r, struct err *err)
{
	struct spawn_identity identity = sampling_user();

	if (r->given->tape_dir && !make_tape_dir(r->given->tape_dir, &identity, err))
		return false;
	if (r->given->quality && !quality_file_check(r->given->quality, err))
		return false;
	identity.drop &= !r->given->sampling.keep_root;
	return !r->command ||
	       spawn_start(&r->spawn, r->command, &identity, signals_inherited(), err);
}

static bool begin_recording(struct recording *r, struct err *err)
{
	if (!r->output.recorder)
		return true;
	session_record(r->session, r->output.recorder);
	return recorder_begin(r->output.recorder, session_profile(r->session), err);
}

static bool attach(struct recording *r, struct err *err)
{
	const struct record_options *given = r->given;
	struct session_options session = sampling_session(&given->sampling);

	if (given->sampling.cgroup && !sampling_find_cgroup(&session, given->sampling.cgroup, err))
		return false;
	session.pid = r->command ? (u32)r->spawn.pid : given->sampling.pid;
	session.spawned = r->command;
	session.command = r->line.text;
	session.with_source = given->with_source;
	session.by_function = given->by_function;
	session.timeline_cells = r->output.exporter ? TIMELINE_CELLS : 0;
	session.run.tape_dir = given->tape_dir;
	session.events = r->events;
	if (!record_output_open(&r->output, session.pid, err))
		return false;
	r->session = session_start(&session, err);
	if (r->session && r->events)
		trace_table_warn(r->session);
	if (r->session && session_engine_note(r->session)[0])
		say_note("%s", session_engine_note(r->session));
	return r->session && begin_recording(r, err);
}

static void warn_once(struct recording *r, const struct quality *quality)
{
	if (!r->warned && quality->warning[0]) {
		say_warning("%s", quality->warning);
		r->warned = true;
	}
}

static void say_command_ended(const char *name, int code)
{
	if (code > 128 && code < 128 + NSIG)
		say_note("stopped: %s was ended by signal %d (%s)", name, code - 128,
			 strsignal(code - 128));
	else
		say_note("stopped: %s has ended with exit code %d", name, code);
}

/* The engine may know that it has ended before its parent does; or its first thread has, and others have not. */
static void wait_for_end(struct recording *r)
{
	u64 end_ns = clock_now_ns() + NS_PER_S;

	while (!spawn_poll(&r->spawn) && !signals_stop() && clock_now_ns() < end_ns)
		clock_sleep_until(clock_now_ns() + NS_PER_MS);
}

/* Is there a reason to stop? If so it is said. `going` is what session_run() returned. */
static bool should_stop(struct recording *r, bool going, const struct err *err, u64 end_ns)
{
	int number = signals_stop();
	struct err full = { 0 };

	if (r->command && !going && err->code == ERR_NO_PROCESS)
		wait_for_end(r);
	if (r->command && spawn_poll(&r->spawn)) {
		signals_watch(0);
		say_command_ended(r->command[0], r->spawn.code);
	} else if (!going && err->code == ERR_NO_PROCESS) {
		r->gone = true;
		say_note("stopped: the process has ended");
	} else if (!going) {
		say_warning("stopped: %s", err->text);
	} else if (r->output.recorder && !recorder_check(r->output.recorder, &full)) {
		say_note("stopped: the file cannot be written any further");
	} else if (number) {
		say_note("stopped: %s", number == SIGINT  ? "Ctrl-C" :
					number == SIGTERM ? "SIGTERM" :
							    "SIGHUP");
	} else if (clock_now_ns() >= end_ns) {
		say_note("stopped: the duration is over");
	} else {
		return false;
	}
	return true;
}

/* 0: it is not the clock that says when to look. */
static u32 rate_of(const struct recording *r)
{
	const struct sampling *sampling = &r->given->sampling;

	return sampling->mode == MODE_OFFCPU ? 0 : sampling->hz;
}

static void sample(struct recording *r)
{
	u64 begin_ns = clock_now_ns();
	u64 end_ns = r->given->duration_ns ? begin_ns + r->given->duration_ns : UINT64_MAX;
	struct progress progress = progress_make(rate_of(r), begin_ns);
	bool going = true;
	struct err err = { 0 };

	do {
		u64 until_ns = clock_now_ns() + SLICE_MS * NS_PER_MS;

		going = session_run(r->session, until_ns < end_ns ? until_ns : end_ns, &err);
		const struct quality *quality = &session_profile(r->session)->quality;
		warn_once(r, quality);
		if (r->events)
			trace_table_show(r->session, &r->shown_ns);
		else
			progress_show(&progress, quality, clock_now_ns());
	} while (!should_stop(r, going, &err, end_ns));
	session_finish(r->session);
	say_status("");
	warn_once(r, &session_profile(r->session)->quality);
}

/* Where every CPU is busy, the moments in which sonde runs are chosen by the scheduler. */
static void hint_at_delays(const struct quality *quality)
{
	u64 percent = quality->taken ? 100 * quality->delayed / quality->taken : 0;

	if (quality->taken >= 50 && percent >= DELAYED_PERCENT)
		say_warning(
			"in %u %% of its attempts sonde waited for a CPU: code in which the program gives up its own "
			"is over-represented (\"chrt -f 1 sonde ...\" avoids this)",
			(u32)percent);
}

static void say_result(const struct recording *r, const struct quality *quality, u64 size)
{
	struct str line = { 0 };
	char bytes[32];

	if (strcmp(r->output.path, "-") != 0)
		say_note("wrote %s (%s, %s bytes)%s%s", r->output.path,
			 record_output_format(&r->output), value_grouped(size, bytes),
			 r->output.exporter ? "" : "; to see it: sonde report ",
			 r->output.exporter ? "" : r->output.path);
	if (r->events)
		trace_table_summarize(r->session, &line);
	else
		progress_summarize(quality, rate_of(r), &line);
	say_note("%s", line.text);
	str_free(&line);
}

/* Writes the profile, if there is one. */
static int write_profile(struct recording *r)
{
	const struct profile *profile = session_profile(r->session);
	struct export_options options = { .weights = r->given->weights,
					  .threads = r->given->threads };
	struct err err = { 0 };
	u64 size;

	if (!profile_total_count(profile)) {
		record_output_abandon(&r->output);
		if (r->events)
			trace_table_say_nothing(r->session);
		else
			say_nothing_taken("no samples were taken, so nothing was written",
					  r->session, &profile->quality,
					  (enum engine_mode)r->given->sampling.mode,
					  r->given->sampling.thread);
		/* A command's exit code is its own: it may just have been short. */
		if (r->command)
			return EXIT_OK;
		return r->gone ? EXIT_GONE : EXIT_FAILED;
	}
	if (profile->bad)
		say_warning("sonde ran out of memory: samples are missing");
	if (r->given->quality && !quality_file_write(r->given->quality, &profile->quality, &err)) {
		say_failure(r->name, &err);
		err = (struct err){ 0 };
	}
	if (record_output_write(&r->output, profile, &options, &size, &err)) {
		say_result(r, &profile->quality, size);
		hint_at_delays(&profile->quality);
		return EXIT_OK;
	}
	say_failure(r->name, &err);
	if (!r->output.exporter)
		say_warning("%s holds what was sampled until then", r->output.path);
	else if (r->output.path[0])
		say_warning("the profile is not lost: it is in %s", r->output.path);
	return EXIT_FAILED;
}

/* After -d or a signal the command goes on; what it returns is what we return. */
static int wait_for_command(struct recording *r, int code)
{
	if (!spawn_poll(&r->spawn))
		say_note("%s (pid %d) goes on; waiting for it", r->command[0], r->spawn.pid);
	int command_code = spawn_wait(&r->spawn);
	signals_watch(0);
	return command_code ? command_code : code;
}

/* How sonde was called. */
static void add_line(struct recording *r)
{
	str_addf(&r->line, "sonde %s", r->name);
	for (u32 i = 0; r->events && i < r->events->count; i++)
		str_addf(&r->line, " %s", r->events->words[i]);
	sampling_add_line(&r->line, &r->given->sampling, r->command);
}

static int record(struct recording *r)
{
	struct err err = { 0 };

	say_set_quiet(r->given->quiet);
	if (!check(r, &err) || !start_command(r, &err))
		return failed(r, &err);
	add_line(r);
	signals_watch(r->command ? r->spawn.pid : 0);
	if (!attach(r, &err)) {
		record_output_abandon(&r->output);
		session_free(r->session);
		if (r->command)
			spawn_abandon(&r->spawn);
		return failed(r, &err);
	}
	if (r->command && !spawn_release(&r->spawn, &err)) {
		session_free(r->session);
		record_output_abandon(&r->output);
		return sampling_exec_failed(r->name, r->command, &err);
	}
	privilege_drop();
	sample(r);
	int code = write_profile(r);
	session_free(r->session);
	return r->command ? wait_for_command(r, code) : code;
}

int record_run(const char *name, const struct record_options *given,
	       const struct session_events *events, char **command)
{
	struct recording r = { .name = name, .given = given, .events = events, .command = command };
	int code = record(&r);

	str_free(&r.line);
	return code;
}
