/* SPDX-License-Identifier: Apache-2.0
 * pthread_tid.h - where the C library keeps the kernel's number of a thread. */
#pragma once
#include "target/target.h"

/* The offset of the tid in struct pthread, whose address is a pthread_t in glibc and musl: found in the
 * process, because it moves between versions.  Right again after a fork, when what the program itself
 * wrote down is still the parent's.  `natives`: pthread_t of its threads, 0 for none; `main_native` is that of the
 * main thread, 0: not known.  0: not found. */
u16 target_find_pthread_tid(const struct target *target, const struct mem *mem, const u64 *natives,
			    u32 count, u64 main_native);
