/* SPDX-License-Identifier: Apache-2.0
 * gaps.h - code that no table tells about: its bytes, its instructions, and where its functions begin.
 *
 * A function begins at a symbol, where a call leads, where an address is taken, and on a line of the cache behind padding.
 *
 * Private to this folder. */
#pragma once
#include "base/vec.h"
#include "unwind/code.h"
#include "unwind/instruction.h"

enum { UNWIND_LINE = 16 /* functions are aligned so */ };

/* Of an instruction's first byte: also that nothing need come here from the one in front of it, and that a jump or a call comes
 * here. */
enum { BEGINS = 1, IS_ENTRY = 2, MAY_BE_ENTRY = 4, IS_LED_TO = 8, IS_CALLED = 16 };

struct gap {
	u64 begin, end; /* as linked */
	u8 *bytes, *marks;
	u16 *states; /* of code.c: numbers, 0 where nothing has been */
};

struct gaps {
	const struct image *image;
	VEC(struct gap) list; /* in ascending order */
	VEC(u64) addresses;   /* that instructions make, sorted: data begins there, too */
	u64 total;            /* bytes */
	bool no_memory;
};

/* What is between the spans, of gaps->image. */
void gaps_find(struct gaps *gaps, const struct unwind_covered *covered, u32 count);
/* What is around one, where functions begin at these entries and nowhere else.  One that jumps lead to and no call may be a part of
 * a function, and is none. */
void gaps_find_of(struct gaps *gaps, const struct unwind_covered *covered, const u64 *entries,
		  u32 count);
void gaps_free(struct gaps *gaps);
/* The one that has the address; NULL: none. */
struct gap *gaps_at(const struct gaps *gaps, u64 address);
/* The instruction at an address in the gap. */
bool gap_read(const struct gap *gap, u64 address, struct instruction *out);
/* What fills the room between functions: one of the instructions that do nothing, or a trap. */
bool gap_is_padding(const struct gap *gap, u64 address, u32 length);
/* Does nothing go on behind it? */
bool instruction_ends_way(const struct instruction *instruction);
