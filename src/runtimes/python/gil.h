/* SPDX-License-Identifier: Apache-2.0
 * gil.h - where the GIL is, for who asks whether a futex is it. */
#pragma once
#include "mem/mem.h"

struct python_state;

/* From 3.12 on each interpreter may have its own. */
bool python_is_gil(const struct mem *mem, const struct python_state *state, u64 address);
