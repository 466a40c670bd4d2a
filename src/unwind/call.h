/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * call.h - code that was made at run time has no table: what its walkers agree on, in the kernel (engines/kernel/walk.bpf.h)
 * and here (made.c).
 *
 * BPF-safe text. */
#pragma once
#include "base/types.h"

enum {
	MADE_ENTRY_WORDS =
		3, /* of the stack, in which a function that has just begun has its way back */
	MADE_SCAN_WORDS = 16,     /* and code that keeps no frames */
	MADE_FRAME_MAX = 1 << 20, /* bytes of one frame */
	MADE_CALL_BYTES = 7,
};

/* Do these bytes in front of an address end with a call? rel32; r/m64 in its lengths of 2, 3, 4, 6 and 7 bytes. */
static inline __attribute__((always_inline)) bool
made_ends_with_call(const u8 code[MADE_CALL_BYTES])
{
	return code[2] == 0xe8 || (code[5] == 0xff && (code[6] & 0x38) == 0x10) ||
	       (code[4] == 0xff && (code[5] & 0x38) == 0x10) ||
	       (code[3] == 0xff && (code[4] & 0x38) == 0x10) ||
	       (code[1] == 0xff && (code[2] & 0x38) == 0x10) ||
	       (code[0] == 0xff && (code[1] & 0x38) == 0x10);
}
