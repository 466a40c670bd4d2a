/* SPDX-License-Identifier: Apache-2.0
 * cursor.c - the readers with loops. */
#include "base/cursor.h"

u64 cursor_uleb(struct cursor *c)
{
	u64 value = 0;

	for (u32 shift = 0; shift < 70; shift += 7) {
		u8 byte = cursor_u8(c);
		if (shift < 64)
			value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->bad = true;
	return 0;
}

s64 cursor_sleb(struct cursor *c)
{
	u64 value = 0;

	for (u32 shift = 0; shift < 70;) {
		u8 byte = cursor_u8(c);
		if (shift < 64)
			value |= (u64)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if (shift < 64 && (byte & 0x40))
				value |= ~(u64)0 << shift;
			return (s64)value;
		}
	}
	c->bad = true;
	return 0;
}

const char *cursor_text(struct cursor *c)
{
	size_t left = cursor_left(c);
	const u8 *nul = left ? memchr(c->at, 0, left) : NULL;

	if (!nul) {
		c->bad = true;
		return "";
	}
	const char *text = (const char *)c->at;
	c->at = nul + 1;
	return text;
}
