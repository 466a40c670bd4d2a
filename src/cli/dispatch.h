/* SPDX-License-Identifier: Apache-2.0
 * dispatch.h - a command line is parsed by its command's table, then the command runs. */
#pragma once
#include "cli/command.h"

/* argv[0] is the command's name. Returns the exit code; everything has been said. */
int dispatch(const struct command *command, int argc, char **argv);
