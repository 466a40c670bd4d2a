/* SPDX-License-Identifier: Apache-2.0
 * cmd_record.c - sonde record: where a program spends its time, into a file. */
#include "cli/command.h"
#include "cli/record_run.h"

static const struct record_options defaults = { .sampling = SAMPLING_DEFAULTS };

static const struct option_row rows[] = {
	SAMPLING_PID(record_options),
	RECORD_ALL,
	SAMPLING_RATE(record_options),
	RECORD_FILE,
	SAMPLING_HOW(record_options),
	RECORD_MORE,
	{ 0, "weights", NULL, OPTION_FLAG, RECORD_AT(weights),
	  .text = "nanoseconds instead of counts, in folded stacks" },
	{ 0, "tape", "DIR", OPTION_TEXT, RECORD_AT(tape_dir),
	  .text = "also record what was read of the process, for bug reports" },
	/* rbspy and py-spy */
	{ 0, "file", "FILE", OPTION_TEXT, RECORD_AT(output), .text = "as --output",
	  .synonym = true },
	{ 0, "silent", NULL, OPTION_FLAG, RECORD_AT(quiet), .text = "as --quiet", .synonym = true },
	SAMPLING_SYNONYMS(record_options),
	{ 'c', "on-cpu", NULL, OPTION_PRESET, RECORD_AT(sampling.mode), MODE_CPU,
	  .text = "as --mode=cpu", .synonym = true },
	{ 's', "subprocesses", NULL, OPTION_IGNORED, .text = "" },
	{ 0, "nolineno", NULL, OPTION_FLAG, RECORD_AT(by_function), .text = "as --function",
	  .synonym = true },
	{ 0, "full-filenames", NULL, OPTION_IGNORED, .text = "not needed: paths are always whole" },
	{ 'n', "native", NULL, OPTION_IGNORED,
	  .text = "not needed: native frames are shown where the kernel engine can run" },
	{ 0, "force-version", "VERSION", OPTION_IGNORED,
	  .text = "not needed: the version is read from the process itself" },
	{ 0, "raw-file", "FILE", OPTION_IGNORED,
	  .text = "there is no second file: -o holds everything" },
	{ 0 },
};

static int run(void *options, int rest_count, char **rest)
{
	return record_run("record", options, NULL, rest_count ? rest : NULL);
}

const struct command record_command = {
	.name = "record",
	.summary = "sample a program and write a profile",
	.usage = "[OPTIONS] -p PID | -a | [--] COMMAND [ARGUMENTS]",
	.details =
		"Samples every thread of the process and of its children, those that are there and those "
		"to come, and writes "
		"where they were: a recording (.sonde: everything, for report, export and diff), a flame "
		"graph (html: one page, works offline), pprof, or folded stacks. The program is "
		"not stopped; from outside (-e reader) a thread may be, for microseconds: see --pause.\n\n"
		"  sonde record -p 1234 -d 30s\n"
		"  sonde record -o - -p 1234 | sort\n"
		"  sonde record -r 999 -o app.pb.gz ruby app.rb --its-own-option\n\n"
		"A recording is written as it is made: however sonde ends, what was sampled up to then can "
		"be read. The file appears under its name with the first samples. In other formats an existing file is "
		"replaced only when the new one is complete; if it cannot be written, the profile is saved "
		"elsewhere and the message says where. A default name never overwrites a file.\n\n"
		"# Stopping\n\n"
		"With -p, sonde samples until the time is over, the process ends, or Ctrl-C: it then "
		"stops and writes. A second Ctrl-C quits at once and writes nothing more: a recording "
		"has what it had, another file is not there.\n\n"
		"With a command, Ctrl-C goes to the command as always, and sonde samples until that "
		"has ended; a second Ctrl-C stops and writes, a third quits. SIGTERM and SIGHUP are "
		"handed to the command, then sonde stops and writes. When the time of -d is over the "
		"command goes on: sonde writes, waits for it and returns its exit code. Processes that "
		"outlive the command are left alone.\n\n"
		"# sudo\n\n"
		"Under sudo the command runs as the user who called sudo, with that user's groups and "
		"HOME, and the files belong to that user.\n\n"
		"# Folded lines\n\n"
		"Root first, frames parted by semicolons, then the number of samples, or nanoseconds "
		"with --weights: \"label (path:line)\" for a frame of the language, \"label\" for its C "
		"functions, \"symbol [native]\", \"symbol [inlined]\", \"symbol [kernel]\", and marks: in "
		"square brackets what happened to the reading ([moving]: the leaf changed while it was "
		"read; [truncated], [unreadable]), in round ones what the thread did ((garbage "
		"collection), (waiting for the GVL)). [native] alone is a thread outside of the language.",
	.options = rows,
	.defaults = &defaults,
	.options_size = sizeof(struct record_options),
	.takes_command = true,
	.run = run,
};
