/* SPDX-License-Identifier: Apache-2.0
 * go.h - rules for the functions of a Go program, from what its runtime walks by itself.
 *
 * Private to this folder and its tests. */
#pragma once
#include "base/err.h"
#include "unwind/spans.h"

struct image;

/* Every one, in ascending order; an image that is not of Go has none. False and err: its table cannot be read. */
bool unwind_go_spans(const struct image *image, unwind_span_fn *fn, void *arg, struct err *err);
