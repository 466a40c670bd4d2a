/* SPDX-License-Identifier: Apache-2.0
 * objects.h - Ruby's values as bytes: strings, arrays, imemos.
 *
 * Every function looks at the type first: an address that was freed and used again
 * gives false, not garbage. */
#pragma once
#include "base/str.h"
#include "mem/mem.h"
#include "runtimes/ruby/layout.h"

/* Longer names and paths are cut. */
enum { RUBY_TEXT_MAX = 64 << 10 };

bool ruby_value_type(const struct mem *mem, u64 value, u32 *type, u64 *flags);
bool ruby_is_imemo(const struct mem *mem, u64 value, u32 imemo_type);
/* Appends the bytes of a String. */
bool ruby_read_string(const struct mem *mem, const struct ruby_state *state, u64 value,
		      struct str *out);
/* Element `index` of an Array. */
bool ruby_read_element(const struct mem *mem, u64 array, u64 index, u64 *out);
