/* SPDX-License-Identifier: Apache-2.0
 * marks.c - what a frame that is no code says.
 *
 * Square brackets: something about the reading.  Round ones: something about the
 * thread.  Every export shows these texts as they are. */
#include "sample/names.h"

#include <string.h>

// clang-format off
static const char *const mark_texts[MARK_COUNT] = {
	[MARK_MOVING]     = "[moving]",
	[MARK_STARTING]   = "(starting)",
	[MARK_GC]         = "(garbage collection)",
	[MARK_NATIVE]     = "[native]",
	[MARK_TRUNCATED]  = "[truncated]",
	[MARK_UNREADABLE] = "[unreadable]",
	[MARK_GVL]        = "(waiting for the GVL)",
	[MARK_GIL]        = "(waiting for the GIL)",
};
// clang-format on

const char *frame_mark_text(enum frame_mark mark)
{
	return (u32)mark < MARK_COUNT ? mark_texts[mark] : mark_texts[MARK_UNREADABLE];
}

u32 names_mark(struct names *names, enum frame_mark mark)
{
	struct name_function function = { .name = names_text(names, frame_mark_text(mark)) };
	struct name_location location = { .function = names_function(names, &function) };

	return names_location(names, &location);
}

bool names_is_of_reading(const struct names *names, u32 location)
{
	static const enum frame_mark of_reading[] = { MARK_MOVING, MARK_TRUNCATED,
						      MARK_UNREADABLE };
	const struct name_function *function =
		&names->functions.at[names->locations.at[location].function];
	bool is_code = function->path || function->language;

	for (u32 i = 0; !is_code && i < COUNT_OF(of_reading); i++)
		if (!strcmp(names->strings.at[function->name].text, mark_texts[of_reading[i]]))
			return true;
	return false;
}
