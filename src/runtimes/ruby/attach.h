/* SPDX-License-Identifier: Apache-2.0
 * attach.h - attach, with some of the ways to find the VM left out: for tests. */
#pragma once
#include "base/err.h"
#include "runtimes/ruby/layout.h"

struct image;
struct target;

/* `ways`: enum ruby_ways of discover.h. */
bool ruby_attach_by(const struct target *target, const struct image *image, u32 ways,
		    struct ruby_state *state, struct err *err);
