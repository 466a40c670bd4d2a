/* SPDX-License-Identifier: Apache-2.0
 * read_set.h - what the walks of one thread read: the ranges of the next plan (plan.h).
 *
 * Ranges are kept by part, joined where near, and within a part in the order in which the walk takes them:
 * what it takes first is nearest to the leaf and changes fastest.  What no walk has touched for a while is let
 * go of.
 *
 * A snapshot holds their bytes in the order in which they are fetched, one behind the other: a read into one piece of memory costs
 * a seventh less than into a dozen. */
#pragma once
#include "base/vec.h"
#include "mem/live.h"
#include "mem/repeat.h"

enum { SERVED_READS = 32 };

enum plan_part { PLAN_ONCE, PLAN_HEAD, PLAN_BODY, PLAN_PARTS };

/* When a range is fetched for the first time. */
enum fetch_turn {
	TURN_EARLY, /* once: `begin` took it before its first head word, which it may have led to */
	TURN_LEADING, /* once: it covers heads, which come with it */
	TURN_HEAD,
	TURN_BODY,
	TURN_BEHIND, /* once */
	TURN_LAST,   /* once: it must not be read before the body */
	TURN_LED,    /* head: not at all, but as part of its leader */
};

struct plan_range {
	u64 addr;
	u32 len;
	u32 offset;    /* of its bytes in a snapshot */
	u64 low, high; /* what was touched since the last trim; low > high: nothing */
	u32 part;
	bool last, early, leads; /* as TURN_LAST, TURN_EARLY, TURN_LEADING */
	enum fetch_turn turn;
	u32 first; /* when the last walk touched it first, in reads: the order of fetching */
	u32 sorted; /* of the range in this place by address, within the part: its number in the array */
};

/* A read of a walk, and where in the snapshots its bytes lie. */
struct served_read {
	u64 addr;
	u32 len;
	u32 how;   /* the part and the hold that it was made for */
	u32 trims; /* of the set, when its range was touched for it */
	u32 range; /* its number */
	u32 part, offset;
};

/* How the ranges are fetched (copies.h). Put together once for many samples. */
struct fetch_list {
	VEC(struct mem_span) spans; /* none: to be put together anew */
	const struct copies *copies;
	u64 grown; /* when these lay where they lie now */
	u32 kind, head_count;
};

/* All zero is valid and empty. One a thread. */
struct read_set {
	VEC(struct plan_range) ranges;
	u32 part_end[PLAN_PARTS]; /* behind the part's last range */
	u32 head_bytes, body_bytes,
		bytes; /* of a snapshot: to the last head's end, to the body's, to its own */
	u32 walks;     /* since the last trim */
	u32 trims;
	/* The bytes that the last believed walk went by, a snapshot; and how many walks in a row took the same of them. */
	u8 *proven;
	size_t proven_room;
	u32 same;
	u64 layout; /* of head and body: another one, and what is proven lies elsewhere */
	u64 layout_whole, proven_layout; /* with once, now and of what is proven */
	struct repeat taken;             /* by that walk */
	u64 leaf_layout, behind_layout;  /* of these pieces; 0: not known */
	u32 leaf_missed; /* so often was it not what it was, since it was the last time */
	/* The nth read of a walk, of these ranges: a thread that stays somewhere is walked by the same reads each time. */
	struct served_read served[SERVED_READS];
	struct fetch_list fetch;
};

void read_set_free(struct read_set *set);
void read_set_clear(struct read_set *set);
/* What was read from `low` to `high` is part of the next plan: in effect after read_set_arrange(). */
enum range_order { RANGE_ANY, RANGE_EARLY, RANGE_LAST };
void read_set_add(struct read_set *set, u64 low, u64 high, enum plan_part part, u32 first,
		  enum range_order order);
void read_set_arrange(struct read_set *set);
/* Lets go of what was not touched since the last time. */
void read_set_trim(struct read_set *set);

static inline u32 part_begin(const u32 part_end[], enum plan_part part)
{
	return part ? part_end[part - 1] : 0;
}

static inline bool range_holds(const struct plan_range *range, u64 addr, u32 len)
{
	u64 at = addr - range->addr; /* huge when it lies before */

	return at < range->len && len <= range->len - at;
}

/* As range_holding(), where *hint is not it. */
struct plan_range *range_seek(struct plan_range *ranges, const u32 part_end[], u32 *hint,
			      enum plan_part part, u64 addr, u32 len);

/* The range of a part that holds these bytes, or NULL. Reads come in runs, so the last one found is asked first: *hint. */
static inline struct plan_range *range_holding(struct plan_range *ranges, const u32 part_end[],
					       u32 *hint, enum plan_part part, u64 addr, u32 len)
{
	u32 i = *hint;

	return i >= part_begin(part_end, part) && i < part_end[part] &&
			       range_holds(&ranges[i], addr, len) ?
		       &ranges[i] :
		       range_seek(ranges, part_end, hint, part, addr, len);
}

/* The set's, as it is now. */
static inline struct plan_range *read_set_holding(const struct read_set *set, u32 *hint,
						  enum plan_part part, u64 addr, u32 len)
{
	return range_holding(set->ranges.at, set->part_end, hint, part, addr, len);
}

/* These bytes of the range were used. */
static inline void range_touch(u64 *low, u64 *high, u64 addr, u32 len)
{
	bool is_first = *low > *high;

	if (is_first || addr < *low)
		*low = addr;
	if (is_first || addr + len > *high)
		*high = addr + len;
}

/* The head words of a set as spans, for one batched look at many threads: fills at most `room`
 * spans whose bytes land in `bytes` one after the other; returns the spans used, 0 when the set
 * is empty or does not fit. *used is the number of bytes. */
u32 read_set_head(const struct read_set *set, struct mem_span *spans, u32 room, u8 *bytes,
		  u32 bytes_room, u32 *used);
