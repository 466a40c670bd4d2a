/* SPDX-License-Identifier: Apache-2.0
 * names.h - what a code object is called, and the line an instruction stands in. */
#pragma once
#include "runtimes/runtime.h"

bool python_name_frame(const struct mem *mem, const void *state, const struct frame *frame,
		       struct frame_name *out);
