/* SPDX-License-Identifier: Apache-2.0
 * help.h - what a command is and takes, said four ways from its one table.
 *
 *	help_short       -h: usage and options, a screen
 *	help_long        sonde help CMD: the details too
 *	help_man         a man page, in man(7) macros
 *	help_completion  bash, zsh and fish
 *
 * Details are paragraphs parted by empty lines: "# WORDS" heads a section, a
 * paragraph that begins with a space stands as it is, the rest is wrapped. */
#pragma once
#include "base/out.h"
#include "cli/command.h"

enum { HELP_WIDTH = 80 };

void help_short(const struct command *command, struct out *out);
void help_long(const struct command *command, struct out *out);
void help_man(const struct command *command, struct out *out);

enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH };
#define SHELLS "bash,zsh,fish"
void help_completion(enum shell shell, struct out *out);

/* `head`, then `text` from column `indent` on, in lines of at most HELP_WIDTH. */
void help_wrap(struct out *out, const char *head, const char *text, u32 indent);
/* How a row's default reads: "99", "cpu"; "" when it has none. */
const char *help_default(const struct command *command, const struct option_row *row,
			 char text[static 32]);
/* ": sonde, html, pprof", the words that the option takes; "" when it has no list. */
void help_list(const struct option_row *row, char *out, size_t room);
/* Calls `fn` for each paragraph of the details. */
typedef void help_paragraph_fn(struct out *out, const char *text, size_t length);
void help_each_paragraph(const char *details, struct out *out, help_paragraph_fn *fn);
/* Exit codes, as every page has them; ends with code NULL. */
struct help_exit {
	const char *code, *text;
};
extern const struct help_exit help_exits[];
