/* SPDX-License-Identifier: Apache-2.0
 * interned.h - the dict of all strings that are interned (3.6 to 3.11), names of functions among them.
 *
 * A string is taken out of it before it is freed (unicode_dealloc), and each change gives a dict a version that none had before
 * (PEP 509): while its version stays, what was an interned string is the same one.  From 3.12 on it is no dict, and
 * code objects have versions of their own. */
#pragma once
#include "runtimes/python/layout.h"

struct loaded;

/* Its address; 0: not found. It is a variable of unicodeobject.c, which a stripped image does not name. */
u64 python_find_interned(const struct loaded *place, const struct python_state *state);
