/* SPDX-License-Identifier: Apache-2.0
 * rewritten.h - where the table of a program that LLVM's BOLT has rewritten is wrong.
 *
 * BOLT moves blocks, pushes and pops of a linked program, and with `-frame-opt` it gets the rows of what it has moved wrong (19 and 21
 * do): of CPython 3.13, built as its Makefile does with --enable-bolt and as uv's Pythons are, 1.4 % of the instructions of the hot part
 * have the CFA of another block.  A function that begins as one is followed from there (code.h), through all of its parts; where its
 * instructions have moved sp by another distance than the rows say, they are right.
 *
 * Private to this folder and its tests. */
#pragma once
#include "base/types.h"
#include "unwind/spans.h"

struct image;
struct unwind_point;

/* The rows of an image, and where its functions begin as functions do. */
struct unwind_told {
	const struct unwind_point *points; /* in ascending order */
	const struct unwind_rule *rules;
	const u64 *entries;
	u32 point_count, entry_count;
};

bool unwind_is_rewritten(const struct image *image);
/* What is right, where that is something else: apart from each other, in ascending order. False when out of memory. */
bool unwind_rewritten_spans(const struct image *image, const struct unwind_told *told,
			    unwind_span_fn *fn, void *arg);
