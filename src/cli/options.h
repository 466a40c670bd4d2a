/* SPDX-License-Identifier: Apache-2.0
 * options.h - words of a command line into a command's options struct, by its table.
 *
 * getopt_long does the splitting, so that everything people know works: -r99, -r 99,
 * --rate=99, --rate 99, unambiguous prefixes (--du 5), letters in one word, "--".
 * An option given twice counts as given last. */
#pragma once
#include "base/str.h"
#include "cli/command.h"

struct options_parsed {
	bool help;        /* -h: the rest was not looked at */
	int rest;         /* argv[rest] is the first word behind the options */
	struct str notes; /* lines about options that are accepted and do nothing */
};

enum { OPTIONS_MAX = 64 }; /* rows of a table, common ones included */

/* `out` has command->options_size bytes and is set to the defaults first. argv is permuted, except
 * for a command that takes_command. A failure names the option, what was given and what is
 * allowed. The caller frees parsed->notes. */
bool options_parse(const struct command *command, int argc, char **argv, void *out,
		   struct options_parsed *parsed, struct err *err);

/* The options that every command has. Ends with name NULL. */
extern const struct option_row options_common[];
/* The nth option of a command, the common ones behind its own; NULL past the last. */
const struct option_row *options_row(const struct command *command, u32 index);
/* Does the option take a value? */
bool options_has_value(const struct option_row *row);
