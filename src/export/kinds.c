/* SPDX-License-Identifier: Apache-2.0
 * kinds.c - see kinds.h. */
#include "export/kinds.h"

#include <string.h>

// clang-format off
const struct kind kinds[] = {
	{ "",       false, "Marks",                "grey",      NULL,      40,  true },
	{ "ruby",   false, "Ruby",                 "red",       "ruby",    350, false },
	{ "ruby",   true,  "Ruby's C functions",   "orange",    "ruby",    26,  false },
	{ "python", false, "Python",               "green",     "cpython", 142, false },
	{ "python", true,  "Python's C functions", "lightblue", "cpython", 178, false },
	{ "native", false, "Native",               "blue",      "native",  212, false },
	{ "kernel", false, "Kernel",               "purple",    "kernel",  268, false },
	{ "event",  false, "Events",               "magenta",   NULL,      318, false },
	{ NULL,     false, "Other code",           "yellow",    NULL,      90,  false },
};
// clang-format on
const u32 kind_count = COUNT_OF(kinds);

/* Where no language is known, a mark is told by what it says. */
static bool is_mark(const struct names *names, const struct name_function *function)
{
	const char *name = names->strings.at[function->name].text;

	for (enum frame_mark mark = 0; mark < MARK_COUNT && !function->path; mark++)
		if (!strcmp(name, frame_mark_text(mark)))
			return true;
	return false;
}

u32 kind_of(const struct names *names, u32 number)
{
	const struct name_function *function = &names->functions.at[number];
	const char *language = names->strings.at[function->language].text;
	bool is_c = function->flags & FRAME_C;
	u32 other = COUNT_OF(kinds) - 1;

	if (!*language)
		return is_mark(names, function) ? 0 : other;
	for (u32 i = 0; i < other; i++)
		if (!strcmp(kinds[i].language, language)) {
			bool has_c = i + 1 < other && kinds[i + 1].is_c;
			return i + (is_c && has_c);
		}
	return other;
}
