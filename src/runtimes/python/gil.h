/* SPDX-License-Identifier: Apache-2.0
 * gil.h - where the GIL is, for who asks whether a futex is it. */
#pragma once
#include "mem/mem.h"

struct python_state;

/* In 2.7 it is one lock among many on the heap: looks for the one that somebody waits for, into state->gil. */
void python_find_gil(const struct mem *mem, struct python_state *state);
/* From 3.12 on each interpreter may have its own. */
bool python_is_gil(const struct mem *mem, const struct python_state *state, u64 address);
