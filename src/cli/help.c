/* SPDX-License-Identifier: Apache-2.0
 * help.c - see help.h: the pages for a terminal. */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/value.h"

enum { TEXT_COLUMN = 26 };

const struct help_exit help_exits[] = {
	{ "0", "success; with a command: the command's own exit code" },
	{ "1", "failure: the message says why" },
	{ "2", "the command line is not valid" },
	{ "3", "the process was not found, or ended before a sample was taken" },
	{ "4", "permission denied: the message says what is missing and how to grant it" },
	{ "125", "sonde failed before the command was started" },
	{ "126", "the command cannot be run" },
	{ "127", "the command was not found" },
	{ "128+n", "the command was ended by signal n" },
	{ 0 },
};

void help_wrap(struct out *out, const char *head, const char *text, u32 indent)
{
	u32 column = (u32)strlen(head);
	bool is_first = true; /* of its line */

	out_text(out, head);
	for (; *text; text += *text != 0) {
		u32 length = (u32)strcspn(text, " \n");

		if (!length)
			continue;
		if (column + !is_first + length > HELP_WIDTH || (is_first && column >= indent)) {
			out_text(out, column ? "\n" : "");
			is_first = true;
			column = 0;
		}
		u32 gap = !is_first ? 1 : column < indent ? indent - column : 0;
		outf(out, "%*s%.*s", (int)gap, "", (int)length, text);
		column += gap + length;
		is_first = false;
		text += length;
	}
	out_text(out, "\n");
}

const char *help_default(const struct command *command, const struct option_row *row,
			 char text[static 32])
{
	text[0] = 0;
	if (!command->defaults || row->synonym)
		return text;
	const char *at = (const char *)command->defaults + row->at;
	if (row->kind == OPTION_NUMBER && *(const u32 *)at)
		snprintf(text, 32, "%u", *(const u32 *)at);
	if (row->kind == OPTION_CHOICE)
		value_choice(row->choices, *(const u32 *)at, text);
	if (row->kind == OPTION_DURATION && *(const u64 *)at)
		value_duration_text(*(const u64 *)at, text);
	return text;
}

void help_list(const struct option_row *row, char *out, size_t room)
{
	const char *word;

	out[0] = 0;
	for (u32 i = 0; row->list && (word = row->list(i)); i++) {
		size_t used = strlen(out);
		snprintf(out + used, room - used, "%s%s", i ? ", " : ": ", word);
	}
}

static void write_option(struct out *out, const struct command *command,
			 const struct option_row *row)
{
	char head[64], text[500], value[32], list[160];
	char letter[8] = "   ";

	if (row->letter)
		snprintf(letter, sizeof letter, "-%c,", row->letter);
	snprintf(head, sizeof head, "  %s --%s%s%s", letter, row->name, row->value ? "=" : "",
		 row->value ? row->value : "");
	const char *preset = help_default(command, row, value);
	help_list(row, list, sizeof list);
	snprintf(text, sizeof text, "%s%s%s%s%s", row->text, list, preset[0] ? " (default: " : "",
		 preset, preset[0] ? ")" : "");
	help_wrap(out, head, text, TEXT_COLUMN);
}

static void write_commands(struct out *out)
{
	out_text(out, "\nCommands:\n");
	for (u32 i = 0; i < command_count; i++)
		outf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
}

void help_short(const struct command *command, struct out *out)
{
	const struct option_row *row;
	bool is_top = command == &root_command;

	outf(out, "sonde%s%s: %s\n\n", is_top ? "" : " ", is_top ? "" : command->name,
	     command->summary);
	outf(out, "Usage: sonde %s%s%s\n", is_top ? "" : command->name, is_top ? "" : " ",
	     command->usage);
	if (is_top)
		write_commands(out);
	out_text(out, "\nOptions:\n");
	for (u32 i = 0; (row = options_row(command, i)) != NULL; i++)
		if (!row->synonym && row->kind != OPTION_IGNORED)
			write_option(out, command, row);
	outf(out, "\nMore: sonde help%s%s\n", is_top ? " COMMAND" : " ",
	     is_top ? "" : command->name);
}

void help_each_paragraph(const char *details, struct out *out, help_paragraph_fn *fn)
{
	while (details && *details) {
		const char *end = strstr(details, "\n\n");
		size_t length = end ? (size_t)(end - details) : strlen(details);

		fn(out, details, length);
		details += length;
		details += strspn(details, "\n");
	}
}

static void write_paragraph(struct out *out, const char *text, size_t length)
{
	char wrapped[2048];

	out_text(out, "\n");
	if (text[0] == ' ') {
		out_bytes(out, text, length);
		out_text(out, "\n");
	} else if (text[0] == '#') {
		outf(out, "%.*s:\n", (int)length - 2, text + 2);
	} else {
		snprintf(wrapped, sizeof wrapped, "%.*s", (int)length, text);
		help_wrap(out, "", wrapped, 0);
	}
}

void help_long(const struct command *command, struct out *out)
{
	help_short(command, out);
	help_each_paragraph(command->details, out, write_paragraph);
	out_text(out, "\nExit status:\n");
	for (const struct help_exit *row = help_exits; row->code; row++)
		outf(out, "  %-6s %s\n", row->code, row->text);
}
