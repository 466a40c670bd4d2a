/* SPDX-License-Identifier: Apache-2.0
 * out.h - writing bytes somewhere, with one check at the end.
 *
 * The twin of cursor.h: a failed write is remembered and every later one does
 * nothing; out_close() reports it once.  Exporters write without checking. */
#pragma once
#include "base/err.h"
#include "base/types.h"

/* Takes what was written; it does not fail, or remembers that itself. */
typedef void out_writer(void *arg, const void *bytes, size_t length);

struct out {
	int fd;             /* -1: not a file */
	out_writer *writer; /* NULL, or where the bytes go; else they stay in memory */
	void *arg;
	bool atomic; /* a file beside `path`, renamed at out_close() */
	int errnum;  /* the first failure */
	char *path;
	char *temporary;
	u8 *buffer;
	size_t used;
	size_t room;
	u64 written; /* bytes in all, buffered ones too */
};

/* A new file that appears under its name only when it is whole; "-" is standard output.
 * Never follows a symbolic link in the last component. Mode 0600, owned by the real owner of
 * the session when sonde runs under sudo (out_set_owner). */
bool out_open_file(struct out *out, const char *path, struct err *err);
/* Grows in memory; the bytes are out->buffer[0 .. out->used) until out_close(). */
void out_open_memory(struct out *out);
/* Hands them on, some tens of thousands at a time. */
bool out_open_writer(struct out *out, out_writer *writer, void *arg);
void out_bytes(struct out *out, const void *bytes, size_t length);
void out_text(struct out *out, const char *text);
void outf(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes what is buffered. */
void out_flush(struct out *out);
/* The file gets its name now, and what is written from here on is seen at once. */
void out_publish(struct out *out);
/* Flushes, closes and renames. On failure nothing is left at `path` that was not there before. */
bool out_close(struct out *out, struct err *err);
/* Closes without keeping the file. */
void out_abandon(struct out *out);
/* Files made from now on belong to this user and group. */
void out_set_owner(u32 uid, u32 gid);
