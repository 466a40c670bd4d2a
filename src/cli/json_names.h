/* SPDX-License-Identifier: Apache-2.0
 * json_names.h - what a table of names holds, as JSON; the same in every command. */
#pragma once
#include "base/json.h"
#include "sample/names.h"

void json_name(struct json *json, const char *key, const struct names *names, u32 string);
/* Into an open object: name, path, line and language, and for what has no line of its own the place that calls it,
 * `site` (a location; 0: none). */
void json_place(struct json *json, const struct names *names, u32 function, u32 line, u32 site);
