/* SPDX-License-Identifier: Apache-2.0
 * code.h - rules for code that no table tells about, from what its instructions do to the stack.
 *
 * musl has no tables (Alpine: all of libc), nor has much that is written in assembly. From where a function begins, the distance
 * to its caller's frame is followed along every way through it. Where that cannot be known there is no rule.
 *
 * Private to this folder and its tests. */
#pragma once
#include "base/types.h"
#include "unwind/spans.h"

struct image;

/* Those parts of the image that are code and between these spans, which are sorted and do not overlap. */
struct unwind_covered {
	u64 begin, end; /* as linked */
};

/* False when out of memory. */
bool unwind_code_spans(const struct image *image, const struct unwind_covered *covered, u32 count,
		       unwind_span_fn *fn, void *arg);
/* All code but what is covered, of the functions that begin at the entries, as far as it is sure that they come there. */
bool unwind_code_spans_of(const struct image *image, const struct unwind_covered *covered,
			  const u64 *entries, u32 count, unwind_span_fn *fn, void *arg);
