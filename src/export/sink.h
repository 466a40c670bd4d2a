/* SPDX-License-Identifier: Apache-2.0
 * sink.h - where an encoder's bytes go: a compressor, base64, a file, memory.
 *
 * Encoders know nothing of what follows them, so that the same protobuf leaves the command
 * through zlib and the library, which links to libc alone, through stored blocks. */
#pragma once
#include "base/types.h"

struct sink {
	void (*write)(void *arg, const void *bytes, size_t length);
	void *arg;
};

static inline void sink_bytes(const struct sink *sink, const void *bytes, size_t length)
{
	if (length)
		sink->write(sink->arg, bytes, length);
}
