/* SPDX-License-Identifier: Apache-2.0
 * stitch.h - the native frames of one stack and those of the VMs that it runs become one list.
 *
 *	native    memchr  str_index  LOOP            call_cfunc  LOOP         main  _start
 *	managed                      index block* |              each run*
 *	one       memchr  str_index  index block     call_cfunc  each run     main  _start
 *
 * A native frame in an interpreter's loop (FRAME_LOOP, and `pos` says in whose) stands for a segment of that VM's frames:
 * those up to and with the next through which a loop was entered (FRAME_ENTRY, the * above).  A managed frame of a function
 * written in C is inside its segment; what it calls natively comes before the loop's frame by itself.
 *
 * A frame that says where on the native stack its loop was entered (FRAME_PLACED) belongs to the loop whose frame that is in.
 *
 * Where none says so, order decides.  Managed frames that are too many are on top, where a frame has been pushed and its loop not
 * entered.  Of loops that are too many, one may be at the leaf, entered with its frame not linked: in a list that may end before the
 * native stack does (is_linked, and not known to be rooted), only a loop that has just begun or is about to end (FRAME_LOOP and
 * FRAME_ENTRY), and what it calls then.  All others are outside: they run what the list does not reach, who has switched to a
 * coroutine or called another interpreter.
 *
 * Nothing is dropped, and mismatches are counted: managed frames without a loop are `leftover` and are put on top of the native
 * function that pushed them, loops without frames are `missing` and stay native frames.  One frame on top of a function that is
 * about to enter a loop (FRAME_ENTRY of a native frame) is where it belongs, and no leftover.  Outermost functions written in C
 * need no loop: they go with the segment that they called.  Where the outer end of either list is not known, they are put
 * together from the leaf on.
 *
 * A pure function: no language in it and no engine, so each engine is tested by the same tapes. */
#pragma once
#include "sample/frame.h"

enum { STITCH_VMS = 2 };

/* The frames of one VM, leaf first. */
struct stitch_list {
	const struct frame *frames;
	u32 count;
	bool is_whole;  /* it reaches the first function */
	bool is_linked; /* which need not be that of the native stack */
	bool is_rooted; /* but is: another list with this outermost frame had one for each loop */
};

struct stitch {
	const struct frame
		*native; /* leaf first; of loops and their doors, `pos` is a number of `vms` */
	u32 native_count;
	bool is_whole; /* as of a list */
	/* Of two, the first is what the second calls, as far as no native frame tells. */
	struct stitch_list vms[STITCH_VMS];
};

struct stitched {
	u32 count; /* frames in `out` */
	u32 leftover; /* managed frames that no loop asked for; those outside of a cut stack are none */
	u32 missing;            /* loops for which there were no managed frames */
	u32 on_top[STITCH_VMS]; /* managed frames that are too many, and so on top */
	bool is_cut;            /* `room` was too small: the outermost are missing */
	bool is_torn;           /* the native frames are of two stacks, see stitch() */
	bool is_even
		[STITCH_VMS]; /* both lists whole, and as many loops as segments, at least one */
};

/* Frames of two stacks of one VM that run by turns, one behind the other: by their places, into as much room again.  True: they
 * were not in order, and are in `out`. */
bool stitch_by_place(const struct frame *frames, u32 count, struct frame *out);
/* Leaf first. `room` frames are enough if it is the sum of all counts.
 *
 * A loop that another of its VM calls with at most one function between them runs what the other's frame called, and their frames are
 * linked: where a list ends between the two, one stack is being copied over another (greenlets switch so), and what is outside of
 * the leaf's loop is no stack. */
struct stitched stitch(const struct stitch *in, struct frame *out, u32 room);
