/* SPDX-License-Identifier: Apache-2.0
 * cmd_completion.c - sonde completion SHELL: a script for the shell, on standard output. */
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/say.h"
#include "cli/value.h"

static const struct option_row rows[] = { { 0 } };

static const char *shell_word(u32 index)
{
	static char word[32];

	return value_choice(SHELLS, index, word) ? word : NULL;
}

static int run(void *unused, int rest_count, char **rest)
{
	struct err err;
	struct out out;
	u32 shell;

	(void)unused;
	if (rest_count != 1)
		return say_usage("completion", "name one shell: " SHELLS);
	if (!value_parse_choice(rest[0], SHELLS, &shell, &err))
		return say_failure("completion", &err);
	if (!out_open_file(&out, "-", &err))
		return say_failure("completion", &err);
	help_completion((enum shell)shell, &out);
	return say_close(&out, "completion");
}

const struct command completion_command = {
	.name = "completion",
	.summary = "print a completion script for the shell",
	.usage = "bash|zsh|fish",
	.details =
		"Prints what the shell needs in order to complete sonde's sub-commands, options and "
		"their values.\n\n"
		"  bash:  eval \"$(sonde completion bash)\"     in ~/.bashrc\n"
		"  zsh:   eval \"$(sonde completion zsh)\"      in ~/.zshrc, after compinit\n"
		"  fish:  sonde completion fish | source      in ~/.config/fish/config.fish",
	.options = rows,
	.words = shell_word,
	.run = run,
};
