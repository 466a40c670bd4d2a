/* SPDX-License-Identifier: Apache-2.0
 * tapes.h - `--tape DIR`: walks as files, for tests and bug reports.
 *
 * Keeps the first walks of every process and, beyond them, those that met memory
 * which made no sense: what one wants to see in a report.  Never more than a few hundred
 * small files. The format is mem/tape.h's. */
#pragma once
#include "engines/reader/look.h"
#include "mem/tape.h"

struct tapes {
	const char *dir; /* NULL: off */
	struct tape tape;
	struct mem_record record;
	u32 plain, strange; /* files written of each sort */
};

/* What the next look should read through; NULL when nothing is to be recorded. */
const struct mem *tapes_begin(struct tapes *tapes, const struct mem *from);
/* Keeps it or not. A file that cannot be written ends the recording of tapes, not of samples. */
void tapes_end(struct tapes *tapes, const struct look_subject *subject,
	       const struct look_result *result, const look_frames *stack);
void tapes_fini(struct tapes *tapes);
