/* SPDX-License-Identifier: Apache-2.0
 * tracepoints.c - the kernel's, as tracefs lists them: events/CATEGORY/NAME. */
#include "events/sources.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where it may be mounted, in the order in which libbpf looks. */
static const char *const roots[] = { "/sys/kernel/tracing/events",
				     "/sys/kernel/debug/tracing/events" };

static DIR *open_events(const char **root)
{
	for (u32 i = 0; i < COUNT_OF(roots); i++) {
		DIR *dir = opendir(roots[i]);
		if (dir) {
			*root = roots[i];
			return dir;
		}
	}
	return NULL;
}

static bool is_folder(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && entry->d_name[0] != '.';
}

static bool add_category(struct event_list *list, const struct event_source *source,
			 const char *root, const char *category, const char *pattern)
{
	char path[512], name[EVENT_NAME_MAX];
	bool good = true;

	snprintf(path, sizeof path, "%s/%s", root, category);
	DIR *dir = opendir(path);
	for (const struct dirent *entry; dir && good && (entry = readdir(dir));) {
		event_format(name, "%s:%s", category, entry->d_name);
		if (is_folder(entry) && !fnmatch(pattern, name, 0))
			good = events_put(list, source, name, 0) != UINT32_MAX;
	}
	if (dir)
		closedir(dir);
	return good;
}

static bool may_be_in(const char *pattern, const char *category)
{
	char front[EVENT_NAME_MAX];
	const char *colon = strchr(pattern, ':');

	if (!colon || (size_t)(colon - pattern) >= sizeof front)
		return strpbrk(pattern, "*?[") != NULL;
	memcpy(front, pattern, (size_t)(colon - pattern));
	front[colon - pattern] = 0;
	return !fnmatch(front, category, 0);
}

static bool add(struct event_list *list, const struct event_source *source, const char *pattern,
		const struct target *target, struct err *err)
{
	const char *root;
	DIR *dir = open_events(&root);
	bool good = true;

	(void)target;
	if (!dir) {
		err_sys(err, errno, "the kernel's tracepoints (%s)", roots[0]);
		err_hint(err, errno == EACCES ? "reading them takes root" :
						"mount -t tracefs nodev /sys/kernel/tracing");
		return false;
	}
	for (const struct dirent *entry; good && (entry = readdir(dir));)
		if (is_folder(entry) && may_be_in(pattern, entry->d_name))
			good = add_category(list, source, root, entry->d_name, pattern);
	closedir(dir);
	return good || err_no_memory(err);
}

const struct event_source tracepoint_source = {
	.prefix = "tracepoint",
	.kind = EVENT_TRACEPOINT,
	.add = add,
};
