/* SPDX-License-Identifier: Apache-2.0
 * locals.h - the local variables of a frame. */
#pragma once
#include "base/str.h"
#include "mem/mem.h"
#include "runtimes/python/layout.h"
#include "sample/frame.h"

/* Adds "name = value\n" for each variable that has a value; false when it is not this frame any more. */
bool python_add_locals(const struct mem *mem, const void *state, const struct frame *frame,
		       struct str *out);
