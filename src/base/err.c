/* SPDX-License-Identifier: Apache-2.0
 * err.c - see err.h.  Texts that do not fit are cut, never lost whole. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
	va_list args;

	if (!err)
		return false;
	err->code = code;
	err->errnum = 0;
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	return false;
}

static enum err_code code_of_errno(int errnum)
{
	switch (errnum) {
	case EPERM:
	case EACCES:
		return ERR_PERMISSION;
	case ESRCH:
		return ERR_NO_PROCESS;
	case ENOMEM:
		return ERR_NO_MEMORY;
	default:
		return ERR_SYSTEM;
	}
}

bool err_sys(struct err *err, int errnum, const char *format, ...)
{
	va_list args;

	if (!err)
		return false;
	err->code = code_of_errno(errnum);
	err->errnum = errnum;
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	size_t used = strlen(err->text);
	snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(errnum));
	return false;
}

bool err_wrap(struct err *err, const char *format, ...)
{
	char inner[sizeof err->text];
	va_list args;

	if (!err)
		return false;
	memcpy(inner, err->text, sizeof inner);
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	size_t used = strlen(err->text);
	snprintf(err->text + used, sizeof err->text - used, ": %s", inner);
	return false;
}

bool err_hint(struct err *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return false;
	size_t used = strlen(err->text);
	if (used + 3 > sizeof err->text)
		return false;
	memcpy(err->text + used, ": ", 3);
	va_start(args, format);
	vsnprintf(err->text + used + 2, sizeof err->text - used - 2, format, args);
	va_end(args);
	return false;
}

bool err_no_memory(struct err *err)
{
	return err_set(err, ERR_NO_MEMORY, "out of memory");
}
