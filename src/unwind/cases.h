/* SPDX-License-Identifier: Apache-2.0
 * cases.h - where a jump through a table leads.
 *
 * The two forms that gcc and clang give a switch: of code that can be anywhere, which adds the table's address to one of its words of 32
 * bits; and of code with a fixed address, whose table has addresses.
 *
 * Private to this folder. */
#pragma once
#include "unwind/gaps.h"

typedef void unwind_case_fn(void *arg, u64 address);

/* Each case of the jump at `at`, which leads into the function that jumps. */
void unwind_each_case(const struct gaps *gaps, const struct gap *gap, u64 at,
		      const struct instruction *jump, unwind_case_fn *fn, void *arg);
