/* SPDX-License-Identifier: Apache-2.0
 * str.h - a growing byte string, always NUL-terminated, that remembers a failure.
 *
 * After a failed allocation `bad` stays set and the text stays as it was: write
 * many pieces, check once. */
#pragma once
#include "base/types.h"

struct str {
	char *text; /* "" when empty, never NULL after the first call */
	u32 length; /* bytes, without the NUL; the text may hold NULs of its own */
	u32 room;
	bool bad;
};

void str_add(struct str *str, const void *bytes, size_t length);
void str_add_text(struct str *str, const char *text);
void str_addf(struct str *str, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Keeps the buffer for the next use. */
void str_clear(struct str *str);
void str_free(struct str *str);
