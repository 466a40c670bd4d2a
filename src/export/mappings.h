/* SPDX-License-Identifier: Apache-2.0
 * mappings.h - which mapping of a profile holds an address of an image.
 *
 * With several processes it is the first one's: a location has one place. */
#pragma once
#include "profile/profile.h"

/* Bytes of a file that a mapping holds; ranges of one file do not overlap. */
struct mapping_range {
	u64 begin, end; /* offsets in the file */
	u32 path;       /* string */
	u32 number;     /* of the mapping */
};

struct mapping_ranges {
	struct mapping_range *at; /* by path, then begin */
	u32 count;
};

/* False when out of memory. */
bool mapping_ranges_make(struct mapping_ranges *ranges, const struct profile *profile);
void mapping_ranges_free(struct mapping_ranges *ranges);
/* Index + 1; 0 is none. */
u32 mapping_ranges_find(const struct mapping_ranges *ranges, const struct names *names,
			const struct name_location *location);
