/* SPDX-License-Identifier: Apache-2.0
 * json.c - see json.h.  Containers nest 63 deep at the most, by construction of the callers. */
#include "base/json.h"

#include <string.h>

#include "base/utf8.h"

static void write_string(struct out *out, const char *text, size_t length)
{
	out_text(out, "\"");
	while (length) {
		u32 size = utf8_length(text, length);

		if (size == 0) {
			out_text(out, "\xef\xbf\xbd"); /* U+FFFD */
			size = 1;
		} else if (*text == '"' || *text == '\\') {
			outf(out, "\\%c", *text);
		} else if (size == 1 && ((u8)*text < 0x20 || *text == 0x7f)) {
			outf(out, "\\u%04x", (u8)*text);
		} else {
			out_bytes(out, text, size);
		}
		text += size;
		length -= size;
	}
	out_text(out, "\"");
}

static void begin_value(struct json *json, const char *key)
{
	u64 bit = UINT64_C(1) << json->depth;

	if (json->filled & bit)
		out_text(json->out, ",");
	if (json->depth)
		outf(json->out, "\n%*s", (int)json->depth * 2, "");
	json->filled |= bit;
	if (key) {
		write_string(json->out, key, strlen(key));
		out_text(json->out, ": ");
	}
}

static void open_container(struct json *json, const char *key, bool is_array)
{
	begin_value(json, key);
	out_text(json->out, is_array ? "[" : "{");
	json->depth++;
	u64 bit = UINT64_C(1) << json->depth;
	json->filled &= ~bit;
	json->arrays = is_array ? json->arrays | bit : json->arrays & ~bit;
}

void json_object(struct json *json, const char *key)
{
	open_container(json, key, false);
}

void json_array(struct json *json, const char *key)
{
	open_container(json, key, true);
}

void json_end(struct json *json)
{
	u64 bit = UINT64_C(1) << json->depth;

	json->depth--;
	if (json->filled & bit)
		outf(json->out, "\n%*s", (int)json->depth * 2, "");
	out_text(json->out, json->arrays & bit ? "]" : "}");
	if (!json->depth)
		out_text(json->out, "\n");
}

void json_bytes(struct json *json, const char *key, const char *text, size_t length)
{
	begin_value(json, key);
	write_string(json->out, text, length);
}

void json_text(struct json *json, const char *key, const char *text)
{
	json_bytes(json, key, text, strlen(text));
}

void json_number(struct json *json, const char *key, u64 number)
{
	begin_value(json, key);
	outf(json->out, "%llu", (unsigned long long)number);
}

void json_real(struct json *json, const char *key, double number)
{
	begin_value(json, key);
	if (__builtin_isfinite(number))
		outf(json->out, "%.6f", number);
	else
		out_text(json->out, "null");
}

void json_bool(struct json *json, const char *key, bool truth)
{
	begin_value(json, key);
	out_text(json->out, truth ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
	begin_value(json, key);
	out_text(json->out, "null");
}
