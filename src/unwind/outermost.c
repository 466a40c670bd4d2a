/* SPDX-License-Identifier: Apache-2.0
 * outermost.c - see outermost.h.
 *
 * A greenlet (greenlet 2.0 and later, and what is built on it: gevent, SQLAlchemy's asyncio) has the slice of a thread's stack that is inside of
 * its first function. When it is switched to, that is copied back; what lies outside stays as whoever had it last has left it.  Who once
 * started the greenlet is not there any more. Earlier greenlets have that function, too, and no symbol of it. */
#include "unwind/outermost.h"

#include "elf/image.h"
#include "unwind/rule.h"

#include <elf.h>
#include <string.h>

/* How their names begin, as they are linked: what follows are the parameters, and a part that was moved elsewhere (.cold). */
static const char *const names[] = {
	"_ZN8greenlet12UserGreenlet15inner_bootstrapE",
};

static bool is_outermost(const struct image_symbol *symbol)
{
	for (u32 i = 0; i < COUNT_OF(names); i++)
		if (symbol->type == STT_FUNC && symbol->size &&
		    strncmp(symbol->name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

void unwind_outermost_spans(const struct image *image, unwind_span_fn *fn, void *arg)
{
	static const struct unwind_rule end = { .kind = UNWIND_END };
	struct image_symbol symbol;

	for (u32 i = 0; image_symbol(image, i, &symbol); i++)
		if (symbol.section && is_outermost(&symbol) &&
		    !fn(arg, symbol.value, symbol.value + symbol.size, &end))
			return;
}
