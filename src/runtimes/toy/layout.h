/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * layout.h - what the walker of the toy VM has to know about its memory.
 *
 *	toy_vm -> [magic][version][threads]
 *	                              |
 *	     thread  next -> ... -> 0 +-> tid, root
 *	       |frame
 *	     frame -prev-> frame -prev-> root frame -prev-> 0
 *	       |code, line
 *	     code    name, 32 bytes
 *
 * Where a field lies inside its struct changes with the VM's version: that is the
 * X-list, and a row of numbers a version (versions.c).  What never changes, the
 * head at the exported symbol, is a struct. */
#pragma once
#include "base/types.h"

#define TOY_LAYOUT(X)    \
	X(thread, next)  \
	X(thread, tid)   \
	X(thread, root)  \
	X(thread, frame) \
	X(frame, prev)   \
	X(frame, code)   \
	X(frame, line)   \
	X(code, name)

struct toy_layout {
#define X(type, field) u16 type##_##field;
	TOY_LAYOUT(X)
#undef X
};

/* The symbol `toy_vm`. The magic is written last, when the VM is ready to be looked at. */
enum { TOY_NAME_SIZE = 32 };
#define TOY_MAGIC 0x315f6d765f796f74 /* "toy_vm_1" */

struct toy_vm_head {
	u64 magic;
	u32 version; /* major << 8 | minor */
	u32 unused;
	u64 threads; /* the first one */
};

/* Plain data, the same in the kernel. */
struct toy_state {
	u64 threads; /* the address of the word that points to the first thread */
	u32 version;
	struct toy_layout at;
};

struct toy_version {
	u32 version;
	struct toy_layout at;
};

/* NULL: unknown. */
const struct toy_version *toy_version_find(u32 version);
