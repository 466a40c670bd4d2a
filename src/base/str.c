/* SPDX-License-Identifier: Apache-2.0
 * str.c - see str.h. */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool str_reserve(struct str *str, size_t more)
{
	if (str->bad || more > INT32_MAX - str->length - 1)
		return !(str->bad = true);
	if (str->room > str->length + more)
		return true;
	size_t room = str->room ? str->room : 64;
	while (room <= str->length + more)
		room *= 2;
	char *text = realloc(str->text, room);
	if (!text)
		return !(str->bad = true);
	str->text = text;
	str->room = (u32)room;
	return true;
}

void str_add(struct str *str, const void *bytes, size_t length)
{
	if (!str_reserve(str, length))
		return;
	if (length)
		memcpy(str->text + str->length, bytes, length);
	str->length += (u32)length;
	str->text[str->length] = 0;
}

void str_add_text(struct str *str, const char *text)
{
	str_add(str, text, strlen(text));
}

void str_addf(struct str *str, const char *format, ...)
{
	va_list args, again;

	va_start(args, format);
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length >= 0 && str_reserve(str, (size_t)length)) {
		vsnprintf(str->text + str->length, (size_t)length + 1, format, again);
		str->length += (u32)length;
	}
	va_end(again);
}

void str_clear(struct str *str)
{
	str->length = 0;
	str->bad = false;
	str_add(str, "", 0);
}

void str_free(struct str *str)
{
	free(str->text);
	*str = (struct str){ 0 };
}
