/* SPDX-License-Identifier: Apache-2.0
 * notes.h - the section .note.stapsdt: foreign bytes become probes.
 *
 *	name size, description size, type 3 | "stapsdt\\0" | pc, base, semaphore | provider\\0 name\\0 arguments\\0 */
#pragma once
#include "base/types.h"

struct note_probe {
	u64 pc, base, semaphore;     /* as linked */
	const char *provider, *name; /* of the bytes; NULL: it is another kind of note */
};

/* The note at `*at`, which is moved on to the next. False: the bytes end, or are no notes. */
bool notes_next(const u8 *bytes, size_t size, size_t *at, struct note_probe *out);
