/* SPDX-License-Identifier: Apache-2.0
 * record_run.h - from a process or a command to a profile in a file: what record and trace have in common.
 *
 *	check the words -> start the command, held -> open the file -> attach
 *	-> let the command go -> sample -> write -> wait for the command
 *
 * Everything that can be known to fail fails before the first sample; a command is
 * not run at all then.
 *
 * To write another: an options struct that begins with struct record_options, RECORD_FILE and RECORD_MORE in its
 * rows, and a call of record_run(). */
#pragma once
#include "cli/command.h"
#include "cli/record_output.h"
#include "cli/sampling.h"

struct record_options {
	struct sampling sampling;
	u64 duration_ns; /* 0: no end */
	const char *output, *format, *tape_dir, *quality;
	bool threads, weights, with_source, by_function, quiet;
};

/* clang-format off */
#define RECORD_AT(field) offsetof(struct record_options, field)

#define RECORD_FILE                                                                                 \
	{ 'd', "duration", "TIME", OPTION_DURATION, RECORD_AT(duration_ns), OPTION_ENDLESS,                         \
	  .text = "stop after this long: 30, 30s, 5m, 1.5s, 200ms" },                               \
	{ 'o', "output", "FILE", OPTION_TEXT, RECORD_AT(output),                                    \
	  .text = "the output; \"-\" is standard output (default: sonde-PID-TIME.sonde)" },         \
	{ 'f', "format", "FORMAT", OPTION_TEXT, RECORD_AT(format), .list = record_output_formats,   \
	  .text = "the output's format (default: from FILE's extension; folded for \"-\")" }

#define RECORD_ALL                                                                                  \
	{ 'a', "all", NULL, OPTION_FLAG, RECORD_AT(sampling.all),                                   \
	  .text = "every process of the machine (-e kernel)" },                                     \
	{ 0, "cgroup", "PATH", OPTION_TEXT, RECORD_AT(sampling.cgroup),                             \
	  .text = "every process in this cgroup or below it (-e kernel)" }

#define RECORD_MORE                                                                                 \
	{ 'T', "threads", NULL, OPTION_FLAG, RECORD_AT(threads),                                    \
	  .text = "\"thread NAME (TID)\" at the root of each stack (folded, svg, callgrind)" },                              \
	{ 'F', "function", NULL, OPTION_FLAG, RECORD_AT(by_function),                               \
	  .text = "record functions, by their first line, instead of lines" },           \
	{ 0, "with-source", NULL, OPTION_FLAG, RECORD_AT(with_source),                              \
	  .text = "keep the text of the source files too, for the page" },                          \
	{ 0, "quality", "FILE", OPTION_TEXT, RECORD_AT(quality),                                    \
	  .text = "also write what was expected, taken and lost, as JSON" },                        \
	{ 'q', "quiet", NULL, OPTION_FLAG, RECORD_AT(quiet), .text = "say nothing unless it goes wrong" }
/* clang-format on */

/* The exit code. `name` is the sub-command's; `command` NULL: none was given; `events` NULL: the clock says when to look. */
int record_run(const char *name, const struct record_options *given,
	       const struct session_events *events, char **command);
