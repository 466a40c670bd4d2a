/* SPDX-License-Identifier: Apache-2.0
 * command.h - a sub-command is one const struct in one file.
 *
 * To add one: cmd_<name>.c with the struct, named in meson.build, one line in commands.h, and its name in
 * docs/meson.build, which installs the man page. Help, man page and shell completion are printed from the option table. */
#pragma once
#include "base/err.h"
#include "base/types.h"

enum option_kind {
	OPTION_FLAG,   /* bool, set */
	OPTION_NUMBER, /* u32 within [low, high] */
	OPTION_TEXT,   /* const char * */
	OPTION_CHOICE, /* u32: index in `choices`: "a,b|c,d" has three, and the second two spellings */
	OPTION_PRESET,   /* u32, set to `low`: a flag that stands for "--other=value" */
	OPTION_DURATION, /* u64 ns: "30", "30s", "5m", "1.5s", "200ms" */
	OPTION_IGNORED, /* accepted for users of other profilers; `text` is said as a note, "" is silent */
};

/* A row's `low`, of kinds that have no numbers: */
enum {
	OPTION_NO_DASH =
		1, /* a text that does not begin with "-": that is the next option, and a value is missing */
	OPTION_ENDLESS = 1, /* a duration that may be "unlimited": 0 */
	OPTION_MOMENT = 2,  /* one since a beginning: it may be 0 */
};

struct option_row {
	char letter; /* 0: none */
	const char *name;
	const char *value; /* "PID" in the help; NULL for a flag */
	enum option_kind kind;
	size_t at; /* offsetof in the command's options struct */
	u32 low, high;
	const char *choices;
	const char *text;
	/* The words that a text may be, until NULL, where another table knows them: for help and
	 * completion. The command itself checks. */
	const char *(*list)(u32 index);
	bool synonym; /* another profiler's spelling: works, and only the man page shows it */
};

struct command {
	const char *name;
	const char *alias;                /* NULL: none */
	const char *summary;              /* one line */
	const char *usage;                /* "[-p PID | -- CMD...]" */
	const char *details;              /* paragraphs for the man page */
	const struct option_row *options; /* ends with name NULL */
	const void *defaults;             /* an options struct; NULL: all zero */
	size_t options_size;
	bool takes_command; /* the first word that is no option begins a command line of its own */
	const char *(*words)(u32 index); /* what `rest` may be, for completion; NULL: anything */
	/* `rest` are the words behind the options. Returns the exit code. */
	int (*run)(void *options, int rest_count, char **rest);
};

/* Exit codes, as the man page has them. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_GONE = 3, /* the target was not there, or ended before a sample */
	EXIT_NO_ACCESS = 4,
	EXIT_PROFILER = 125, /* sonde failed before the command was started */
	EXIT_NOT_RUNNABLE = 126,
	EXIT_NOT_FOUND = 127,
};
