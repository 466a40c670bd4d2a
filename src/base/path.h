/* SPDX-License-Identifier: Apache-2.0
 * path.h - the parts of a file's name. */
#pragma once
#include "base/types.h"

#include <string.h>
#include <strings.h>

/* "run.rb" of "/app/run.rb": what is behind the last slash. A part of `path`. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is it a name with this at its end (".html", in any case), and something in front of it? */
static inline bool path_ends(const char *path, const char *end)
{
	size_t length = strlen(path), tail = strlen(end);

	return length > tail && !strcasecmp(path + length - tail, end);
}
