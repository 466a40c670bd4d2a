/* SPDX-License-Identifier: Apache-2.0
 * completion.c - see help.h: what a shell needs to know, printed from the option tables.
 *
 * The scripts call nothing of sonde's when they run: what can be completed is written
 * into them.  What a value is, its name in the table says: FILE, DIR, PID. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/value.h"

/* The nth word that the option's value may be; false past the last. */
static bool value_word(const struct option_row *row, u32 index, char out[static 32])
{
	if (row->kind == OPTION_CHOICE)
		return value_choice(row->choices, index, out);
	const char *word = row->list ? row->list(index) : NULL;
	if (word)
		snprintf(out, 32, "%s", word);
	return word != NULL;
}

static void write_value_words(struct out *out, const struct option_row *row)
{
	char word[32];

	for (u32 i = 0; value_word(row, i, word); i++)
		outf(out, "%s%s", i ? " " : "", word);
}

static void write_list(struct out *out, const char *(*list)(u32))
{
	for (u32 i = 0; list && list(i); i++)
		outf(out, "%s%s", i ? " " : "", list(i));
}

static bool value_is(const struct option_row *row, const char *name)
{
	return row->value && !strcmp(row->value, name);
}

/* Shell words in single quotes cannot hold one. */
static void write_quoted(struct out *out, const char *text, const char *escaped)
{
	for (; *text; text++) {
		if (*text == '\'')
			out_text(out, "'\\''");
		else
			outf(out, "%s%c", strchr(escaped, *text) ? "\\" : "", *text);
	}
}

static void write_command_names(struct out *out)
{
	for (u32 i = 0; i < command_count; i++)
		outf(out, "%s%s%s%s", i ? " " : "", commands[i]->name,
		     commands[i]->alias ? " " : "", commands[i]->alias ? commands[i]->alias : "");
}

static void write_case_label(struct out *out, const struct command *command)
{
	outf(out, "%s%s%s)", command->name, command->alias ? "|" : "",
	     command->alias ? command->alias : "");
}

/* --- bash ------------------------------------------------------------------ */

static void bash_value(struct out *out, const struct command *command, const struct option_row *row)
{
	if (!row->value)
		return;
	outf(out, "\t%s:--%s", command->name, row->name);
	if (row->letter)
		outf(out, "|%s:-%c", command->name, row->letter);
	out_text(out, ") COMPREPLY=($(compgen ");
	if (value_is(row, "FILE"))
		out_text(out, "-f");
	else if (value_is(row, "DIR"))
		out_text(out, "-d");
	else if (value_is(row, "PID"))
		out_text(out, "-W \"$(cd /proc && printf '%s ' [0-9]*)\"");
	else {
		out_text(out, "-W '");
		write_value_words(out, row);
		out_text(out, "'");
	}
	out_text(out, " -- \"$cur\")); return ;;\n");
}

static void bash_words(struct out *out, const struct command *command)
{
	const struct option_row *row;

	out_text(out, "\t");
	write_case_label(out, command);
	out_text(out, " words='");
	for (u32 i = 0; (row = options_row(command, i)) != NULL; i++)
		outf(out, "%s--%s", i ? " " : "", row->name);
	if (command->words)
		out_text(out, " ");
	write_list(out, command->words);
	out_text(out, "' ;;\n");
}

static void write_bash(struct out *out)
{
	const struct option_row *row;

	out_text(out, "# bash completion for sonde, made by: sonde completion bash\n"
		      "_sonde()\n{\n"
		      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		      "\tlocal command=${COMP_WORDS[1]} words=''\n"
		      "\t[ \"$cur\" = = ] && cur=''\n"
		      "\t[ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
		      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		      "\t\tCOMPREPLY=($(compgen -W '");
	write_command_names(out);
	out_text(out, " --help --version' -- \"$cur\"))\n\t\treturn\n\tfi\n"
		      "\tcase $command:$prev in\n");
	for (u32 i = 0; i < command_count; i++)
		for (u32 j = 0; (row = options_row(commands[i], j)) != NULL; j++)
			bash_value(out, commands[i], row);
	out_text(out, "\tesac\n\tcase $command in\n");
	for (u32 i = 0; i < command_count; i++)
		bash_words(out, commands[i]);
	out_text(out, "\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
		      "complete -o default -F _sonde sonde\n");
}

/* --- zsh ------------------------------------------------------------------- */

