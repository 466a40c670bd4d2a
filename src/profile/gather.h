/* SPDX-License-Identifier: Apache-2.0
 * gather.h - profiles that still grow, kept up to date in one.
 *
 * A session's profile may be read only while its session rests; what is made of it here is a
 * copy, for another thread to look at as long as it likes.  Several processes become one profile.
 * Taking again costs what is new: names are numbered once, and an entry's count and weight only grow.  A
 * location that was named late is replaced here, too, while there is one source: what has no name in one
 * source may be the same location as what has none in another. */
#pragma once
#include "profile/profile.h"

struct gather_entry {
	u32 number;
	u64 count, weight; /* so far */
};

/* What is known of one profile already: its numbers, as numbers of the whole. All zero: nothing. */
struct gather_source {
	VEC(u32) strings, functions, locations, stacks, processes, threads;
	VEC(struct gather_entry) entries;
	u32 mappings, replaced;
	u32 quality; /* number of its ledger, from 1 */
};

struct gather {
	struct profile profile; /* the whole; quality and duration are up to date */
	VEC(struct quality) qualities;
	char title[512];
};

/* An entry of the whole has this much more. */
typedef void gather_fn(void *arg, u32 entry, u64 count, u64 weight);

bool gather_init(struct gather *gather);
/* Tells `grown` of each entry with news. Out of memory: profile.bad is set. */
void gather_take(struct gather *gather, struct gather_source *source, const struct profile *from,
		 gather_fn *grown, void *arg);
void gather_source_free(struct gather_source *source);
void gather_free(struct gather *gather);
