/* SPDX-License-Identifier: Apache-2.0
 * text.c - see text.h. */
#include "export/text.h"

#include <string.h>

/* The bytes of the character at `at`, 0 when it is not UTF-8 (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
static u32 utf8_length(const u8 *at, size_t left, u32 *code)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	u32 length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;

	if (!length || length > left || at[0] > 0xf4)
		return 0;
	*code = length == 1 ? at[0] : at[0] & (0x7fu >> length);
	for (u32 i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (at[i] & 0x3f);
	}
	bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
	return *code < least[length] || *code > 0x10ffff || surrogate ? 0 : length;
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
		u32 code = 0, size = utf8_length(at, (size_t)(end - at), &code);
		bool is_escape = *at == '\\' && at + 1 < end && (at[1] == 'x' || at[1] == 'n');

		if (size && is_plain(code, separator) && !is_escape) {
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
