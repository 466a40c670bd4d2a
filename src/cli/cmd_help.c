/* SPDX-License-Identifier: Apache-2.0
 * cmd_help.c - sonde help [COMMAND]: the long page, or the man page's source. */
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/say.h"

struct help_options {
	bool man;
};

static const struct option_row rows[] = {
	{ 0, "man", NULL, OPTION_FLAG, offsetof(struct help_options, man),
	  .text = "as a man page's source (roff): sonde help --man record | man -l -" },
	{ 0 },
};

static int run(void *options_given, int rest_count, char **rest)
{
	const struct help_options *given = options_given;
	const struct command *command = &root_command;
	struct err err;
	struct out out;

	if (rest_count > 1)
		return say_usage("help", "one command at a time");
	if (rest_count == 1)
		command = command_named(rest[0]);
	if (!command)
		return say_unknown_command(rest[0]);
	if (!out_open_file(&out, "-", &err))
		return say_failure("help", &err);
	if (given->man)
		help_man(command, &out);
	else
		help_long(command, &out);
	return say_close(&out, "help");
}

const struct command help_command = {
	.name = "help",
	.summary = "say all about a command",
	.usage = "[--man] [COMMAND]",
	.details =
		"Without a command, says what sonde is and lists its commands. The short form is "
		"sonde COMMAND -h.",
	.options = rows,
	.options_size = sizeof(struct help_options),
	.words = command_list,
	.run = run,
};
