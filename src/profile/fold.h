/* SPDX-License-Identifier: Apache-2.0
 * fold.h - a profile's stacks as a tree of functions or of lines, with what they weigh.
 *
 * The tree has the stacks that have samples. Frames with the same key are one: every line of a function, or every address of a line (lines.h).
 * Weights are those of the profile: nanoseconds, or samples where it has no other (fold_unit). */
#pragma once
#include "profile/preorder.h"
#include "profile/profile.h"

enum fold_by { FOLD_FUNCTIONS, FOLD_LINES, FOLD_LANGUAGES };

struct fold_value {
	u64 self, total;                 /* weight */
	u64 self_samples, total_samples; /* how many looks that is */
};

struct fold_key {
	u32 item; /* function, location or language (string) */
	u32 site; /* by lines: the location of the call, when `item` has no line; else 0 */
};

struct fold {
	struct names tree;         /* stacks alone; a stack's location is a key */
	struct fold_value *node;   /* by stack of the tree; [0]: all */
	VEC(struct fold_key) keys; /* by functions and languages: key n is item n */
	u32 first_thread;          /* the key of thread 0, if threads are folded by, too */
	struct fold_value *row;    /* by key; recursion counts once in `total` */
	bool by_samples;           /* the weights are samples */
};

/* With `by_threads` each thread is a frame at the root. False when out of memory. */
bool fold_make(struct fold *fold, const struct profile *profile, enum fold_by by, bool by_threads);
void fold_free(struct fold *fold);
/* "CPU time", "time", "samples": what the weights are, for people. */
const char *fold_unit(const struct profile *profile);
