/* SPDX-License-Identifier: Apache-2.0
 * packed.h - how much .gnu_debugdata unpacks to, before anybody unpacks it. Private to this folder.
 *
 * It is an ELF file with symbols, packed by xz. Of 150 kB of it libdw makes a gigabyte, if whoever made it wants that. */
#pragma once
#include "base/types.h"

enum { PACKED_MAX = 16 << 20, UNPACKED_MAX = 64 << 20 };

/* The bytes that the first stream unpacks to; UINT64_MAX: it is no xz stream, or one that is cut. */
u64 packed_size(const void *bytes, size_t length);
