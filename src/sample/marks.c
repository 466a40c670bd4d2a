/* SPDX-License-Identifier: Apache-2.0
 * marks.c - what a frame that is no code says.
 *
 * Square brackets: something about the reading.  Round ones: something about the
 * thread.  Every export shows these texts as they are. */
#include "sample/names.h"

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
