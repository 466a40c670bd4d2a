/* SPDX-License-Identifier: Apache-2.0
 * events.c - see events.h. */
#include "events/events.h"

#include "events/sources.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct event_source *const sources[] = {
	&syscall_source, &syscall_exit_source, &tracepoint_source, &uprobe_source, &usdt_source,
};

/* And what is behind the prefix. */
static const struct event_source *source_of(const char *word, const char **rest)
{
	for (u32 i = 0; i < COUNT_OF(sources); i++) {
		size_t length = strlen(sources[i]->prefix);
		if (!strncmp(word, sources[i]->prefix, length) && word[length] == ':') {
			*rest = word + length + 1;
			return sources[i];
		}
	}
	return NULL;
}

bool event_is_name(const char *word)
{
	size_t length = strcspn(word, ":/. ");

	return length && word[length] == ':';
}

bool events_add(struct event_list *list, const char *word, const struct target *target,
		struct err *err)
{
	u32 before = list->all.count;
	const char *rest;
	const struct event_source *source = source_of(word, &rest);

	if (!source) {
		err_set(err, ERR_USAGE, "\"%.100s\" is no event", word);
		err_hint(err,
			 "there are syscall:NAME, syscall-exit:NAME, tracepoint:CATEGORY:NAME, "
			 "uprobe:LIBRARY:SYMBOL and usdt:LIBRARY:PROVIDER:NAME");
		return false;
	}
	if (!source->add(list, source, rest, target, err))
		return false;
	for (u32 i = 0; i < before; i++) /* it may have been named before */
		if (!fnmatch(word, list->all.at[i].name, 0))
			return true;
	if (list->all.count > before)
		return true;
	err_set(err, ERR_USAGE, "%.200s: there is no such event", word);
	err_hint(err, "sonde trace --list '%s:%s*' lists what there is", source->prefix,
		 source->has_library ? "LIBRARY:" : "");
	return false;
}

static u32 kept(struct event_list *list, const char *pattern)
{
	u32 count = 0;

	for (u32 i = 0; i < list->all.count; i++)
		if (!fnmatch(pattern, list->all.at[i].name, 0))
			list->all.at[count++] = list->all.at[i];
	return count;
}

bool events_match(struct event_list *list, const char *pattern, struct err *err)
{
	const char *rest;
	const struct event_source *source = source_of(pattern, &rest);

	if (source)
		return source->add(list, source, rest, NULL, err);
	for (u32 i = 0; i < COUNT_OF(sources); i++)
		if (!sources[i]->has_library)
			sources[i]->add(list, sources[i], "*", NULL, err);
	if (!list->all.count)
		return false;
	list->all.count = kept(list, pattern);
	table_clear(&list->by_name); /* nothing is added any more */
	return true;
}

void event_format(char out[EVENT_NAME_MAX], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(out, EVENT_NAME_MAX, format, args);
	va_end(args);
}

static bool same_name(const void *owner, u32 item, const void *key)
{
	return !strcmp(((const struct event_list *)owner)->all.at[item].name, key);
}

u32 events_put(struct event_list *list, const struct event_source *source, const char *rest,
	       u32 syscall)
{
	struct event event = { .kind = source->kind, .syscall = syscall };

	event_format(event.name, "%s:%s", source->prefix, rest);
	u64 hash = table_hash(event.name, strlen(event.name));
	u32 before = table_find(&list->by_name, hash, same_name, list, event.name);
	if (before != TABLE_NONE)
		return before;
	if (!vec_push(&list->all, event))
		return UINT32_MAX;
	if (table_add(&list->by_name, hash, list->all.count - 1))
		return list->all.count - 1;
	list->all.count--;
	return UINT32_MAX;
}

void events_free(struct event_list *list)
{
	for (u32 i = 0; i < list->files.count; i++)
		close(list->files.at[i]);
	vec_free(&list->files);
	vec_free(&list->sites);
	vec_free(&list->all);
	table_free(&list->by_name);
	table_free(&list->by_site);
}
