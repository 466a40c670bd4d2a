/* SPDX-License-Identifier: Apache-2.0
 * usdt.c - probes that authors put into their programs: notes of the section .note.stapsdt.
 *
 * The addresses are as linked, and moved by as much as .stapsdt.base was by a later prelink (SystemTap's wiki,
 * UserSpaceProbeImplementation). A probe may be at several places: one event. */
#include "events/library.h"
#include "events/notes.h"
#include "events/sources.h"

#include "elf/image.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NOTES_MOST = 16 << 20 };

static bool add_probe(struct event_list *list, const struct event_source *source,
		      const struct library *library, const struct note_probe *probe, u64 moved)
{
	char name[EVENT_NAME_MAX];
	u64 semaphore = probe->semaphore ? probe->semaphore + moved : 0;

	event_format(name, "%s:%s", probe->provider, probe->name);
	if (fnmatch(library->rest, name, 0) != 0)
		return true;
	event_format(name, "%s:%s:%s", library->name, probe->provider, probe->name);
	u32 event = events_put(list, source, name, 0);
	return event != UINT32_MAX &&
	       library_add_site(list, library, event, probe->pc + moved, semaphore);
}

static bool add_probes(struct event_list *list, const struct event_source *source,
		       const struct library *library, const u8 *bytes, size_t size)
{
	struct image_section base = { 0 };
	struct note_probe probe;
	bool has_base = image_section_named(library->image, ".stapsdt.base", &base);
	size_t at = 0;

	while (notes_next(bytes, size, &at, &probe)) {
		u64 moved = has_base ? base.address - probe.base : 0;
		if (probe.name && !add_probe(list, source, library, &probe, moved))
			return false;
	}
	return true;
}

static bool add_notes(struct event_list *list, const struct event_source *source,
		      const struct library *library, struct err *err)
{
	struct image_section notes;

	if (!image_section_named(library->image, ".note.stapsdt", &notes)) {
		err_set(err, ERR_USAGE, "%s has no USDT probes", library->name);
		err_hint(err, "they are there when it was built with them (--enable-dtrace)");
		return false;
	}
	u8 *bytes = notes.size <= NOTES_MOST ? malloc(notes.size) : NULL;
	if (!bytes)
		return err_no_memory(err);
	ssize_t got = pread(library->file, bytes, notes.size, (off_t)notes.offset);
	bool good = add_probes(list, source, library, bytes, got > 0 ? (size_t)got : 0) ||
		    err_no_memory(err);
	free(bytes);
	return good;
}

static bool add(struct event_list *list, const struct event_source *source, const char *pattern,
		const struct target *target, struct err *err)
{
	struct library library;
	bool good = library_open(&library, list, pattern, target, err) &&
		    add_notes(list, source, &library, err);

	library_close(&library);
	return good;
}

const struct event_source usdt_source = {
	.prefix = "usdt",
	.kind = EVENT_USDT,
	.has_library = true,
	.add = add,
};
