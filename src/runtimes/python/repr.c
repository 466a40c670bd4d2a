/* SPDX-License-Identifier: Apache-2.0
 * repr.c - see repr.h. */
#include "runtimes/python/repr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum {
	DIGITS_MOST = 17, /* of a double */
	/* Decimal exponents from which on repr() writes "1e+16", and below which "1e-05". */
	EXPONENT_HIGH = 16,
	EXPONENT_LOW = -4,
};

/* ---- texts --------------------------------------------------------------------------------- */

static char quote_of(const char *text, u32 length)
{
	return length && memchr(text, '\'', length) && !memchr(text, '"', length) ? '"' : '\'';
}

/* A character below 0x80; false: it is itself. */
static bool add_escape(struct str *out, u8 c, char quote)
{
	if (c == '\n')
		str_add_text(out, "\\n");
	else if (c == '\t')
		str_add_text(out, "\\t");
	else if (c == '\r')
		str_add_text(out, "\\r");
	else if (c == '\\' || c == (u8)quote)
		str_addf(out, "\\%c", c);
	else if (c < 0x20 || c == 0x7f)
		str_addf(out, "\\x%02x", c);
	else
		return false;
	return true;
}

void python_repr_bytes(const char *bytes, u32 length, struct str *out)
{
	char quote = quote_of(bytes, length);

	str_add(out, &quote, 1);
	for (u32 i = 0; i < length; i++) {
		u8 c = (u8)bytes[i];
		if (c >= 0x80)
			str_addf(out, "\\x%02x", c);
		else if (!add_escape(out, c, quote))
			str_add(out, &bytes[i], 1);
	}
	str_add(out, &quote, 1);
}

/* Controls, spaces that are not ' ', marks of direction, surrogates, and what is private: those that are met. */
static bool is_printable(u32 c)
{
	static const struct {
		u32 first, last;
	} others[] = {
		{ 0x80, 0xa0 },     { 0xad, 0xad },     { 0x600, 0x605 },     { 0x61c, 0x61c },
		{ 0x1680, 0x1680 }, { 0x180e, 0x180e }, { 0x2000, 0x200f },   { 0x2028, 0x202f },
		{ 0x205f, 0x206f }, { 0x3000, 0x3000 }, { 0xd800, 0xf8ff },   { 0xfeff, 0xfeff },
		{ 0xfff0, 0xfffb }, { 0xfffe, 0xffff }, { 0xe0000, 0xe00ff }, { 0xf0000, 0x10ffff },
	};

	for (u32 i = 0; i < COUNT_OF(others); i++)
		if (c >= others[i].first && c <= others[i].last)
			return false;
	return true;
}

/* The character at `text`, and its length; 0: what is there is no UTF-8. */
static u32 character_at(const char *text, u32 length, u32 *size)
{
	static const u8 masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	const u8 *at = (const u8 *)text;

	*size = utf8_length(text, length);
	if (!*size && length >= 3 && at[0] == 0xed && at[1] >= 0xa0)
		*size = 3; /* a surrogate */
	if (!*size)
		return 0;
	u32 c = at[0] & masks[*size];
	for (u32 i = 1; i < *size; i++)
		c = c << 6 | (at[i] & 0x3f);
	return c;
}

void python_repr_text(const char *text, u32 length, bool ascii, struct str *out)
{
	char quote = quote_of(text, length);

	str_add(out, &quote, 1);
	for (u32 i = 0, size; i < length; i += size) {
		u32 c = character_at(text + i, length - i, &size);
		if (!size) {
			size = 1;
			str_addf(out, "\\x%02x", (u8)text[i]);
			continue;
		}
		if (c < 0x80 && add_escape(out, (u8)c, quote))
			continue;
		if (c < 0x80 || (!ascii && is_printable(c)))
			str_add(out, text + i, size);
		else if (c < 0x100)
			str_addf(out, "\\x%02x", c);
		else if (c < 0x10000)
			str_addf(out, "\\u%04x", c);
		else
			str_addf(out, "\\U%08x", c);
	}
	str_add(out, &quote, 1);
}

/* ---- floats -------------------------------------------------------------------------------- */

/* The fewest digits that say which double it is, without trailing zeros: their number. */
static u32 shortest(double value, char digits[static DIGITS_MOST + 1], int *exponent)
{
	char text[40];
	u32 count = 0;

	for (int most = 0; most < DIGITS_MOST; most++) {
		snprintf(text, sizeof text, "%.*e", most, value);
		if (strtod(text, NULL) == value)
			break;
	}
	char *e = strchr(text, 'e');
	*exponent = e ? atoi(e + 1) : 0;
	for (const char *at = text; at < e && count < DIGITS_MOST; at++)
		if (*at >= '0' && *at <= '9')
			digits[count++] = *at;
	while (count > 1 && digits[count - 1] == '0')
		count--;
	digits[count] = 0;
	return count;
}

void python_repr_float(double value, struct str *out)
{
	char digits[DIGITS_MOST + 1];
	int exponent;

	if (isnan(value) || isinf(value)) {
		str_add_text(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
		return;
	}
	str_add_text(out, signbit(value) ? "-" : "");
	int count = (int)shortest(fabs(value), digits, &exponent);
	if (exponent >= EXPONENT_HIGH || exponent < EXPONENT_LOW)
		str_addf(out, "%c%s%se%+03d", digits[0], count > 1 ? "." : "", digits + 1,
			 exponent);
	else if (exponent < 0)
		str_addf(out, "0.%.*s%s", -exponent - 1, "000", digits);
	else if (count <= exponent + 1)
		str_addf(out, "%s%.*s.0", digits, exponent + 1 - count, "0000000000000000");
	else
		str_addf(out, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
}
