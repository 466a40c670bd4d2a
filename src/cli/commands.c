/* SPDX-License-Identifier: Apache-2.0
 * commands.c - commands.h as an array, and looking one up. */
#include "cli/commands.h"

#include <string.h>

#include "cli/suggest.h"

#define C(name) extern const struct command name##_command;
COMMANDS(C)
#undef C

const struct command *const commands[] = {
#define C(name) &name##_command,
	COMMANDS(C)
#undef C
};
const u32 command_count = COUNT_OF(commands);

const struct command *command_named(const char *name)
{
	for (u32 i = 0; i < command_count; i++) {
		const struct command *c = commands[i];

		if (!strcmp(c->name, name) || (c->alias && !strcmp(c->alias, name)))
			return c;
	}
	return NULL;
}

const char *command_nearest(const char *name)
{
	struct suggest suggest = suggest_make(name);

	for (u32 i = 0; i < command_count; i++) {
		suggest_consider(&suggest, commands[i]->name);
		suggest_consider(&suggest, commands[i]->alias);
	}
	return suggest.best;
}

const char *command_list(u32 index)
{
	return index < command_count ? commands[index]->name : NULL;
}
