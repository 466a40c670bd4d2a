/* SPDX-License-Identifier: Apache-2.0
 * calls.h - which frame was seen to call which.
 *
 * A read that conflicts still saw something true: at the first head's instant the stack was
 * so deep, and each slot of it held, then or a moment later, what the first copy shows.
 * Most of it is the stack.  What can be wrong is a pair: a caller has returned and another function
 * lies in its slot, above a leftover of its predecessor ("bob called map", which it never does).
 * So the walk of the first copy is believed from the root on, as long as each frame
 * has been seen between its two neighbours in a stack of this program that held.
 *
 * A slot that was replaced meanwhile gives itself away: what it holds does not call what lies
 * under it.  If the thread is known for one function that is called by its caller and calls its callee,
 * that one was there at the head's instant, and it is put back.  A caller's place can
 * have moved on in the same way: then it is given the place from which that callee is called.
 *
 * Asking instead that a frame stand through every copy, or reading again until all holds, keeps
 * long-lived frames and loses short ones: 10 to 30 points of a function's total share in a tight
 * loop (bench/torn). This keeps total shares, and no pair that never was.
 *
 * A callee that ends sooner than a read takes holds only when it is met again, or what is left of it: a function
 * of 20 ns eight times in 700,000 samples, and three of these with its caller on the line behind the call. So
 * where a pair is met moving far more often than it held, a place must be nine tenths of many sightings;
 * else the stack ends at the caller.
 *
 * A program fast enough (tight loops under a JIT) can be twice where it was while everything around it
 * was read, so that a wrong stack holds: about one in a thousand.  It shows in numbers: between the
 * same neighbours the right frame is seen a hundred times more often.  So for threads that
 * are known to be restless a frame that is a fiftieth of what lies between its neighbours, beside one that is
 * nine tenths of it, is not believed, nor one that was seen there less than eight times.  The numbers are the
 * thread's own where it was seen there often enough: of two threads that call the same function, one can do
 * so a hundred times more often.
 *
 * Where frames are a list (WALK_LINKED), one that outlives its call can be met again on another path, its
 * neighbours too.  There all callers must have been seen together, and what usually has a caller is
 * no root: the link was cut when it was read.  An array needs neither, and to ask for both would cost it
 * the inner frames of every path that is seen for the first time.
 *
 * A VM may publish a frame before it fills it (WALK_TOP_UNSURE): then even a thread that is stopped can
 * have a whole frame of an earlier call for its leaf, one time in a thousand.  That one was really
 * called, from elsewhere, and by code as short as the gap that is met: it can be a thirtieth of
 * the leaf's true sightings, and the bar above is too high for it.  But the place in the caller gives
 * it away, too: it nearly always calls one other function.  A leaf that is rare by both is a leftover,
 * and left out; nothing else of such a stack is in doubt. */
#pragma once
#include "base/table.h"
#include "base/vec.h"
#include "sample/frame.h"

struct call {
	u64 key;
	u64 id, owner; /* sandwiches: the most frequent of what lies between; sites: of what is called */
	u64 count;
	u64 moved; /* pairs: how often it was met in a stack that moved */
	u32 pos;   /* pairs: the most frequent place of the caller; triples: the middle's last */
	u16 flags; /* triples: of the middle */
	u32 votes; /* by which `id` or `pos` leads (Boyer and Moore's majority vote) */
};

/* A stack that was learned lately. */
struct learned {
	u64 hash;
	u32 plausible; /* judgements in a row that the numbers did not speak against */
	u32 counted;   /* sightings */
	u32 uncounted; /* and since then */
};

struct calls {
	VEC(struct call) seen;
	struct table table;
	struct learned learned[1024]; /* by hash */
};

/* Numbers that nothing else has, neither program nor thread: hashes, say. With the thread's in the place of the
 * program's, only what the thread itself was seen to do is known. */
struct calls_whose {
	u64 program;
	u64 thread; /* of one process; 0: not known, then nothing is put back */
};

enum calls_doubts {
	CALLS_DOUBT_LEAF = 1 << 0, /* the leaf may be a leftover */
	CALLS_DOUBT_ALL = 1 << 1,  /* any frame may be wrong, and what was seen once or twice is */
	CALLS_LINKED = 1 << 2,     /* no doubt by itself: frames are a list */
};

enum calls_verdict {
	CALLS_BELIEVED,
	CALLS_LEFTOVER, /* all but the leaf */
	CALLS_DOUBTED,
};

void calls_fini(struct calls *calls);
/* By what a stack's callers are told from others. */
u64 calls_path(const struct frame *callers, u32 count);
/* Learns all calls of a stack that held, leaf first; is it believed?
 * A stack that was plausible often is counted by the dozen, and by more the more often it was seen; one that is not doubted
 * each time that it was seen as often again: in between it costs a hash.
 * `path`: calls_path() of all but the leaf; 0: it is yet to be found. */
enum calls_verdict calls_believe(struct calls *calls, const struct calls_whose *whose,
				 const struct frame *frames, u32 count, u64 path, u32 doubts);
/* How many of the outermost frames stand, 0 to count; id, owner and pos may be set right. */
u32 calls_standing(struct calls *calls, const struct calls_whose *whose, struct frame *frames,
		   u32 count);
/* The same where frames are a list: what stands of it was seen so as a whole. */
u32 calls_standing_linked(struct calls *calls, const struct calls_whose *whose,
			  struct frame *frames, u32 count);
