/* SPDX-License-Identifier: Apache-2.0
 * dispatch.c - from the words of the command line to a sub-command.
 *
 * sonde itself is described by a struct command like its sub-commands, so that its
 * options, its help and its man page come from the same code. */
#include "cli/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/say.h"
#include "engines/engine.h"
#include "export/exporter.h"
#include "runtimes/runtime.h"

struct top_options {
	bool version;
};

static const struct option_row top_rows[] = {
	{ 'V', "version", NULL, OPTION_FLAG, offsetof(struct top_options, version),
	  .text = "show the version and what is built in" },
	{ 0 },
};

/* What this build can do, from the tables that do it. */
static int write_version(void)
{
	struct err err;
	struct out out;

	if (!out_open_file(&out, "-", &err))
		return say_failure(NULL, &err);
	outf(&out, "sonde %s\nruntimes:", SONDE_VERSION);
	for (u32 i = 0; i < runtime_count; i++)
		outf(&out, " %s", runtimes[i]->name);
	out_text(&out, "\nengines:");
	for (u32 i = 0; i < engine_count; i++)
		outf(&out, " %s", engines[i]->name);
	out_text(&out, "\nformats:");
	for (u32 i = 0; i < exporter_count; i++)
		outf(&out, " %s", exporters[i]->name);
	out_text(&out, "\n");
	return say_close(&out, NULL);
}

static int write_help(const struct command *command)
{
	struct err err;
	struct out out;

	if (!out_open_file(&out, "-", &err))
		return say_failure(NULL, &err);
	help_short(command, &out);
	return say_close(&out, NULL);
}

static void say_notes(const struct str *notes)
{
	const char *line = notes->text;

	for (; line && *line; line += strcspn(line, "\n") + 1)
		say_warning("%.*s", (int)strcspn(line, "\n"), line);
}

int dispatch(const struct command *command, int argc, char **argv)
{
	const char *where = command == &root_command ? NULL : command->name;
	AUTO_FREE void *options = calloc(1, command->options_size + 1);
	struct options_parsed parsed;
	struct err err = { 0 };
	int code;

	if (!options) {
		err_no_memory(&err);
		return say_failure(where, &err);
	}
	if (!options_parse(command, argc, argv, options, &parsed, &err)) {
		code = say_failure(where, &err);
	} else if (parsed.help) {
		code = write_help(command);
	} else {
		say_notes(&parsed.notes);
		code = command->run(options, argc - parsed.rest, argv + parsed.rest);
	}
	str_free(&parsed.notes);
	return code;
}

static int run_top(void *options, int rest_count, char **rest)
{
	const struct top_options *given = options;

	if (given->version)
		return write_version();
	if (!rest_count)
		return say_usage(NULL, "no command given: try record, top, dump or doctor");
	const struct command *command = command_named(rest[0]);
	return command ? dispatch(command, rest_count, rest) : say_unknown_command(rest[0]);
}

const struct command root_command = {
	.name = "sonde",
	.summary = "see where a running program spends its time",
	.usage = "[--debug=SPEC] COMMAND [OPTIONS]",
	.details =
		"sonde is a sampling profiler. As root, or with CAP_BPF and CAP_PERFMON, it walks the "
		"stacks inside the kernel: native, Ruby, Python and kernel frames in one. Without these "
		"rights it reads those of Ruby and Python from outside and proves each sample: what "
		"changed while it was read is shown as [moving] and never as a wrong stack.\n\n"
		"  sonde record -p 1234 -d 10s      a flame graph of ten seconds of process 1234\n"
		"  sonde record ruby app.rb         of a program from its start to its end\n"
		"  sonde dump -p 1234               what every thread does right now\n"
		"  sonde doctor                     what may be missing, and how to grant it\n\n"
		"Data goes to standard output, everything else to standard error.",
	.options = top_rows,
	.options_size = sizeof(struct top_options),
	.takes_command = true,
	.run = run_top,
};
