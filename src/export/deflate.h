/* SPDX-License-Identifier: Apache-2.0
 * deflate.h - compression on the way to a sink; the one user of zlib. */
#pragma once
#include "export/sink.h"

enum deflate_form {
	DEFLATE_RAW,  /* RFC 1951, what DecompressionStream("deflate-raw") reads */
	DEFLATE_GZIP, /* RFC 1952; no time and no name in it, so that equal bytes stay equal */
};

struct deflater; /* opaque */

/* NULL when out of memory. */
struct deflater *deflater_open(enum deflate_form form, struct sink to);
/* Takes bytes; a struct sink's write function with a deflater for its arg. */
void deflater_write(void *deflater, const void *bytes, size_t length);
/* Ends the stream and frees. */
void deflater_close(struct deflater *deflater);
