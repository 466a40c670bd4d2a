/* SPDX-License-Identifier: Apache-2.0
 * load_file.h - the profile that a command is given as a word: loaded, and what is missing of it said. */
#pragma once
#include "cli/command.h"
#include "profile/load.h"

enum { LOAD_TIMELINE_CELLS = 4 << 20 }; /* 48 MiB: when samples were taken, for those who show it */

/* The options that every command has which reads a profile; `type` is its options struct, with a
 * field `load` of struct load_options. */
#define LOAD_OPTIONS(type)                                                                   \
	{ 't',                                                                               \
	  "thread",                                                                          \
	  "TID|NAME",                                                                        \
	  OPTION_TEXT,                                                                       \
	  offsetof(struct type, load.thread),                                                \
	  .text = "only this thread" },                                                      \
		{ 0,                                                                         \
		  "from",                                                                    \
		  "TIME",                                                                    \
		  OPTION_DURATION,                                                           \
		  offsetof(struct type, load.from_ns),                                       \
		  OPTION_MOMENT,                                                             \
		  .text = "only what came this long after the start, or later: 10s, 1.5m" }, \
	{                                                                                    \
		0, "to", "TIME", OPTION_DURATION, offsetof(struct type, load.to_ns),         \
			.text = "only what came before this"                                 \
	}

/* EXIT_OK, or the exit code of a failure that was said. Free the profile in both cases. */
int load_file(const char *command, const char *path, const struct load_options *options,
	      struct profile *profile);
/* Is the output one of the files that are read? If so that is said. */
bool load_would_be_lost(const char *command, char **paths, u32 count, const char *output);
