/* SPDX-License-Identifier: Apache-2.0
 * in.h - reading a file or a pipe through a window that can be looked into before it is moved.
 *
 * The twin of out.h: a failed read is remembered and the stream ends there. */
#pragma once
#include "base/err.h"
#include "base/types.h"

struct in {
	int fd;
	int errnum; /* of the read that failed */
	u8 *buffer;
	size_t begin, end, room;
	bool ended; /* what is in the window is the last */
	u64 offset; /* of the window's first byte */
};

/* "-" is standard input. A FIFO without a writer is refused rather than waited for. */
bool in_open_file(struct in *in, const char *path, struct err *err);
/* A copy of these bytes. */
bool in_open_memory(struct in *in, const void *bytes, size_t length);
/* These bytes, from malloc: they are its own now. */
void in_take_memory(struct in *in, void *bytes, size_t length);
void in_close(struct in *in);
/* Up to `want` bytes at in_bytes(), fewer only where the stream ends (or memory does: errnum). */
size_t in_fill(struct in *in, size_t want);
static inline const u8 *in_bytes(const struct in *in)
{
	return in->buffer + in->begin;
}
/* Moves the window on by `length` bytes, which are in it. */
void in_skip(struct in *in, size_t length);
