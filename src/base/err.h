/* SPDX-License-Identifier: Apache-2.0
 * err.h - why a cold path failed, in words for the user.
 *
 * Cold paths (start, attach, parse, write) return bool or a pointer and fill a
 * caller-owned struct err.  There is nothing to free.  err_set() and err_wrap()
 * return false, so that failing is one line; err_wrap() puts the context in
 * front, so that the user reads a path from the outside in:
 *
 *	attach: ruby: libruby.so.3.4: no VM found
 *
 * A message says what was expected, what was found, and what to do. */
#pragma once
#include "base/types.h"

enum err_code {
	ERR_NONE = 0,
	ERR_SYSTEM, /* a system call failed; errnum says how */
	ERR_NO_MEMORY,
	ERR_NO_PROCESS,  /* no such process, or it has ended */
	ERR_PERMISSION,  /* a capability or sysctl is missing */
	ERR_NOT_MINE,    /* a runtime looked at an image and it is not its own */
	ERR_NOT_READY,   /* the runtime is there, but it has not started yet */
	ERR_UNSUPPORTED, /* understood, but this build or machine cannot do it */
	ERR_BAD_DATA,    /* a file or memory is not what its format says */
	ERR_USAGE,       /* the caller's arguments do not make sense */
};

struct err {
	enum err_code code;
	int errnum;     /* errno for ERR_SYSTEM and ERR_PERMISSION, else 0 */
	char text[480]; /* no newline at the end */
};

/* Each returns false. `err` may be NULL when the caller does not care. */
bool err_set(struct err *err, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* As err_set(), with ": strerror(errnum)" behind the text.  EPERM and EACCES become
 * ERR_PERMISSION, ESRCH becomes ERR_NO_PROCESS, ENOMEM becomes ERR_NO_MEMORY. */
bool err_sys(struct err *err, int errnum, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts "context: " in front of the text. */
bool err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts ": text" behind it: what to do about it. */
bool err_hint(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool err_no_memory(struct err *err);
