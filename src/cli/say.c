/* SPDX-License-Identifier: Apache-2.0
 * say.c - see say.h. */
#include "cli/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/commands.h"
#include "base/text.h"

static struct {
	bool quiet;
	bool status;     /* a status stands on the terminal */
	u32 status_rows; /* of it, above the last */
} state;

void say_set_quiet(bool quiet)
{
	state.quiet = quiet;
}

static void clear_status(void)
{
	if (state.status_rows)
		fprintf(stderr, "\033[%uA", state.status_rows);
	if (state.status)
		fputs("\r\033[J", stderr);
	state.status = false;
	state.status_rows = 0;
}

/* One write a line, because the command that is recorded writes to the same terminal. */
static void say_line(const char *prefix, const char *format, va_list args)
{
	char line[1024];

	clear_status();
	vsnprintf(line, sizeof line, format, args);
	fprintf(stderr, "sonde: %s%s\n", prefix, line);
}

void say_note(const char *format, ...)
{
	va_list args;

	if (state.quiet)
		return;
	va_start(args, format);
	say_line("", format, args);
	va_end(args);
}

void say_lines(const char *lines)
{
	if (state.quiet)
		return;
	clear_status();
	fprintf(stderr, "%s\n", lines);
}

void say_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("warning: ", format, args);
	va_end(args);
}

static int exit_code(enum err_code code)
{
	switch (code) {
	case ERR_USAGE:
		return EXIT_USAGE;
	case ERR_NO_PROCESS:
		return EXIT_GONE;
	case ERR_PERMISSION:
		return EXIT_NO_ACCESS;
	default:
		return EXIT_FAILED;
	}
}

int say_failure(const char *where, const struct err *err)
{
	clear_status();
	fprintf(stderr, "sonde: %s%s%s\n", where ? where : "", where ? ": " : "", err->text);
	if (err->code == ERR_USAGE)
		fprintf(stderr, "sonde: try: sonde %s%s-h\n", where ? where : "", where ? " " : "");
	return exit_code(err->code);
}

int say_usage(const char *command, const char *format, ...)
{
	struct err err = { .code = ERR_USAGE };
	va_list args;

	va_start(args, format);
	vsnprintf(err.text, sizeof err.text, format, args);
	va_end(args);
	return say_failure(command, &err);
}

int say_unknown_command(const char *name)
{
	const char *nearest = command_nearest(name);

	return say_usage(NULL, "there is no command \"%.80s\"%s%s%s", name,
			 nearest ? ": did you mean \"" : "", nearest ? nearest : "",
			 nearest ? "\"?" : "");
}

int say_close(struct out *out, const char *command)
{
	struct err err = { 0 };

	if (out_close(out, &err))
		return EXIT_OK;
	if (err.errnum != EPIPE)
		say_failure(command, &err);
	return EXIT_FAILED;
}

bool say_may_print(const char *format, struct err *err)
{
	static const char *const not_text[] = { "sonde", "html", "pprof", "otlp" };

	for (u32 i = 0; i < COUNT_OF(not_text) && isatty(STDOUT_FILENO); i++)
		if (!strcmp(not_text[i], format))
			return err_set(err, ERR_USAGE,
				       "%s is not for a terminal: name a file with -o", format);
	return true;
}

bool say_has_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void say_status(const char *lines)
{
	struct winsize size = { .ws_col = 80 };

	if (state.quiet || !say_has_terminal())
		return;
	if (!lines[0]) {
		clear_status();
		return;
	}
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col)
		size.ws_col = 80;
	u32 above = state.status_rows, rows = 0;
	fputs("\r", stderr);
	if (above)
		fprintf(stderr, "\033[%uA", above);
	for (const char *at = lines;; rows++) {
		/* One column less: a full line makes some terminals wrap. The text is ASCII. */
		int length = (int)strcspn(at, "\n"), most = size.ws_col - 1;
		fprintf(stderr, "%.*s\033[K", length < most ? length : most, at);
		at += length;
		if (!*at++)
			break;
		fputs("\n", stderr);
	}
	if (above > rows)
		fputs("\033[J", stderr);
	fflush(stderr);
	state.status = true;
	state.status_rows = rows;
}

void say_foreign(struct out *out, const char *text, size_t length)
{
	struct str safe = { 0 };

	text_add_safe(&safe, text, length, 0);
	out_bytes(out, safe.text, safe.length);
	str_free(&safe);
}
