/* SPDX-License-Identifier: Apache-2.0
 * runtimes.c - list.h as an array. */
#include "runtimes/runtime.h"

#define R(name) extern const struct runtime name##_runtime;
#include "runtimes/list.h"
#undef R

const struct runtime *const runtimes[] = {
#define R(name) &name##_runtime,
#include "runtimes/list.h"
#undef R
};
const u32 runtime_count = COUNT_OF(runtimes);
_Static_assert(COUNT_OF(runtimes) <= 16, "frame kinds are 16 bits and tables are small");
