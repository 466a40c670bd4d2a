/* SPDX-License-Identifier: Apache-2.0
 * top_tree.h - one function: who called it, and what it calls.
 *
 * Where it is on a stack more than once, the outermost one counts, so that its callers and what it
 * calls have the same whole.  Where there are several ways to it, what is straight from one up to the
 * root is cut short: else the frames of one caller push the next one off the screen. */
#pragma once
#include "cli/top_sums.h"

struct top_branch {
	u32 key;
	u32 indent; /* one more only where there are several */
	struct top_amount had;
	u32 cut; /* frames from this one to the root, of which none is listed; 0: this one is */
};

struct top_tree {
	struct top_amount had; /* the function's own */
	VEC(struct top_branch) callers, callees;
	bool bad;
};

/* `view`: functions or lines. Branches below `least` of the whole are left out. */
void top_tree_make(struct top_tree *tree, const struct top_sums *sums, enum top_view view,
		   enum top_span span, u32 key, bool by_samples, double least);
void top_tree_free(struct top_tree *tree);
