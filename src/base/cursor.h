/* SPDX-License-Identifier: Apache-2.0
 * cursor.h - parsing bytes that somebody else wrote.
 *
 * Past the end, every read yields zero and `bad` stays set: a parser is
 * straight-line code with one check per record.  Loops must be bounded by a
 * length that was checked, or test `bad`. Little-endian. */
#pragma once
#include "base/types.h"
#include <string.h>

struct cursor {
	const u8 *at;
	const u8 *end;
	bool bad;
};

static inline struct cursor cursor_make(const void *bytes, size_t length)
{
	/* NULL is nothing, and has no place behind it. */
	return (struct cursor){ .at = bytes, .end = length ? (const u8 *)bytes + length : bytes };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->bad ? 0 : (size_t)(c->end - c->at);
}

/* `length` bytes, or NULL. */
static inline const void *cursor_take(struct cursor *c, size_t length)
{
	if (cursor_left(c) < length) {
		c->bad = true;
		return NULL;
	}
	c->at += length;
	return c->at - length;
}

static inline void cursor_copy(struct cursor *c, void *out, size_t length)
{
	const void *bytes = cursor_take(c, length);
	if (bytes)
		memcpy(out, bytes, length);
	else
		memset(out, 0, length);
}

#define CURSOR_READER(type)                                \
	static inline type cursor_##type(struct cursor *c) \
	{                                                  \
		type value;                                \
		cursor_copy(c, &value, sizeof value);      \
		return value;                              \
	}
CURSOR_READER(u8)
CURSOR_READER(u16)
CURSOR_READER(u32)
CURSOR_READER(u64)
#undef CURSOR_READER

/* LEB128, unsigned; more than 10 bytes is bad. */
u64 cursor_uleb(struct cursor *c);
s64 cursor_sleb(struct cursor *c);
/* A NUL-terminated string inside the bytes, or "" and bad. */
const char *cursor_text(struct cursor *c);
