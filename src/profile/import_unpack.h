/* SPDX-License-Identifier: Apache-2.0
 * import_unpack.h - a file that is gzip, unpacked in memory: what reads it goes by what is in it.
 *
 * A gzip file of a megabyte can say that it is a gigabyte: what comes out is bounded by what went in. */
#pragma once
#include "base/in.h"

/* What is in `in` is what was packed from now on; what was not packed stays as it is. */
bool import_unpack(struct in *in, struct err *err);
/* All that is left in `in`, at in_bytes(); false: it cannot be read, or is too large to be in memory. */
bool import_read_all(struct in *in, size_t *size, struct err *err);
