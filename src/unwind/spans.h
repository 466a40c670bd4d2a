/* SPDX-License-Identifier: Apache-2.0
 * spans.h - from each source of rules come spans: addresses, as linked, and the rule of all of them.
 *
 * Private to this folder and its tests. */
#pragma once
#include "base/types.h"

struct unwind_rule;

/* False: no more of them. */
typedef bool unwind_span_fn(void *arg, u64 begin, u64 end, const struct unwind_rule *rule);
