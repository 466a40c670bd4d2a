/* SPDX-License-Identifier: Apache-2.0
 * label.h - a frame as one line of text, the same everywhere: files, terminal, page.
 *
 *	label (path:line)    code of a runtime; without ":line" where the line is unknown
 *	label                a function of a runtime that is written in C
 *	symbol [native]      machine code
 *	symbol [inlined]     the same, in that of its caller
 *	symbol [kernel]
 *	[moving] ...         marks, see marks.c
 *
 * Foreign bytes are made safe (base/text.h); `separator` is a character that the format needs for
 * itself, or 0. */
#pragma once
#include "base/str.h"
#include "sample/names.h"

void label_location(struct str *out, const struct names *names, u32 location, char separator);
/* With the place of the call, for what has no line of its own: "deflate at app.rb:12"; site 0: none. A native function's own
 * line stands there, too: "main [native] at app.c:7". */
void label_line(struct str *out, const struct names *names, u32 location, u32 site, char separator);
/* As code is found in an editor: with the line where it begins. */
void label_function(struct str *out, const struct names *names, u32 function, char separator);
void label_string(struct str *out, const struct names *names, u32 string, char separator);
