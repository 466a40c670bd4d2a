/* SPDX-License-Identifier: Apache-2.0
 * commands.h - the sub-commands, one line each; the order is the order in the help. */
#pragma once
#include "cli/command.h"

#define COMMANDS(C) \
	C(record)   \
	C(trace)    \
	C(top)      \
	C(report)   \
	C(export)   \
	C(diff)     \
	C(dump)     \
	C(doctor)   \
	C(audit)    \
	C(help)     \
	C(completion)

extern const struct command *const commands[];
extern const u32 command_count;
/* By name or alias; NULL: none. */
const struct command *command_named(const char *name);
/* The sub-command that was probably meant; NULL: no idea. */
const char *command_nearest(const char *name);
/* Names in order, then NULL: a list for option tables. */
const char *command_list(u32 index);
/* sonde itself: the options before the sub-command, as a row of the same kind. */
extern const struct command root_command;
