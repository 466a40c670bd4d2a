/* SPDX-License-Identifier: Apache-2.0
 * json.c - see json.h.  Containers nest 63 deep at the most, by construction of the callers. */
#include "base/json.h"

#include <string.h>

#include "base/utf8.h"

/* What stands in a string as it is is written in one piece. */
static void write_string(struct out *out, const char *text, size_t length)
{
	const char *end = text + length, *plain = text;

	out_bytes(out, "\"", 1);
	while (text < end) {
		u32 size = (u8)*text < 0x80 ? 1 : utf8_length(text, (size_t)(end - text));
		bool is_control = size == 1 && ((u8)*text < 0x20 || *text == 0x7f);
		if (size && !is_control && *text != '"' && *text != '\\') {
			text += size;
			continue;
		}
		out_bytes(out, plain, (size_t)(text - plain));
		if (!size)
			out_text(out, "\xef\xbf\xbd"); /* U+FFFD */
		else if (is_control)
			outf(out, "\\u%04x", (u8)*text);
		else
			outf(out, "\\%c", *text);
		plain = ++text;
	}
	out_bytes(out, plain, (size_t)(end - plain));
	out_bytes(out, "\"", 1);
}

static void new_line(struct json *json)
{
	outf(json->out, "\n%*s", (int)json->depth * 2, "");
}

static void begin_value(struct json *json, const char *key)
{
	u64 bit = UINT64_C(1) << json->depth;

	if (json->filled & bit)
		out_bytes(json->out, ",", 1);
	if (json->depth && !json->flat)
		new_line(json);
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

void json_flat(struct json *json)
{
	if (!json->flat)
		json->flat = json->depth;
}

void json_end(struct json *json)
{
	u64 bit = UINT64_C(1) << json->depth;
	const bool is_flat = json->flat;

	if (json->flat == json->depth)
		json->flat = 0;
	json->depth--;
	if (json->filled & bit && !is_flat)
		new_line(json);
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

enum { DIGITS_MOST = 20 }; /* of a u64 */

/* Where the digits of a number begin, before `end`; at least `least` of them. */
static char *digits_of(char *end, u64 number, u32 least)
{
	char *at = end;

	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number || end - at < (long)least);
	return at;
}

/* By hand: a profile has millions of them, and printf needs ten times as long. */
void json_number(struct json *json, const char *key, u64 number)
{
	char text[DIGITS_MOST], *end = text + sizeof text, *at = digits_of(end, number, 1);

	begin_value(json, key);
	out_bytes(json->out, at, (size_t)(end - at));
}

void json_fixed(struct json *json, const char *key, u64 number, u32 places)
{
	char text[DIGITS_MOST + 2], *end = text + sizeof text;
	char *at = digits_of(end, number, places + 1);
	char *whole = at - 1;

	begin_value(json, key);
	/* The digits before the point move one to the left. */
	memmove(whole, at, (size_t)(end - at) - places);
	while (places && end[-1] == '0')
		end--, places--;
	if (places)
		end[-(long)places - 1] = '.';
	else
		end--;
	out_bytes(json->out, whole, (size_t)(end - whole));
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
	json_literal(json, key, truth ? "true" : "false");
}

void json_literal(struct json *json, const char *key, const char *text)
{
	begin_value(json, key);
	out_text(json->out, text);
}

void json_null(struct json *json, const char *key)
{
	json_literal(json, key, "null");
}
