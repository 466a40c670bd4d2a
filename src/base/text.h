/* SPDX-License-Identifier: Apache-2.0
 * text.h - foreign bytes as printable UTF-8 that can be turned back.
 *
 * Names come from other people's programs: a method may be called "a;b\n", "\xff" or
 * "ESC[2J".  What is shown or written as text goes through here once.
 *
 *	newline                                     \n
 *	control bytes (C0, DEL, C1), invalid UTF-8,
 *	line and paragraph separators, characters
 *	that turn the direction of writing,
 *	the format's separator                      \xNN for each byte
 *	a backslash before x or n                   \x5c
 *
 * Everything else, other backslashes too, stays as it is, so that reading \n and \xNN
 * back gives the exact bytes. */
#pragma once
#include "base/str.h"

/* `separator` is one ASCII character that the format needs for itself, or 0. */
void text_add_safe(struct str *out, const char *bytes, size_t length, char separator);
