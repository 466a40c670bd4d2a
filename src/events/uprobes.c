/* SPDX-License-Identifier: Apache-2.0
 * uprobes.c - functions of a library or program, by its symbols. */
#include "events/library.h"
#include "events/sources.h"

#include "elf/image.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdio.h>

static bool add_symbol(struct event_list *list, const struct event_source *source,
		       const struct library *library, const struct image_symbol *symbol)
{
	char name[EVENT_NAME_MAX];

	event_format(name, "%s:%s", library->name, symbol->name);
	u32 event = events_put(list, source, name, 0);
	return event != UINT32_MAX && library_add_site(list, library, event, symbol->value, 0);
}

static bool add(struct event_list *list, const struct event_source *source, const char *pattern,
		const struct target *target, struct err *err)
{
	struct image_symbol symbol;
	struct library library;
	bool good = library_open(&library, list, pattern, target, err);

	for (u32 i = 0; good && image_symbol(library.image, i, &symbol); i++)
		if (symbol.type == STT_FUNC && symbol.section &&
		    !fnmatch(library.rest, symbol.name, 0))
			good = add_symbol(list, source, &library, &symbol) || err_no_memory(err);
	library_close(&library);
	return good;
}

const struct event_source uprobe_source = {
	.prefix = "uprobe",
	.kind = EVENT_UPROBE,
	.has_library = true,
	.add = add,
};
