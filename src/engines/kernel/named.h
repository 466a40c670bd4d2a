/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * named.h - the bytes that name a function, as they were when it was first seen.
 *
 *	records   ... | named | named | sample | ...     of the thread's sample that comes next
 *
 * Code may die before its name is asked for: a Python module's runs once.  What is copied is what name_frame() of the
 * runtime will read (walk.h, enum name_place).  The layout is pinned, as in shared.h. */
#pragma once
#include "engines/kernel/shared.h"
#include "runtimes/walk.h"

enum {
	/* Bytes of each place: longer names, and longer tables of lines, have to be read while they are there. */
	NAMED_FUNCTION_ROOM = 256,
	NAMED_LABEL_ROOM = 192,
	NAMED_PATH_ROOM = 320,
	NAMED_TYPE_ROOM = 8,
	NAMED_OF_TYPE_ROOM = 16,
	NAMED_LINES_ROOM = 16384, /* as many as there are */
	NAMED_BYTES = NAMED_FUNCTION_ROOM + NAMED_LABEL_ROOM + NAMED_PATH_ROOM + NAMED_TYPE_ROOM +
		      NAMED_OF_TYPE_ROOM + NAMED_LINES_ROOM,
	NAMED_MOST = 64, /* of a sample: some 2 us each */
};

struct kernel_piece {
	u64 addr;
	u32 at, length; /* in `bytes` */
};

/* Of KERNEL_NAMED; it ends where its last piece does. */
struct kernel_named {
	struct kernel_head head;
	u64 id, owner; /* of its frames */
	struct kernel_piece pieces[NAME_PLACES];
	u8 bytes[NAMED_BYTES];
};

#ifndef __bpf__
_Static_assert(sizeof(struct kernel_named) == sizeof(struct kernel_head) + 16 + 96 + 17176,
	       "crosses the kernel boundary");
#endif
