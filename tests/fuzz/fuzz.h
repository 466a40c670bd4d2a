/* SPDX-License-Identifier: Apache-2.0
 * fuzz.h - what a harness owes: one input at a time, and the name of its corpus. */
#pragma once
#include <stddef.h>
#include <stdint.h>

extern const char fuzz_name[]; /* corpus/<name>/ holds its inputs */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
