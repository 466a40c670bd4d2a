/* SPDX-License-Identifier: Apache-2.0
 * columns.c - see columns.h. */
#include "cli/columns.h"

#include <locale.h>
#include <stdlib.h>
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

void columns_begin(void)
{
	setlocale(LC_CTYPE, "");
	if (MB_CUR_MAX == 1)
		setlocale(LC_CTYPE,
			  "C.UTF-8"); /* names are UTF-8, and a file or a pipe takes them */
}

u32 columns_next(const char **at, const char *end, wchar_t *out)
{
	u32 size = utf8_length(*at, (size_t)(end - *at));
	const u8 *bytes = (const u8 *)*at;
	u32 code = size == 1 ? bytes[0] : size ? bytes[0] & (0x7fu >> size) : '?';

	for (u32 i = 1; i < size; i++)
		code = code << 6 | (bytes[i] & 0x3f);
	*at += size ? size : 1;
	bool narrow = code >= 0x80 && MB_CUR_MAX == 1; /* the locale is of ASCII */
	int columns = narrow ? -1 : wcwidth((wchar_t)code);
	*out = columns < 0 ? L'?' : (wchar_t)code;
	return columns < 0 ? 1 : (u32)columns;
}

u32 columns_of(const char *text, size_t length)
{
	const char *end = text + length;
	u32 columns = 0;
	wchar_t unused;

	while (text < end)
		columns += columns_next(&text, end, &unused);
	return columns;
}

/* The bytes of what fits in so many columns. */
static u32 clipped(const struct str *text, u32 columns)
{
	const char *at = text->text, *end = at + text->length, *fits = at;
	wchar_t unused;
	u32 used = 0;

	while (at < end && (used += columns_next(&at, end, &unused)) <= columns)
		fits = at;
	return (u32)(fits - text->text);
}

void columns_put(struct out *out, const struct str *label, u32 columns)
{
	if (clipped(label, columns) >= label->length)
		outf(out, "%s\n", label->text);
	else
		outf(out, "%.*s...\n", (int)clipped(label, columns > 3 ? columns - 3 : 0),
		     label->text);
}
