/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * types.h - fixed-width integers, spelled the way the kernel spells them.
 *
 * Walker text is compiled for user space and for BPF; both see the same names.
 * An address in a target is a u64 and never a pointer: a pointer that may not
 * be dereferenced must not look like one. */
#pragma once

#ifdef __bpf__
#include <linux/types.h>
typedef __u64 u64;
typedef __u32 u32;
typedef __u16 u16;
typedef __u8 u8;
typedef __s64 s64;
typedef __s32 s32;
typedef __s16 s16;
typedef __s8 s8;
#ifndef bool
#define bool _Bool
#define true 1
#define false 0
#endif
#ifndef NULL
#define NULL ((void *)0)
#endif
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;
typedef int64_t s64;
typedef int32_t s32;
typedef int16_t s16;
typedef int8_t s8;
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
