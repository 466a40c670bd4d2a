/* SPDX-License-Identifier: Apache-2.0
 * label.c - see label.h. */
#include "sample/label.h"

#include <string.h>

#include "base/text.h"

void label_string(struct str *out, const struct names *names, u32 string, char separator)
{
	const struct name_string *name = &names->strings.at[string];

	text_add_safe(out, name->text, name->length, separator);
}

static bool is_native(const struct names *names, const struct name_function *function)
{
	const char *language = names->strings.at[function->language].text;

	return !strcmp(language, "native") || !strcmp(language, "kernel");
}

static void add_label(struct str *out, const struct names *names, u32 number, u32 line,
		      char separator)
{
	const struct name_function *function = &names->functions.at[number];
	const char *language = names->strings.at[function->language].text;

	if (function->name)
		label_string(out, names, function->name, separator);
	else
		str_add_text(out, "(unnamed)");
	if (is_native(names, function)) {
		str_addf(out, " [%s]", function->flags & FRAME_INLINED ? "inlined" : language);
	} else if (function->path && !(function->flags & FRAME_C)) {
		str_add_text(out, " (");
		label_string(out, names, function->path, separator);
		if (line)
			str_addf(out, ":%u", line);
		str_add_text(out, ")");
	}
}

void label_location(struct str *out, const struct names *names, u32 location, char separator)
{
	const struct name_location *at = &names->locations.at[location];

	add_label(out, names, at->function, at->line, separator);
}

void label_line(struct str *out, const struct names *names, u32 location, u32 site, char separator)
{
	/* a native function's label has no line */
	bool own = !site &&
		   is_native(names, &names->functions.at[names->locations.at[location].function]);
	const struct name_location *at = &names->locations.at[own ? location : site];

	label_location(out, names, location, separator);
	if (!at->line || !names->functions.at[at->function].path)
		return;
	str_add_text(out, " at ");
	label_string(out, names, names->functions.at[at->function].path, separator);
	str_addf(out, ":%u", at->line);
}

void label_function(struct str *out, const struct names *names, u32 function, char separator)
{
	add_label(out, names, function, names->functions.at[function].first_line, separator);
}
