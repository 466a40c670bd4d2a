/* SPDX-License-Identifier: Apache-2.0
 * sink.h - where an encoder's bytes go: a compressor, base64, a file, memory.
 *
 * Encoders know nothing of what follows them. */
#pragma once
#include "base/out.h"

struct sink {
	void (*write)(void *arg, const void *bytes, size_t length);
	void *arg;
};

static inline void sink_bytes(const struct sink *sink, const void *bytes, size_t length)
{
	if (length)
		sink->write(sink->arg, bytes, length);
}

static inline void sink_write_out(void *out, const void *bytes, size_t length)
{
	out_bytes(out, bytes, length);
}

static inline struct sink sink_to_out(struct out *out)
{
	return (struct sink){ sink_write_out, out };
}
