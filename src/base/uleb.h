/* SPDX-License-Identifier: Apache-2.0
 * uleb.h - unsigned LEB128, seven bits a byte, the lowest first: of DWARF, protobuf and our own files.
 * cursor_uleb() reads it. */
#pragma once
#include "base/types.h"

enum { ULEB_MOST = 10 }; /* bytes of a u64 */

/* The bytes that `value` takes in `out`. */
static inline u32 uleb_write(u8 out[static ULEB_MOST], u64 value)
{
	u32 length = 0;

	for (; value >= 0x80; value >>= 7)
		out[length++] = (u8)(value | 0x80);
	out[length++] = (u8)value;
	return length;
}
