/* SPDX-License-Identifier: Apache-2.0
 * sources.c - see sources.h. */
#include "session/sources.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	FILE_MOST = 1 << 20, /* bytes: more is generated */
	ALL_MOST = 32 << 20,
};

/* True when the path is tried for the first time. */
static bool is_new(struct sources *sources, u32 path)
{
	if (!vec_reach(&sources->seen, path))
		return false;
	bool seen = sources->seen.at[path];
	sources->seen.at[path] = true;
	return !seen;
}

static size_t read_whole(int fd, char *text, size_t size)
{
	size_t used = 0;
	ssize_t got;

	while (used < size && (got = read(fd, text + used, size - used)) > 0)
		used += (size_t)got;
	return used;
}

static void read_file(struct sources *sources, struct profile *profile, const struct target *target,
		      u32 path)
{
	const struct name_string *name = &profile->names.strings.at[path];
	struct stat st;
	AUTO_CLOSE int fd = strlen(name->text) == name->length ?
				    target_open_named(target, name->text) :
				    -1;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size <= 0 || st.st_size > FILE_MOST ||
	    sources->bytes + (u64)st.st_size > ALL_MOST)
		return;
	AUTO_FREE char *text = malloc((size_t)st.st_size);
	size_t length = text ? read_whole(fd, text, (size_t)st.st_size) : 0;
	if (!length || memchr(text, 0, length))
		return;
	u32 string = names_string(&profile->names, text, length);
	if (string)
		profile_add_source(profile, path, string);
	else
		profile->bad = true;
	sources->bytes += length;
}

void sources_read(struct sources *sources, struct profile *profile, const struct target *target)
{
	for (; sources->functions < profile->names.functions.count; sources->functions++) {
		u32 path = profile->names.functions.at[sources->functions].path;
		if (path && is_new(sources, path))
			read_file(sources, profile, target, path);
	}
}

void sources_free(struct sources *sources)
{
	vec_free(&sources->seen);
}
