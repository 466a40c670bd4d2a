/* SPDX-License-Identifier: Apache-2.0
 * go.h - rules for the functions of a Go program, from what its runtime walks by itself.
 *
 * Private to this folder and its tests. */
#pragma once
#include "base/err.h"
#include "base/types.h"

struct image;
struct unwind_rule;

typedef bool unwind_span_fn(void *arg, u64 begin, u64 end, const struct unwind_rule *rule);

/* Every one, in ascending order; an image that is not of Go has none. False and err: its table cannot be read. */
bool unwind_go_spans(const struct image *image, unwind_span_fn *fn, void *arg, struct err *err);
