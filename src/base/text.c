/* SPDX-License-Identifier: Apache-2.0
 * text.c - see text.h. */
#include "base/text.h"

#include <string.h>

#include "base/utf8.h"

/* The character of a well-formed sequence. */
static u32 code_of(const u8 *at, u32 length)
{
	u32 code = length == 1 ? at[0] : at[0] & (0x7fu >> length);

	for (u32 i = 1; i < length; i++)
		code = code << 6 | (at[i] & 0x3f);
	return code;
}

static bool is_plain(u32 code, char separator)
{
	if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) /* C1 too: U+009B starts an escape */
		return false;
	if (separator && code == (u8)separator)
		return false;
	if (code >= 0x2028 && code <= 0x202e) /* line, paragraph; embeddings and overrides */
		return false;
	return code < 0x2066 || code > 0x2069; /* isolates */
}

void text_add_safe(struct str *out, const char *bytes, size_t length, char separator)
{
	const u8 *at = (const u8 *)(length ? bytes : ""), *end = at + length, *plain = at;

	while (at < end) {
		u32 size = utf8_length((const char *)at, (size_t)(end - at));
		bool is_escape = *at == '\\' && at + 1 < end && (at[1] == 'x' || at[1] == 'n');

		if (size && is_plain(code_of(at, size), separator) && !is_escape) {
			at += size;
			continue;
		}
		str_add(out, plain, (size_t)(at - plain));
		if (*at == '\n')
			str_add_text(out, "\\n");
		else
			for (u32 i = 0; i < (size ? size : 1); i++)
				str_addf(out, "\\x%02x", at[i]);
		at += size ? size : 1;
		plain = at;
	}
	str_add(out, plain, (size_t)(at - plain));
}
