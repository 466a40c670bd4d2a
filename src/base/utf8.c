/* SPDX-License-Identifier: Apache-2.0
 * utf8.c - see utf8.h. */
#include "base/utf8.h"

/* First byte, number of bytes, and the range of the second, which is where the overlong forms,
 * the surrogates and what is past U+10FFFF differ from the rest. */
static const struct {
	u8 first, last, length, low, high;
} forms[] = {
	{ 0x00, 0x7f, 1, 0, 0 },       { 0xc2, 0xdf, 2, 0x80, 0xbf }, { 0xe0, 0xe0, 3, 0xa0, 0xbf },
	{ 0xe1, 0xec, 3, 0x80, 0xbf }, { 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 0xf0, 4, 0x90, 0xbf }, { 0xf1, 0xf3, 4, 0x80, 0xbf }, { 0xf4, 0xf4, 4, 0x80, 0x8f },
};

u32 utf8_length(const char *text, size_t length)
{
	const u8 *bytes = (const u8 *)text;

	for (u32 i = 0; length && i < COUNT_OF(forms); i++) {
		if (bytes[0] < forms[i].first || bytes[0] > forms[i].last)
			continue;
		if (forms[i].length > length)
			return 0;
		if (forms[i].length > 1 && (bytes[1] < forms[i].low || bytes[1] > forms[i].high))
			return 0;
		for (u32 j = 2; j < forms[i].length; j++)
			if ((bytes[j] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

size_t utf8_cut(const char *text, size_t length, size_t room)
{
	if (length <= room)
		return length;
	for (size_t back = 0; back < 4 && back <= room; back++) {
		size_t at = room - back;
		if (((u8)text[at] & 0xc0) != 0x80)
			return utf8_length(text + at, length - at) > back ? at : room;
	}
	return room;
}

u32 utf8_encode(u32 character, char out[static 4])
{
	u32 length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

	if (length == 1) {
		out[0] = (char)character;
		return 1;
	}
	for (u32 i = length; i-- > 1; character >>= 6)
		out[i] = (char)(0x80 | (character & 0x3f));
	out[0] = (char)((0xf00u >> length) | character);
	return length;
}
