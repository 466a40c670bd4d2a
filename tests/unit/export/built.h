/* SPDX-License-Identifier: Apache-2.0
 * built.h - profiles for tests, built by hand or read from folded lines.
 *
 *	built_line(&p, "thread main (7);Foo#bar (/app/foo.rb:3);[moving] 12");
 *
 * reads exactly what export/folded.c writes, and turns \n and \xNN back into bytes, so
 * that one text is profile and expectation.  " [c]" behind a label makes it a C function
 * of the runtime; in front of " [native]" and " [inlined]" may stand what is known of the code:
 * " {/lib/libz.so.1 /src/deflate.c:12}", " {/lib/libz.so.1}".  Without a thread the thread is "main" (1), without a process the
 * process is "ruby" (1). A sample weighs 10 ms. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "profile/profile.h"

enum { BUILT_WEIGHT_NS = 10 * 1000 * 1000 };

/* The bytes that `text` says; the inverse of text_add_safe(). */
static inline u32 built_string(struct names *names, const char *text, size_t length)
{
	AUTO_FREE char *bytes = malloc(length + 1);
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned value;
		if (text[i] == '\\' && i + 1 < length && text[i + 1] == 'n') {
			bytes[used++] = '\n';
			i++;
		} else if (text[i] == '\\' && i + 3 < length &&
			   sscanf(text + i, "\\x%2x", &value) == 1) {
			bytes[used++] = (char)value;
			i += 3;
		} else {
			bytes[used++] = text[i];
		}
	}
	return names_string(names, bytes, used);
}

static inline bool built_ends(const char *text, size_t *length, const char *end)
{
	size_t tail = strlen(end);

	if (*length < tail || memcmp(text + *length - tail, end, tail))
		return false;
	*length -= tail;
	return true;
}

/* Takes " {image path:line}" off the end. */
static inline void built_place(struct names *names, const char *text, size_t *length,
			       struct name_function *function, struct name_location *location)
{
	size_t open = *length;

	while (open && text[open - 1] != '{')
		open--;
	if (open < 2 || text[*length - 1] != '}')
		return;
	const char *at = text + open, *end = text + *length - 1;
	const char *space = memchr(at, ' ', (size_t)(end - at));
	const char *colon = space ? memrchr(space, ':', (size_t)(end - space)) : NULL;
	function->image = built_string(names, at, (size_t)((space ? space : end) - at));
	if (colon) {
		function->path = built_string(names, space + 1, (size_t)(colon - space - 1));
		location->line = (u32)strtoul(colon + 1, NULL, 10);
	}
	*length = open - 2;
}

/* "label (path:line)", "label [c]", "symbol [native]", "symbol [kernel]", or a mark. */
static inline u32 built_location(struct names *names, const char *text, size_t length)
{
	struct name_function function = { 0 };
	struct name_location location = { 0 };

	for (u32 mark = 0; mark < MARK_COUNT; mark++)
		if (strlen(frame_mark_text(mark)) == length &&
		    !memcmp(frame_mark_text(mark), text, length))
			return names_mark(names, mark);
	const char *open = NULL;
	for (size_t i = 0; i + 1 < length; i++)
		if (text[i] == ' ' && text[i + 1] == '(')
			open = text + i;
	bool is_inlined = built_ends(text, &length, " [inlined]");
	if (is_inlined || built_ends(text, &length, " [native]")) {
		function.language = names_text(names, "native");
		function.flags = is_inlined ? FRAME_INLINED : 0;
		built_place(names, text, &length, &function, &location);
	} else if (built_ends(text, &length, " [kernel]")) {
		function.language = names_text(names, "kernel");
	} else if (built_ends(text, &length, " [c]")) {
		function.language = names_text(names, "ruby");
		function.flags = FRAME_C;
	} else {
		function.language = names_text(names, "ruby");
		if (open && text[length - 1] == ')') {
			const char *path = open + 2, *end = text + length - 1, *colon = end;
			while (colon > path && *colon != ':')
				colon--;
			if (colon > path)
				location.line = (u32)strtoul(colon + 1, NULL, 10);
			function.path = built_string(names, path,
						     (size_t)((colon > path ? colon : end) - path));
			length = (size_t)(open - text);
		}
	}
	function.name = built_string(names, text, length);
	location.function = names_function(names, &function);
	return names_location(names, &location);
}

/* "NAME (NUMBER)" behind `word`; false when the frame is not that. */
static inline bool built_root(const char *text, size_t length, const char *word, char *name,
			      size_t room, u32 *number)
{
	size_t skip = strlen(word);
	const char *open = memrchr(text, '(', length);

	if (length <= skip || memcmp(text, word, skip) || !open || open <= text + skip)
		return false;
	snprintf(name, room, "%.*s", (int)(open - 1 - (text + skip)), text + skip);
	*number = (u32)strtoul(open + 1, NULL, 10);
	return true;
}

static inline void built_line(struct profile *profile, const char *line)
{
	char process_name[64] = "ruby", thread_name[64] = "main";
	u32 pid = 1, tid = 1, stack = 0;
	const char *end = strrchr(line, ' '), *at = line;
	u64 count = strtoull(end + 1, NULL, 10);

	while (at < end) {
		size_t length = strcspn(at, ";");
		if (at + length > end)
			length = (size_t)(end - at);
		if (stack ||
		    (!built_root(at, length, "process ", process_name, sizeof process_name, &pid) &&
		     !built_root(at, length, "thread ", thread_name, sizeof thread_name, &tid)))
			stack = names_stack(&profile->names, stack,
					    built_location(&profile->names, at, length));
		at += length + 1;
	}
	u32 process = profile_process(profile, pid, 1, process_name);
	u32 thread = profile_thread(profile, process, tid, 0, thread_name);
	for (u64 i = 0; i < count; i++)
		profile_add(profile, thread, stack, BUILT_WEIGHT_NS, 0);
}

static inline void built_lines(struct profile *profile, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		AUTO_FREE char *line = strndup(text, length);
		if (line && strrchr(line, ' '))
			built_line(profile, line);
		text += length + (text[length] == '\n');
	}
}

/* What a session fills in, for a run in which everything went well. */
static inline void built_facts(struct profile *profile)
{
	u64 samples = profile_total_count(profile);

	profile->mode = "cpu";
	profile->hz = 99;
	profile->start_unix_ns = UINT64_C(1790000000) * NS_PER_S;
	profile->duration_ns = 10 * NS_PER_S;
	profile->title = "ruby app.rb (pid 42)";
	profile->command = "sonde record -p 42";
	profile->quality = (struct quality){
		.expected = samples,
		.taken = samples,
		.samples = samples,
		.complete = samples,
		.processes = profile->processes.count,
		.threads = profile->threads.count,
		.begin_ns = NS_PER_S,
		.end_ns = 11 * NS_PER_S,
		.own_cpu_ns = 80 * NS_PER_MS,
		.engine = "reader",
	};
}
