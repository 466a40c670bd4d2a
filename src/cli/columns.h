/* SPDX-License-Identifier: Apache-2.0
 * columns.h - text that fits a terminal. */
#pragma once
#include <wchar.h>

#include "base/out.h"
#include "base/str.h"

enum {
	COLUMNS_LEAST = 60,        /* narrower ones wrap */
	COLUMNS_NO_TERMINAL = 160, /* of a file or a pipe */
};

/* Of standard output, at least COLUMNS_LEAST. */
u32 columns_of_output(void);
/* By the locale's characters (setlocale(3), LC_CTYPE): where the environment names none, by those of UTF-8. */
void columns_begin(void);
/* Moves on behind the next character of a text that is not over; how many columns it takes: 0 for an accent, 2 for a wide one.
 * What the locale cannot show is a question mark. */
u32 columns_next(const char **at, const char *end, wchar_t *out);
u32 columns_of(const char *text, size_t length);
/* The label and a newline; where it is wider than `columns`, "..." stands for its end: the path is last,
 * the name stays. */
void columns_put(struct out *out, const struct str *label, u32 columns);
