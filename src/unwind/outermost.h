/* SPDX-License-Identifier: Apache-2.0
 * outermost.h - functions behind whose frame a stack ends, though their own tables lead on.
 *
 * Private to this folder and its tests. */
#pragma once
#include "unwind/spans.h"

struct image;

/* Every one, all of it. */
void unwind_outermost_spans(const struct image *image, unwind_span_fn *fn, void *arg);
