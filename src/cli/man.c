/* SPDX-License-Identifier: Apache-2.0
 * man.c - see help.h: the man page, in the macros of man(7), which groff and mandoc share.
 *
 * A dash is written "\-" so that options can be copied from the page, and a line that
 * would begin with a dot or a quote is guarded by "\&": those begin requests. */
#include "cli/help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"

static void roff(struct out *out, const char *text, size_t length)
{
	bool starts_line = true;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (starts_line && (c == '.' || c == '\''))
			out_text(out, "\\&");
		if (c == '-')
			out_text(out, "\\-");
		else if (c == '\\')
			out_text(out, "\\e");
		else
			out_bytes(out, &c, 1);
		starts_line = c == '\n';
	}
}

static void roff_text(struct out *out, const char *text)
{
	roff(out, text, strlen(text));
}

static void roff_option(struct out *out, const struct command *command,
			const struct option_row *row)
{
	char preset[32], list[160];

	out_text(out, ".TP\n");
	if (row->letter)
		outf(out, "\\fB\\-%c\\fR, ", row->letter);
	out_text(out, "\\fB\\-\\-");
	roff_text(out, row->name);
	out_text(out, "\\fR");
	if (row->value) {
		out_text(out, "=\\fI");
		roff_text(out, row->value);
		out_text(out, "\\fR");
	}
	out_text(out, "\n");
	if (row->kind == OPTION_IGNORED)
		out_text(out, "accepted, and does nothing");
	if (row->kind == OPTION_IGNORED && row->text[0])
		out_text(out, ": ");
	roff_text(out, row->text);
	help_list(row, list, sizeof list);
	roff_text(out, list);
	if (help_default(command, row, preset)[0])
		outf(out, " (default: %s)", preset);
	out_text(out, "\n");
}

static bool is_foreign(const struct option_row *row)
{
	return row->synonym || row->kind == OPTION_IGNORED;
}

static void roff_options(struct out *out, const struct command *command, bool foreign)
{
	const struct option_row *row;

	for (u32 i = 0; (row = options_row(command, i)) != NULL; i++)
		if (is_foreign(row) == foreign)
			roff_option(out, command, row);
}

static bool has_foreign(const struct command *command)
{
	const struct option_row *row;

	for (u32 i = 0; (row = options_row(command, i)) != NULL; i++)
		if (is_foreign(row))
			return true;
	return false;
}

static void roff_paragraph(struct out *out, const char *text, size_t length)
{
	if (text[0] == '#') {
		outf(out, ".SS %.*s\n", (int)length - 2, text + 2);
		return;
	}
	out_text(out, text[0] == ' ' ? ".PP\n.nf\n" : ".PP\n");
	roff(out, text, length);
	out_text(out, text[0] == ' ' ? "\n.fi\n" : "\n");
}

static void roff_exit_status(struct out *out)
{
	for (const struct help_exit *row = help_exits; row->code; row++) {
		outf(out, ".TP\n.B %s\n", row->code);
		roff_text(out, row->text);
		out_text(out, "\n");
	}
}

static void roff_commands(struct out *out, const struct command *self)
{
	bool is_top = self == &root_command;

	out_text(out, is_top ? ".SH COMMANDS\n" : ".SH SEE ALSO\n.BR sonde (1)");
	for (u32 i = 0; i < command_count; i++) {
		if (is_top)
			outf(out, ".TP\n.BR sonde\\-%s (1)\n%s\n", commands[i]->name,
			     commands[i]->summary);
		else if (commands[i] != self)
			outf(out, ",\n.BR sonde\\-%s (1)", commands[i]->name);
	}
	out_text(out, is_top ? "" : "\n");
}

void help_man(const struct command *command, struct out *out)
{
	bool is_top = command == &root_command;
	const char *name = is_top ? "" : command->name;

	out_text(out, ".TH SONDE");
	for (const char *at = name; *at; at++)
		outf(out, "%s%c", at == name ? "\\-" : "", toupper((unsigned char)*at));
	outf(out, " 1 \"\" \"sonde %s\" \"sonde\"\n", SONDE_VERSION);
	outf(out, ".SH NAME\nsonde%s%s \\- %s\n", is_top ? "" : "\\-", name, command->summary);
	outf(out, ".SH SYNOPSIS\n.B sonde%s%s\n", is_top ? "" : " ", name);
	roff_text(out, command->usage);
	out_text(out, "\n.SH DESCRIPTION\n");
	help_each_paragraph(command->details, out, roff_paragraph);
	if (is_top)
		roff_commands(out, command);
	out_text(out, ".SH OPTIONS\n");
	roff_options(out, command, false);
	if (has_foreign(command)) {
		out_text(out, ".SS Spellings of other profilers\n");
		roff_options(out, command, true);
	}
	out_text(out, ".SH EXIT STATUS\n");
	roff_exit_status(out);
	if (!is_top)
		roff_commands(out, command);
}
