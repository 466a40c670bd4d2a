/* SPDX-License-Identifier: Apache-2.0
 * strings.c - str objects (PEP 393): one, two or four bytes for each character, as its widest needs.
 *
 *	state   interned, kind (3 bits: 1, 2 or 4), compact, ascii
 *
 * Names are compact: the characters stand behind the head. */
#include "runtimes/python/strings.h"

#include "base/utf8.h"
#include "mem/window.h"
#include "runtimes/python/step.h"

#include <string.h>

enum { CHUNK = 1024 };

bool python_read_bytes(const struct mem *mem, const struct python_state *state, u64 bytes,
		       u64 *data, u64 *length)
{
	if (!python_address_ok(bytes) || !mem_u64(mem, bytes + state->at.bytes_length, length) ||
	    *length > INT64_MAX)
		return false;
	*data = bytes + state->at.bytes_data;
	return true;
}

static bool add_raw(const struct window *window, u64 data, u64 length, struct str *out)
{
	char chunk[CHUNK];

	for (u64 done = 0; done < length;) {
		u32 part = length - done < sizeof chunk ? (u32)(length - done) : (u32)sizeof chunk;
		if (!window_read(window, data + done, chunk, part))
			return false;
		str_add(out, chunk, part);
		done += part;
	}
	return true;
}

static bool add_wide(const struct window *window, u64 data, u64 count, u32 kind, struct str *out)
{
	u8 chunk[CHUNK];

	for (u64 done = 0, most = CHUNK / kind; done < count;) {
		u32 part = (u32)(count - done < most ? count - done : most);
		if (!window_read(window, data + done * kind, chunk, part * kind))
			return false;
		for (u32 i = 0; i < part; i++) {
			char bytes[4];
			u32 c = 0;
			memcpy(&c, chunk + i * kind, kind);
			if (c > 0x10ffff)
				return false;
			str_add(out, bytes, utf8_encode(c, bytes));
		}
		done += part;
	}
	return true;
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

bool python_read_string_to(const struct mem *mem, const struct python_state *state, u64 string,
			   u64 most, struct str *out, u64 *length_out)
{
	const struct python_layout *at = &state->at;
	struct window window;
	u64 length;
	u32 bits;

	if (!python_address_ok(string))
		return false;
	window_open(&window, mem, string + state->at.bytes_length, WINDOW_BYTES);
	if (state->facts & PYTHON_NAMES_ARE_BYTES)
		return window_read(&window, string + at->bytes_length, &length, 8) &&
		       length <= INT64_MAX &&
		       add_raw(&window, string + at->bytes_data, least(*length_out = length, most),
			       out);
	if (!window_read(&window, string + at->string_length, &length, 8) ||
	    !window_read(&window, string + at->string_state, &bits, 4) || length > INT64_MAX)
		return false;
	bits >>= state->string_kind_shift;
	u32 kind = bits & 7;
	bool is_compact = bits & 8, is_ascii = bits & 16;
	if (!is_compact || (kind != 1 && kind != 2 && kind != 4) || (is_ascii && kind != 1))
		return false;
	*length_out = length;
	length = least(length, most);
	if (is_ascii)
		return add_raw(&window, string + at->string_ascii, length, out);
	return add_wide(&window, string + at->string_compact, length, kind, out);
}

bool python_read_string(const struct mem *mem, const struct python_state *state, u64 string,
			struct str *out)
{
	u64 length;

	return python_read_string_to(mem, state, string, PYTHON_TEXT_MAX, out, &length);
}

bool python_read_path(const struct mem *mem, const struct python_state *state, u64 string,
		      struct str *out)
{
	u32 begin = out->length;

	if (!python_read_string(mem, state, string, out))
		return false;
	if (out->bad || (state->facts & PYTHON_NAMES_ARE_BYTES))
		return true;
	u8 *text = (u8 *)out->text;
	u32 to = begin;
	for (u32 at = begin; at < out->length; at++) {
		/* ED B2 80 to ED B3 BF: nothing else begins so */
		bool is_byte = text[at] == 0xed && out->length - at >= 3 &&
			       (text[at + 1] == 0xb2 || text[at + 1] == 0xb3);
		if (is_byte) {
			text[to++] = (u8)(0x80 + ((text[at + 1] - 0xb2) << 6) +
					  (text[at + 2] & 0x3f));
			at += 2;
		} else {
			text[to++] = text[at];
		}
	}
	if (to < out->length) {
		out->length = to;
		text[to] = 0;
	}
	return true;
}