static void zsh_option(struct out *out, const struct option_row *row)
{
	out_text(out, " \\\n\t\t");
	if (row->letter)
		outf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", row->letter, row->name, row->letter,
		     row->value ? "+" : "", row->name, row->value ? "=" : "");
	else
		outf(out, "'--%s%s", row->name, row->value ? "=" : "");
	out_text(out, "[");
	write_quoted(out, row->text, "[]:\\");
	out_text(out, "]");
	if (row->value) {
		outf(out, ":%s:", row->value);
		if (value_is(row, "FILE"))
			out_text(out, "_files");
		else if (value_is(row, "DIR"))
			out_text(out, "_files -/");
		else if (value_is(row, "PID"))
			out_text(out, "_pids");
		else {
			out_text(out, "(");
			write_value_words(out, row);
			out_text(out, ")");
		}
	}
	out_text(out, "'");
}

static void write_zsh(struct out *out)
{
	const struct option_row *row;

	out_text(out, "#compdef sonde\n# zsh completion for sonde, made by: sonde completion zsh\n"
		      "_sonde()\n{\n\tif (( CURRENT == 2 )); then\n\t\tlocal -a names=(");
	for (u32 i = 0; i < command_count; i++) {
		outf(out, "\n\t\t\t'%s:", commands[i]->name);
		write_quoted(out, commands[i]->summary, "\\");
		out_text(out, "'");
	}
	out_text(out, ")\n\t\t_describe command names\n\t\treturn\n\tfi\n"
		      "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n"
		      "\tcase $command in\n");
	for (u32 i = 0; i < command_count; i++) {
		out_text(out, "\t");
		write_case_label(out, commands[i]);
		out_text(out, " _arguments -s");
		for (u32 j = 0; (row = options_row(commands[i], j)) != NULL; j++)
			zsh_option(out, row);
		if (commands[i]->takes_command) {
			out_text(out, " \\\n\t\t'*::command:_normal'");
		} else if (commands[i]->words) {
			out_text(out, " \\\n\t\t'*:word:(");
			write_list(out, commands[i]->words);
			out_text(out, ")'");
		}
		out_text(out, " ;;\n");
	}
	out_text(out, "\tesac\n}\n"
		      "if [ \"$funcstack[1]\" = _sonde ]; then _sonde \"$@\"; "
		      "else compdef _sonde sonde; fi\n");
}

/* --- fish ------------------------------------------------------------------ */

static void fish_option(struct out *out, const struct command *command,
			const struct option_row *row)
{
	outf(out, "complete -c sonde -n '__fish_seen_subcommand_from %s%s%s'", command->name,
	     command->alias ? " " : "", command->alias ? command->alias : "");
	if (row->letter)
		outf(out, " -s %c", row->letter);
	outf(out, " -l %s", row->name);
	if (value_is(row, "FILE"))
		out_text(out, " -r -F");
	else if (value_is(row, "DIR"))
		out_text(out, " -x -a '(__fish_complete_directories)'");
	else if (value_is(row, "PID"))
		out_text(out, " -x -a '(__fish_complete_pids)'");
	else if (row->value) {
		out_text(out, " -x -a '");
		write_value_words(out, row);
		out_text(out, "'");
	}
	out_text(out, " -d '");
	/* In fish a quote is escaped, not closed and opened. */
	for (const char *at = row->text; *at; at++)
		outf(out, "%s%c", *at == '\'' || *at == '\\' ? "\\" : "", *at);
	out_text(out, "'\n");
}

static void write_fish(struct out *out)
{
	const struct option_row *row;

	out_text(out,
		 "# fish completion for sonde, made by: sonde completion fish\n"
		 "complete -c sonde -f -n __fish_use_subcommand -l version -d 'say the version'\n");
	for (u32 i = 0; i < command_count; i++) {
		outf(out, "complete -c sonde -f -n __fish_use_subcommand -a %s -d '",
		     commands[i]->name);
		write_quoted(out, commands[i]->summary, "");
		out_text(out, "'\n");
		for (u32 j = 0; (row = options_row(commands[i], j)) != NULL; j++)
			fish_option(out, commands[i], row);
		if (!commands[i]->words)
			continue;
		outf(out, "complete -c sonde -f -n '__fish_seen_subcommand_from %s' -a '",
		     commands[i]->name);
		write_list(out, commands[i]->words);
		out_text(out, "'\n");
	}
}

void help_completion(enum shell shell, struct out *out)
{
	static void (*const write[])(struct out *) = {
		[SHELL_BASH] = write_bash,
		[SHELL_ZSH] = write_zsh,
		[SHELL_FISH] = write_fish,
	};

	write[shell](out);
}
