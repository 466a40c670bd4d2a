/* SPDX-License-Identifier: Apache-2.0
 * strings.h - str and bytes objects of the target. */
#pragma once
#include "base/str.h"
#include "mem/mem.h"
#include "runtimes/python/layout.h"

enum { PYTHON_TEXT_MAX = 1 << 18 }; /* characters of a name; longer ones are cut */

/* The string as UTF-8, added to `out`; lone surrogates as Python's "surrogatepass" writes them.  False when it
 * is no string, or cannot be read. */
bool python_read_string(const struct mem *mem, const struct python_state *state, u64 string,
			struct str *out);
/* The same, of its first `most` characters; *length is that of all. */
bool python_read_string_to(const struct mem *mem, const struct python_state *state, u64 string,
			   u64 most, struct str *out, u64 *length);
/* The name of a file: its bytes that are no UTF-8 are U+DC80 to U+DCFF in Python (os.fsdecode), and bytes again here. */
bool python_read_path(const struct mem *mem, const struct python_state *state, u64 string,
		      struct str *out);
/* Where the bytes of a bytes object are, and how many. */
bool python_read_bytes(const struct mem *mem, const struct python_state *state, u64 bytes,
		       u64 *data, u64 *length);
