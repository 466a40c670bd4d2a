/* SPDX-License-Identifier: Apache-2.0
 * kept_names.h - what the kernel has kept of the bytes that name functions: the newest, 8 to 16 MB of them. */
#pragma once
#include "engines/kernel/named.h"
#include "mem/mem.h"

#include <stddef.h>

struct kept_names;

/* NULL: out of memory. */
struct kept_names *kept_names_new(void);
/* `kept`: NULL is fine. */
void kept_names_free(struct kept_names *kept);
/* A function of the process image `incarnation`, as a record of `size` bytes. Out of memory: it is not kept. */
void kept_names_add(struct kept_names *kept, u64 incarnation, const struct kernel_named *named,
		    size_t size);
/* What name_frame() may read of the frame's function, as it was when that was first seen; what stays as it is in all the
 * process is read from `live`.  NULL: nothing was kept.  Valid until the next call. */
const struct mem *kept_names_find(struct kept_names *kept, u64 incarnation,
				  const struct frame *frame, const struct mem *live);
