/* SPDX-License-Identifier: Apache-2.0
 * notes.c - fuzzing the reader of .note.stapsdt: any bytes. What it gives lies in them, and it comes to an end. */
#include "events/notes.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

const char fuzz_name[] = "notes";

static void check_text(const char *text, const u8 *bytes, size_t size)
{
	const u8 *at = (const u8 *)text;

	if (at < bytes || at >= bytes + size || !memchr(at, 0, (size_t)(bytes + size - at)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct note_probe probe;
	size_t at = 0, before = 0;
	u8 *bytes = malloc(size ? size : 1); /* exact: a read behind it is seen */

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	for (; notes_next(bytes, size, &at, &probe); before = at) {
		if (at <= before || at > size)
			abort();
		if (!probe.provider != !probe.name)
			abort();
		if (probe.name) {
			check_text(probe.provider, bytes, size);
			check_text(probe.name, bytes, size);
		}
	}
	free(bytes);
	return 0;
}
