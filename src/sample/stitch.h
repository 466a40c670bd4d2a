/* SPDX-License-Identifier: Apache-2.0
 * stitch.h - the native and the managed frames of one stack become one list.
 *
 *	native    memchr  str_index  LOOP            call_cfunc  LOOP         main  _start
 *	managed                      index block* |              each run*
 *	one       memchr  str_index  index block     call_cfunc  each run     main  _start
 *
 * A native frame in an interpreter's loop (FRAME_LOOP) stands for a segment of managed frames: those up to and with the next
 * through which a loop was entered (FRAME_ENTRY, the * above).  A managed frame of a function written in C is inside its
 * segment; what it calls natively comes before the loop's frame by itself.
 *
 * They are put together from the root on: what does not go together is at the leaf, where a frame has been pushed and its
 * loop not entered, or a loop entered and its frame not linked.  Nothing is lost then, and it is counted: frames that no
 * loop asked for are `leftover` and stand on top of what pushed them, loops that found none are `missing` and stay native
 * frames.  Where the outer end of either list is not known, they are put together from the leaf on.
 *
 * A pure function: no language in it and no engine, so each engine is tested by the same tapes. */
#pragma once
#include "sample/frame.h"

struct stitch {
	const struct frame *native; /* leaf first */
	const struct frame *managed;
	u32 native_count, managed_count;
	bool is_whole; /* both reach the thread's first function */
};

struct stitched {
	u32 count; /* frames in `out` */
	u32 leftover; /* managed frames that no loop asked for; those outside of a cut stack are none */
	u32 missing; /* loops for which there were no managed frames */
	bool is_cut; /* `room` was too small: the outermost are missing */
};

/* Leaf first. `room` frames are enough if it is the sum of both counts. */
struct stitched stitch(const struct stitch *in, struct frame *out, u32 room);
