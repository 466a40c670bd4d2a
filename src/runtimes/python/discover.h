/* SPDX-License-Identifier: Apache-2.0
 * discover.h - where the interpreter's state is. */
#pragma once
#include "base/err.h"
#include "runtimes/python/layout.h"

struct image;
struct target;

/* Fills all of `state` but where tids are. ERR_NOT_MINE, ERR_NOT_READY as attach. */
bool python_discover(const struct target *target, const struct image *image,
		     struct python_state *state, struct err *err);
