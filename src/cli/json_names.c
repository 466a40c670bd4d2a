/* SPDX-License-Identifier: Apache-2.0
 * json_names.c - see json_names.h. */
#include "cli/json_names.h"

void json_name(struct json *json, const char *key, const struct names *names, u32 string)
{
	const struct name_string *text = &names->strings.at[string];

	json_bytes(json, key, text->text, text->length);
}

void json_place(struct json *json, const struct names *names, u32 function, u32 line, u32 site)
{
	const struct name_function *of = &names->functions.at[function];
	const struct name_location *call = &names->locations.at[site];

	json_name(json, "name", names, of->name);
	json_name(json, "path", names, of->path);
	json_number(json, "line", line);
	json_name(json, "language", names, of->language);
	if (!site)
		return;
	json_name(json, "called_at_path", names, names->functions.at[call->function].path);
	json_number(json, "called_at_line", call->line);
}
