/* SPDX-License-Identifier: Apache-2.0
 * utf8.h - is this UTF-8? Names come from foreign memory and may be anything; and characters as UTF-8. */
#pragma once
#include "base/types.h"

/* Bytes of the well-formed character at `text` (Unicode 15, table 3-7: no surrogates, no overlong
 * forms), or 0. */
u32 utf8_length(const char *text, size_t length);
/* How much of `text` fits into `room` bytes without the first part of a character at the end; what is not UTF-8 is cut anywhere. */
size_t utf8_cut(const char *text, size_t length, size_t room);
/* Writes a character below 0x110000, a surrogate like any other; the bytes used. */
u32 utf8_encode(u32 character, char out[static 4]);
