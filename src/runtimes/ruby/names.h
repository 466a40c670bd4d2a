/* SPDX-License-Identifier: Apache-2.0
 * names.h - what a frame is called. */
#pragma once
#include "runtimes/ruby/layout.h"
#include "runtimes/runtime.h"

bool ruby_name_frame(const struct mem *mem, const void *state, const struct frame *frame,
		     struct frame_name *out);
