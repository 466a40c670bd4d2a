/* SPDX-License-Identifier: Apache-2.0
 * notes.c - see notes.h. */
#include "events/notes.h"

#include <string.h>

enum { NOTE_TYPE = 3 };

static u64 word_at(const u8 *at, u32 size)
{
	u64 word = 0;

	memcpy(&word, at, size);
	return word;
}

static size_t aligned(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

bool notes_next(const u8 *bytes, size_t size, size_t *at, struct note_probe *out)
{
	*out = (struct note_probe){ 0 };
	if (size - *at < 12)
		return false;
	size_t name = word_at(bytes + *at, 4), length = word_at(bytes + *at + 4, 4);
	u64 type = word_at(bytes + *at + 8, 4);
	size_t begin = *at + 12 + aligned(name);
	if (name > size || length > size || begin > size || length > size - begin)
		return false;
	*at = begin + aligned(length) < size ? begin + aligned(length) : size;
	const u8 *note = bytes + begin;
	if (type != NOTE_TYPE || length < 24 + 3 || note[length - 1])
		return true;
	out->pc = word_at(note, 8);
	out->base = word_at(note + 8, 8);
	out->semaphore = word_at(note + 16, 8);
	const char *provider = (const char *)note + 24, *end = (const char *)note + length;
	const char *second = provider + strlen(provider) + 1;
	if (second < end) {
		out->provider = provider;
		out->name = second;
	}
	return true;
}
