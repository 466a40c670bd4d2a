/* SPDX-License-Identifier: Apache-2.0
 * uprobes.c - functions of a library or program, by its symbols. */
#include "events/library.h"
#include "events/sources.h"

#include "base/str.h"
#include "elf/image.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { IMPLEMENTATIONS_TOLD = 6 };

static bool add_symbol(struct event_list *list, const struct event_source *source,
		       const struct library *library, const struct image_symbol *symbol)
{
	char name[EVENT_NAME_MAX];

	event_format(name, "%s:%s", library->name, symbol->name);
	u32 event = events_put(list, source, name, 0);
	return event != UINT32_MAX && library_add_site(list, library, event, symbol->value, 0);
}

static bool is_function(const struct image_symbol *symbol)
{
	return symbol->section && (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC);
}

/* Of several versions, the one that everybody calls counts: memcpy@GLIBC_2.2.5 is for programs of 2010. */
static bool has_newer(const struct image *image, const struct image_symbol *symbol)
{
	struct image_symbol other;

	for (u32 i = 0; symbol->is_old && image_symbol(image, i, &other); i++)
		if (!other.is_old && is_function(&other) && !strcmp(other.name, symbol->name))
			return true;
	return false;
}

/* By the names that glibc gives them: memcpy is __memcpy_avx_unaligned or another. */
static void hint_at_implementations(const struct library *library, const char *name,
				    struct err *err)
{
	struct image_symbol symbol;
	struct str all = { 0 };
	u32 count = 0;

	for (u32 i = 0; count < IMPLEMENTATIONS_TOLD && image_symbol(library->image, i, &symbol);
	     i++) {
		size_t length = strlen(name);
		if (symbol.type != STT_FUNC || !symbol.section ||
		    strncmp(symbol.name, "__", 2) != 0 ||
		    strncmp(symbol.name + 2, name, length) != 0 || symbol.name[2 + length] != '_')
			continue;
		str_addf(&all, "%s%.60s", count++ ? ", " : "", symbol.name);
	}
	if (count)
		err_hint(err, "probe what may be chosen: %s", all.text);
	else
		err_hint(err, "what may be chosen has no names in this file (it is stripped)");
	str_free(&all);
}

/* There is no instruction to put a probe at: the symbol's are those that choose, once, when the program is loaded. */
static bool refuse_chosen(const struct library *library, const char *name, struct err *err)
{
	err_set(err, ERR_USAGE,
		"\"%.100s\" of %s is no function but a choice among several, made when the program is "
		"loaded (IFUNC)",
		name, library->name);
	hint_at_implementations(library, name, err);
	return false;
}

static bool add(struct event_list *list, const struct event_source *source, const char *pattern,
		const struct target *target, struct err *err)
{
	struct image_symbol symbol;
	struct library library;
	const char *chosen = NULL;
	bool good = library_open(&library, list, pattern, target, err), has_any = false;

	for (u32 i = 0; good && image_symbol(library.image, i, &symbol); i++) {
		if (!is_function(&symbol) || fnmatch(library.rest, symbol.name, 0) ||
		    has_newer(library.image, &symbol))
			continue;
		if (symbol.type == STT_GNU_IFUNC) {
			chosen = symbol.name;
			continue;
		}
		has_any = true;
		good = add_symbol(list, source, &library, &symbol) || err_no_memory(err);
	}
	if (good && chosen && !has_any)
		good = refuse_chosen(&library, chosen, err);
	library_close(&library);
	return good;
}

const struct event_source uprobe_source = {
	.prefix = "uprobe",
	.kind = EVENT_UPROBE,
	.has_library = true,
	.add = add,
};
