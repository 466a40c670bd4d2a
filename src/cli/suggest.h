/* SPDX-License-Identifier: Apache-2.0
 * suggest.h - "did you mean": the nearest of some words to one that was mistyped.
 *
 * Nearness is the number of letters to insert, delete, change or swap with a
 * neighbour.  A third of the letters may be wrong, at least one; what is farther
 * away would be a guess that only confuses. */
#pragma once
#include "base/types.h"

struct suggest {
	const char *given;
	const char *best; /* NULL: none is near */
	u32 distance;     /* of the best */
};

struct suggest suggest_make(const char *given);
/* NULL is ignored, so that optional names can be handed over as they are. */
void suggest_consider(struct suggest *suggest, const char *word);
/* Letters to change; words are looked at up to their 32nd letter. */
u32 suggest_distance(const char *a, const char *b);
