/* SPDX-License-Identifier: Apache-2.0
 * replaced.h - where a process has put other code in place of code, and since when who walks and who names know of it. */
#pragma once
#include "base/types.h"
#include "base/vec.h"

/* Code that was run at a time, against what is known of its place: any of these. */
enum {
	REPLACED_UNKNOWN =
		1, /* what is known is of what came behind it, or could not be asked since it was before it */
	REPLACED_UNHEARD = 2, /* the kernel had the table of what had been there before */
};

/* Times are CLOCK_MONOTONIC. */
struct replacing {
	u64 start, end;
	u64 changed_ns;
	u64 told_ns; /* the kernel has the new code's table; UINT64_MAX: not yet */
};

struct replaced_place {
	u64 start, end;
};

/* Zeros are an empty one. */
struct replaced {
	VEC(struct replacing) of_late;
	VEC(struct replaced_place)
	places; /* of all times, a few: what was replaced once is likely to be again */
};

void replaced_free(struct replaced *replaced);
void replaced_clear(struct replaced *replaced);
/* Into an empty one. False: out of memory. */
bool replaced_copy(struct replaced *to, const struct replaced *from);
/* What was long before that is forgotten. */
void replaced_note(struct replaced *replaced, u64 start, u64 end, u64 changed_ns);
/* Since then any place may have other code. */
void replaced_doubt(struct replaced *replaced, u64 since_ns);
/* The places that have are noted now. Since when it was doubted; 0: it was not. */
u64 replaced_end_doubt(struct replaced *replaced);
/* The kernel has all that is known. */
void replaced_is_told(struct replaced *replaced, u64 now_ns);
u32 replaced_at(const struct replaced *replaced, u64 address, u64 time_ns);
/* Was code replaced there, at any time? */
bool replaced_ever(const struct replaced *replaced, u64 start, u64 end);
