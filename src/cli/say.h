/* SPDX-License-Identifier: Apache-2.0
 * say.h - what sonde says to the person in front of it: one line each, on standard error.
 *
 * Standard output is for data alone.  Warnings and failures are always said; notes
 * only when nobody asked for quiet.  A line that a progress line stands in front of
 * clears it first. */
#pragma once
#include "base/out.h"
#include "cli/command.h"

/* With quiet, say_note() says nothing. */
void say_set_quiet(bool quiet);
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Lines of a table, without a word in front. */
void say_lines(const char *lines);
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "sonde: record: text"; `where` may be NULL. Returns the exit code that goes with the error. */
int say_failure(const char *where, const struct err *err);
/* A command line that makes no sense: the line, and where the help is. Returns EXIT_USAGE. */
int say_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
int say_unknown_command(const char *name);
/* Closes what was written to standard output. A reader that had enough (head) is no failure to
 * speak of; the exit code tells. */
int say_close(struct out *out, const char *command);

/* The line, or lines, that are written over and over, on a terminal only; "" clears them. */
void say_status(const char *lines);
/* Is standard error a terminal that can write over a line? */
bool say_has_terminal(void);

/* May this format go to standard output? Not if that is a terminal, and it is binary or a page. */
bool say_may_print(const char *format, struct err *err);

/* Bytes of a foreign process, for a terminal: control characters and what is no UTF-8 become
 * visible escapes, so that a method's name cannot move the cursor. */
void say_foreign(struct out *out, const char *text, size_t length);
