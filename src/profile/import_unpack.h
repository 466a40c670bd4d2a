/* SPDX-License-Identifier: Apache-2.0
 * import_unpack.h - a whole file in memory, unpacked when it is gzip.
 *
 * A gzip file of a megabyte can say that it is a gigabyte: what comes out is bounded by what went in. */
#pragma once
#include "base/in.h"

struct unpacked {
	u8 *bytes;
	size_t size;
};

bool import_is_gzip(struct in *in);
/* Free the bytes in both cases. */
bool import_unpack(struct in *in, struct unpacked *out, struct err *err);
