/* SPDX-License-Identifier: Apache-2.0
 * import.h - fuzzing an importer: any bytes as a file of its format.
 *
 * Whatever they were, every entry is of a thread and a stack that there are, an outer stack comes before
 * those that stand on it, and the sums have not wrapped. */
#pragma once
#include <stdlib.h>

#include "profile/import_unpack.h"
#include "profile/load.h"

static inline void import_check(const struct profile *profile)
{
	const struct names *names = &profile->names;
	u64 count = 0, weight = 0;

	for (u32 i = 0; i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		if (entry->thread >= profile->threads.count ||
		    entry->stack >= names->stacks.count ||
		    __builtin_add_overflow(count, entry->count, &count) ||
		    __builtin_add_overflow(weight, entry->weight, &weight))
			abort();
	}
	for (u32 i = 1; i < names->stacks.count; i++)
		if (names->stacks.at[i].outer >= i ||
		    names->stacks.at[i].location >= names->locations.count)
			abort();
	for (u32 i = 0; i < names->locations.count; i++)
		if (names->locations.at[i].function >= names->functions.count)
			abort();
}

static inline void import_fuzz(const struct importer *importer, const uint8_t *data, size_t size)
{
	struct load_options options = { 0 };
	struct load_result result = { 0 };
	struct profile profile;
	struct err err = { 0 };
	struct in in;

	if (profile_init(&profile) && in_open_memory(&in, data, size)) {
		if (import_unpack(&in, &err) && importer->is_mine(&in)) {
			bool read = importer->read(&in, &profile, &options, &result, &err);
			if (!read && !err.text[0])
				abort();
			import_check(&profile);
		}
		in_close(&in);
	}
	profile_free(&profile);
}
