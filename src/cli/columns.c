/* SPDX-License-Identifier: Apache-2.0
 * columns.c - see columns.h. */
#include "cli/columns.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"

u32 columns_of_output(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col)
		return COLUMNS_NO_TERMINAL;
	return size.ws_col < COLUMNS_LEAST ? COLUMNS_LEAST : size.ws_col;
}

/* The bytes of the first `columns` characters. */
static u32 clipped(const struct str *text, u32 columns)
{
	u32 at = 0;

	while (at < text->length && columns--) {
		u32 size = utf8_length(text->text + at, text->length - at);
		at += size ? size : 1;
	}
	return at;
}

void columns_put(struct out *out, const struct str *label, u32 columns)
{
	if (clipped(label, columns) >= label->length)
		outf(out, "%s\n", label->text);
	else
		outf(out, "%.*s...\n", (int)clipped(label, columns > 3 ? columns - 3 : 0),
		     label->text);
}
