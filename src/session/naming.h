/* SPDX-License-Identifier: Apache-2.0
 * naming.h - raw frames become names, once, and stay right.
 *
 * A managed name must be read while its object lives, so it is read when a frame is
 * first seen.  An address can then come to mean something else: an eval'd method is freed
 * and another is put in its place.  The cache is therefore validated:
 *
 * - Within one generation of the runtime (struct sample) no address was reused: trusted.
 * - After it, by its witness: a name is a pure function of the bytes that were read for it.
 *   The same bytes at the same addresses are the same name.  One vectored read checks all stale
 *   frames of a sample; only what differs is read anew.
 * - A name that is read anew counts if the generation is still the sample's own afterwards, or
 *   it is the name that it had, or the frame is still on its thread's stack, which keeps its object
 *   alive.  Otherwise the frame is unnamed, and counted, until its name is proven: it is met again, or the same is
 *   still read a while and a collection later, or no address of the program was ever seen to be used again.
 * - Where only whom it was called as is gone, code that is what it was has the name that it had, or gets (if that is one, and the
 *   frame has a place in it, which no C function's has).
 * - A program in which an address was seen to change its meaning is given no benefit of doubt. */
#pragma once
#include "engines/engine.h"
#include "mem/tape.h"
#include "runtimes/runtime.h"
#include "sample/names.h"

struct naming; /* opaque */
struct profile;

/* What a location is: a function (its first line), a line of it, or a part of a line, where the language says
 * which. */
enum naming_detail { NAMING_FUNCTIONS, NAMING_LINES, NAMING_COLUMNS };

struct naming *naming_new(struct names *names, enum naming_detail detail);
void naming_free(struct naming *naming);
/* There will be native frames. */
void naming_prepare_natives(struct naming *naming);
/* The stack of a sample's frames (a number of `names`); 0 when it has none. */
u32 naming_stack(struct naming *naming, const struct sample *sample,
		 const struct sample_source *source);
/* All samples are named: names that are still in doubt are given if this program never used an address again. */
void naming_settle(struct naming *naming);
/* All samples are named: what more there is to know of native frames becomes parts of the profile (natives.h). */
void naming_find_parts(struct naming *naming, struct profile *profile);
/* Frames given as unnamed so far. */
u64 naming_unnamed(const struct naming *naming);
