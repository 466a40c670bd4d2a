/* SPDX-License-Identifier: Apache-2.0
 * maps.c - fuzzing the reader of /proc/PID/maps: any text, in two pieces.
 *
 * What it makes of the text must be sorted, without overlaps and with paths that
 * end; anything else is a bug, whatever the text was. */
#include "target/maps.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

const char fuzz_name[] = "maps";

static void check(const struct maps *maps)
{
	u64 end = 0;

	for (u32 i = 0; i < maps->all.count; i++) {
		const struct mapping *mapping = &maps->all.at[i];
		if (mapping->start < end || mapping->end <= mapping->start)
			abort();
		if (mapping->path >= maps->paths.count ||
		    !memchr(maps->paths.at + mapping->path, 0, maps->paths.count - mapping->path))
			abort();
		end = mapping->end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct maps maps = { 0 };
	size_t taken, first = size / 2;
	/* Exact copies, so that a read behind the text is seen. */
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	if (maps_add_text(&maps, text, first, &taken, NULL))
		maps_add_text(&maps, text + taken, size - taken, &taken, NULL);
	check(&maps);
	maps_free(&maps);
	free(text);
	return 0;
}
