/* SPDX-License-Identifier: Apache-2.0
 * self.h - our own memory, read so that a wrong address is a failed read.
 *
 * Who walks structures that other threads change and free (tests do, of their own process) meets wrong ones.
 * Loading through a pointer could fault; asking the kernel to copy cannot. */
#pragma once
#include "mem/mem.h"

/* There is one memory of our own, and it needs no state: nothing goes stale in a forked child. */
extern const struct mem mem_self;
