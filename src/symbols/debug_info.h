/* SPDX-License-Identifier: Apache-2.0
 * debug_info.h - what debugging information says of an address: lines, and the functions that were inlined there.
 *
 * libdw (elfutils) finds it: in the file itself, in .gnu_debugdata, beside the file (.gnu_debuglink), by build-id below
 * /usr/lib/debug, and from the servers of DEBUGINFOD_URLS where that is set.  It takes its time, and is not asked while
 * samples are taken. */
#pragma once
#include "base/types.h"

struct image;
struct debug_info; /* opaque */

enum { DEBUG_PLACES_MAX = 32 };

/* A function that an address is in. Its texts live as long as the struct debug_info. */
struct debug_place {
	const char *name; /* as it is linked, if it is; else as it is written. NULL: unknown */
	const char *path; /* of the source; NULL: unknown */
	u32 line;         /* where in it; 0: unknown */
	u32 first_line;   /* of the function; 0: unknown */
	bool is_inlined;  /* into the next one */
};

/* The image is borrowed for the call. NULL: there is nothing to be had of it, or too much. */
struct debug_info *debug_info_open(const struct image *image);
void debug_info_close(struct debug_info *info);
/* Of an address as linked: the innermost first, the function that is called as the last. How many; 0: nothing is known. */
u32 debug_info_find(struct debug_info *info, u64 address,
		    struct debug_place places[DEBUG_PLACES_MAX]);
