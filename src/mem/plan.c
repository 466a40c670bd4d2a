/* SPDX-License-Identifier: Apache-2.0
 * plan.c - the transaction of plan.h.
 *
 * Invariants:
 * - `log` holds every mem_read of the walk, in order: what must be equal.
 * - A snapshot's bytes are those of its ranges, one after the other, by part.
 * - Pages read late belong to the first copy; they are in the learned set before the
 *   second copy is fetched, so the second copy covers every logged byte.
 * - What was late is bounded (late.h). */
#include "mem/plan.h"

#include "mem/bytes.h"
#include "mem/constants.h"
#include "mem/copies.h"
#include "mem/late.h"

#include <string.h>

enum {
	/* So often found in the same place, a thread is expected there. */
	STEADY = 4,
	PROVEN_MAX = 256 << 10, /* bytes that are kept for it: some thousand frames */
	TRIM_EVERY = 32,
	AGAIN_MAX = 256, /* bytes that are compared at a time */
	BEHIND_GAP = 256,
	NOTES = 64,
};

struct logged {
	u64 addr;
	u32 len;
	u32 part;
};

struct note {
	u64 addr, value;
	u64 stretch; /* of a walk, in which it was made */
};

struct plan {
	struct mem mem;
	const struct mem_live *live;
	struct read_set *set;
	/* The ranges that copy A (and B, when nothing was late) was fetched by: the set's own. What was late changes these when
	 * it is learned, and A's are kept as they were. */
	struct plan_range *first;
	VEC(struct plan_range) first_kept;
	u32 first_end[PLAN_PARTS];
	struct copies copies;
	bool fetched; /* the copies of the first ranges hold bytes */
	bool still;
	bool steady;      /* one copy was made, and `second` is what was proven */
	bool again_made;  /* `heads` are those of `again` */
	const u8 *second; /* of the body */
	bool in_body;
	bool has_epoch;
	bool head_met; /* `begin` has taken a word of the head */
	bool conflict;
	bool motion;
	bool leaf_done;
	bool repeated;        /* what lies behind the leaf is what it was, and was not read */
	repeat_pieces behind; /* what was read there */
	VEC(struct logged) log;
	struct late late;
	u32 hits[PLAN_PARTS]; /* where each part was read last */
	u32 reads;            /* of this walk */
	struct note notes[NOTES];
	u64 stretch; /* each walk has two: its leaf, and what is behind it */
	u64 image;
	struct constants constants;
	u64 unplanned, late_calls; /* struct plan_stats */
};

/* ---- fetching ---------------------------------------------------------------------------- */

static bool fetch_all(struct plan *plan)
{
	struct read_set *set = plan->set;
	struct copies *copies = &plan->copies;
	enum fetch_kind kind = plan->still         ? FETCH_STILL :
			       set->same >= STEADY ? FETCH_STEADY :
						     FETCH_TWICE;

	if (!copies_fetch(copies, plan->live, set, kind))
		return false;
	plan->steady = kind == FETCH_STEADY;
	plan->second = copies->body[1].bytes;
	if (plan->steady) {
		copies_add_head(copies, set->proven);
		plan->second = set->proven + copies->head_size;
	}
	return true;
}

void plan_begin(struct plan *plan, struct read_set *set, bool still)
{
	plan->set = set;
	plan->still = still;
	plan->in_body = plan->head_met = plan->conflict = plan->motion = plan->steady = false;
	plan->leaf_done = plan->repeated = plan->again_made = false;
	vec_clear(&plan->behind);
	plan->reads = 0;
	plan->stretch++;
	vec_clear(&plan->log);
	late_clear(&plan->late);

	vec_clear(&plan->first_kept);
	plan->fetched = set->ranges.count && fetch_all(plan);
	if (!plan->fetched) /* something of the plan is no longer mapped: start from nothing */
		read_set_clear(set);
	plan->first = set->ranges.at;
	for (u32 part = 0; part < PLAN_PARTS; part++) {
		plan->first_end[part] = set->part_end[part];
		plan->hits[part] = part_begin(set->part_end, part);
	}
}

static bool keep_first(struct plan *plan)
{
	if (!vec_copy(&plan->first_kept, &plan->set->ranges))
		return false;
	plan->first = plan->first_kept.at;
	return true;
}

void plan_head_done(struct plan *plan, u64 epoch)
{
	plan->in_body = true;
	plan->has_epoch = epoch;
	/* one that was late was read before the frames, and may have changed by then */
	constants_begin(&plan->constants, plan->image, plan_head_was_late(plan) ? 0 : epoch);
}

/* ---- reading ----------------------------------------------------------------------------- */

static struct plan_range *first_holding(struct plan *plan, enum plan_part part, u64 addr, u32 len)
{
	return range_holding(plan->first, plan->first_end, &plan->hits[part], part, addr, len);
}

/* What steps only peek at, such as flags of objects that never change, is read once. */
static bool may_be_once(enum plan_part part, enum mem_hold hold)
{
	return part == PLAN_BODY && hold == MEM_DRIFTS;
}

/* The range that a read of the walk is served from. A thread that stays somewhere is walked by the same reads each time. */
static inline struct plan_range *serving(struct plan *plan, enum plan_part part, u64 addr, u32 len,
					 enum mem_hold hold)
{
	u32 *hint = &plan->set->hints[plan->reads % READ_HINTS];

	if (*hint < plan->first_end[PLAN_PARTS - 1]) {
		struct plan_range *last = &plan->first[*hint];
		bool may = last->part == part ||
			   (last->part == PLAN_ONCE && may_be_once(part, hold));
		if (may && range_holds(last, addr, len))
			return last;
	}
	struct plan_range *range = first_holding(plan, part, addr, len);
	if (!range && may_be_once(part, hold))
		range = first_holding(plan, PLAN_ONCE, addr, len);
	if (range)
		*hint = (u32)(range - plan->first);
	return range;
}

/* The bytes of a planned read; notes when its copies differ. */
static const u8 *planned_bytes(struct plan *plan, const struct plan_range *range, u64 addr, u32 len,
			       enum mem_hold hold)
{
	size_t at = range->offset + (addr - range->addr);
	const u8 *bytes;
	bool same;

	if (range->part == PLAN_ONCE)
		return plan->copies.once.bytes + at;
	if (range->part == PLAN_HEAD) {
		bytes = plan->copies.heads.bytes + at;
		same = plan->still || copies_heads_agree(&plan->copies, bytes, at, len);
	} else {
		bytes = plan->copies.body[0].bytes + at;
		same = plan->still || bytes_are_same(plan->second + at, bytes, len);
	}
	if (!same) {
		/* what drifted since the last walk says nothing about now */
		plan->motion |= !plan->steady;
		plan->conflict |= hold == MEM_HOLDS;
	}
	return bytes;
}

static bool read_late(struct plan *plan, enum plan_part part, u64 addr, u8 *dst, u32 len,
		      enum mem_hold hold)
{
	u64 before = plan->live->calls;
	enum range_order order = hold == MEM_LAST ? RANGE_LAST :
				 plan->head_met   ? RANGE_ANY :
						    RANGE_EARLY;
	bool good = part == PLAN_BODY ?
			    late_read_body(&plan->late, plan->live, addr, dst, len, hold,
					   plan->reads) :
			    late_read_head(&plan->late, plan->live, part, addr, dst, len, order);

	plan->late_calls += plan->live->calls - before;
	return good;
}

/* What the callers' steps take. */
static void note_taken(struct plan *plan, const struct plan_range *range, u64 addr, u32 len)
{
	struct repeat_piece piece = { .addr = addr,
				      .part = range->part,
				      .offset = range->offset + (u32)(addr - range->addr),
				      .len = len };

	if (!vec_push(&plan->behind, piece))
		plan->leaf_done = false; /* out of memory: it is walked each time */
}

static bool part_read(struct plan *plan, enum plan_part part, u64 addr, void *dst, u32 len,
		      enum mem_hold hold)
{
	if (part != PLAN_ONCE && hold == MEM_HOLDS &&
	    !vec_push(&plan->log, (struct logged){ addr, len, part }))
		return false;
	struct plan_range *range = serving(plan, part, addr, len, hold);
	if (range) {
		if (range->low > range->high)
			range->first = plan->reads;
		range_touch(&range->low, &range->high, addr, len);
		if (plan->leaf_done)
			note_taken(plan, range, addr, len);
		bytes_copy(dst, planned_bytes(plan, range, addr, len, hold), len);
		return true;
	}
	return read_late(plan, part, addr, dst, len, hold);
}

static bool plan_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	struct plan *plan = (struct plan *)mem; /* created non-const by plan_new() */
	enum plan_part part = plan->in_body ? PLAN_BODY : hold == MEM_HOLDS ? PLAN_HEAD : PLAN_ONCE;
	bool is_kept = false;

	plan->reads++;
	plan->head_met |= part == PLAN_HEAD;
	if (addr + len < addr)
		return false;
	if (hold == MEM_CONSTANT && plan->in_body) {
		/* what is late is newer than the epoch */
		is_kept = plan->constants.epoch && !late_any(&plan->late);
		if (is_kept && constants_find(&plan->constants, addr, dst, len))
			return true;
		/* to be kept, it is part of the proof, and read before the epoch */
		hold = plan->has_epoch ? MEM_HOLDS : MEM_DRIFTS;
	}
	if (!part_read(plan, part, addr, dst, len, hold))
		return false;
	if (is_kept)
		constants_add(&plan->constants, addr, dst, len);
	return true;
}

/* ---- what was found out ------------------------------------------------------------------ */

static u32 note_place(u64 addr)
{
	return (u32)(addr * 0x9e3779b97f4a7c15ull >> 32) % NOTES;
}

static bool plan_recall(const struct mem *mem, u64 addr, u64 *value)
{
	const struct plan *plan = (const struct plan *)mem;
	const struct note *note = &plan->notes[note_place(addr)];

	if (note->stretch != plan->stretch || note->addr != addr)
		return false;
	*value = note->value;
	return true;
}

static void plan_note(const struct mem *mem, u64 addr, u64 value)
{
	struct plan *plan = (struct plan *)mem; /* as in plan_read() */

	plan->notes[note_place(addr)] = (struct note){ addr, value, plan->stretch };
}

/* ---- what need not be walked ------------------------------------------------------------- */

static const u8 *bytes_of(const struct plan *plan, const struct repeat_piece *piece)
{
	return (piece->part == PLAN_ONCE ? plan->copies.once.bytes : plan->copies.body[0].bytes) +
	       piece->offset;
}

/* Are the pieces what was proven, and the same in both copies where there are two? */
static bool pieces_are_proven(const struct plan *plan, const repeat_pieces *pieces)
{
	const struct read_set *set = plan->set;
	const u8 *proven_body = set->proven + plan->copies.head_size,
		 *proven_once = proven_body + set->part_bytes[PLAN_BODY];
	bool is_twice = !plan->still && !plan->steady;

	for (u32 i = 0; i < pieces->count; i++) {
		const struct repeat_piece *piece = &pieces->at[i];
		bool is_once = piece->part == PLAN_ONCE;
		const u8 *bytes = bytes_of(plan, piece);
		if (memcmp(bytes, (is_once ? proven_once : proven_body) + piece->offset,
			   piece->len) != 0 ||
		    (is_twice && !is_once &&
		     memcmp(bytes, plan->copies.body[1].bytes + piece->offset, piece->len) != 0))
			return false;
	}
	return true;
}

bool plan_leaf_done(struct plan *plan, bool ask)
{
	const struct read_set *set = plan->set;

	plan->leaf_done = true;
	plan->stretch++; /* what is behind the leaf is compared without it, and so must be read */
	if (!ask || !plan->fetched || !set->behind.count ||
	    set->behind_layout != set->layout_whole || set->proven_layout != set->layout_whole)
		return false;
	plan->repeated = (set->behind_whole.count && pieces_are_proven(plan, &set->behind_whole)) ||
			 pieces_are_proven(plan, &set->behind);
	return plan->repeated;
}

/* ---- learning ---------------------------------------------------------------------------- */

static bool was_late(const struct plan *plan)
{
	return late_any(&plan->late);
}

/* What lies behind the leaf and was not walked is in use all the same. */
static void touch_behind(struct read_set *set)
{
	u32 hint = 0;

	for (u32 i = 0; set->behind_layout == set->layout_whole && i < set->behind.count; i++) {
		const struct repeat_piece *piece = &set->behind.at[i];
		struct plan_range *range = read_set_holding(set, &hint, piece->part, piece->addr,
							    piece->len);
		if (range)
			range_touch(&range->low, &range->high, piece->addr, piece->len);
	}
}

/* Now and then lets go of what is not touched. */
static void learn_touched(struct plan *plan)
{
	struct read_set *set = plan->set;

	if (++set->walks >= TRIM_EVERY) {
		touch_behind(set);
		read_set_trim(set);
	}
}

/* ---- the verdict ------------------------------------------------------------------------- */

/* The bytes that the walk took. */
static bool taken_bytes(struct plan *plan, const struct logged *read, u8 *out)
{
	struct plan_range *range = first_holding(plan, read->part, read->addr, read->len);

	if (range) {
		const u8 *copy = read->part == PLAN_HEAD ? plan->copies.first_head.bytes :
							   plan->copies.body[0].bytes;
		memcpy(out, copy + range->offset + (read->addr - range->addr), read->len);
		return true;
	}
	return read_late(plan, read->part, read->addr, out, read->len, MEM_HOLDS);
}

static bool equal_again(struct plan *plan, const struct logged *read)
{
	u8 taken[AGAIN_MAX];
	u32 hint = 0;
	const struct plan_range *range = read_set_holding(plan->set, &hint, read->part, read->addr,
							  read->len);

	if (!range || read->len > sizeof taken || !taken_bytes(plan, read, taken))
		return false;
	size_t at = range->offset + (read->addr - range->addr);
	if (read->part == PLAN_HEAD)
		return copies_heads_agree(&plan->copies, taken, at, read->len);
	return !memcmp(taken, plan->copies.again.bytes + at, read->len);
}

/* What lies behind the leaf and was not walked. */
static bool behind_is_equal_again(const struct plan *plan)
{
	const struct read_set *set = plan->set;
	u32 hint = 0;

	for (u32 i = 0; i < set->behind.count; i++) {
		const struct repeat_piece *piece = &set->behind.at[i];
		if (piece->part != PLAN_BODY)
			continue;
		const struct plan_range *range = read_set_holding(set, &hint, PLAN_BODY,
								  piece->addr, piece->len);
		if (!range ||
		    memcmp(bytes_of(plan, piece),
			   plan->copies.again.bytes + range->offset + (piece->addr - range->addr),
			   piece->len) != 0)
			return false;
	}
	return true;
}

static bool log_is_equal_again(struct plan *plan)
{
	for (u32 i = 0; i < plan->log.count; i++)
		if (!equal_again(plan, &plan->log.at[i]))
			return false;
	return true;
}

/* Heads and frames of the first copy stay; another covers every read made. Does it agree? */
static bool prove_again(struct plan *plan)
{
	bool has_first = plan->again_made || copies_keep_first_head(&plan->copies, plan->fetched);

	if (!has_first || !copies_fetch_again(&plan->copies, plan->live, plan->set)) {
		read_set_clear(plan->set);
		return false;
	}
	plan->again_made = true;
	bool same = log_is_equal_again(plan) && (!plan->repeated || behind_is_equal_again(plan));
	plan->motion |= !same;
	return same;
}

enum plan_verdict plan_settle(struct plan *plan)
{
	bool late = was_late(plan);

	if (late) {
		plan->unplanned++;
		if (keep_first(plan)) /* else nothing covers what was late, and it does not hold */
			late_learn(&plan->late, plan->set);
	}
	bool elsewhere = plan->steady && (plan->conflict || late);
	if (elsewhere)
		plan->set->same = 0;
	/* a conflict of two copies stays one; what is not the last place may be another */
	if (elsewhere || (late && !plan->conflict && !plan->still))
		plan->conflict = !prove_again(plan);
	return !plan->conflict || plan->still ? PLAN_HELD : PLAN_MOVED;
}

bool plan_stands(struct plan *plan)
{
	if (!plan->still && !prove_again(plan))
		plan->conflict = true; /* the heads are those of another place now */
	return plan->still || !plan->conflict;
}

/* Was all that the walk took just what was proven before?  What it did not take has been compared. */
static bool is_proven(const struct plan *plan)
{
	const struct read_set *set = plan->set;
	u32 hint = 0;

	for (u32 i = 0; i < plan->log.count; i++) {
		const struct logged *read = &plan->log.at[i];
		const struct plan_range *range = read_set_holding(set, &hint, read->part,
								  read->addr, read->len);
		if (!range)
			return false;
		size_t at = range->offset + (read->addr - range->addr);
		bool head = read->part == PLAN_HEAD;
		if (memcmp(set->proven + (head ? at : plan->copies.head_size + at),
			   (head ? plan->copies.heads.bytes : plan->copies.body[0].bytes) + at,
			   read->len) != 0)
			return false;
	}
	return true;
}

static bool is_usable(const struct plan *plan, bool believed)
{
	return believed && !was_late(plan) && !plan->conflict && plan->fetched;
}

/* All that was fetched. */
static bool keep_proven(struct plan *plan)
{
	struct read_set *set = plan->set;
	size_t head = plan->copies.head_size, body = set->part_bytes[PLAN_BODY],
	       once = set->part_bytes[PLAN_ONCE], size = head + body + once;

	if (!size || size > PROVEN_MAX)
		return false;
	if (size > set->proven_room) {
		u8 *proven = realloc(set->proven, size);
		if (!proven)
			return false; /* it is copied twice, which is slow and right */
		set->proven = proven;
		set->proven_room = size;
	}
	if (head)
		memcpy(set->proven, plan->copies.heads.bytes, head);
	if (body)
		memcpy(set->proven + head, plan->copies.body[0].bytes, body);
	if (once)
		memcpy(set->proven + head + body, plan->copies.once.bytes, once);
	set->proven_layout = set->layout_whole;
	return true;
}

/* What was believed is what the next walks are compared with. */
static void learn_place(struct plan *plan, bool believed)
{
	struct read_set *set = plan->set;
	bool usable = is_usable(plan, believed);

	if (plan->still)
		return;
	if (usable && set->same && (plan->steady || is_proven(plan))) {
		set->same += set->same < STEADY;
		if (set->proven_layout != set->layout_whole)
			keep_proven(plan);
		return;
	}
	set->same = usable && keep_proven(plan);
}

/* Callers' own words, such as locals, lie between what is taken of them, and mostly stay, too: a few comparisons
 * instead of one a frame. */
static void join_behind(struct read_set *set)
{
	vec_clear(&set->behind_whole);
	if (vec_copy(&set->behind_whole, &set->behind))
		repeat_join(&set->behind_whole, BEHIND_GAP);
}

/* The pieces behind the leaf of a walk that went all the way. */
static bool learn_behind(struct plan *plan, bool believed)
{
	struct read_set *set = plan->set;

	if (!plan->leaf_done || plan->repeated || plan->still || !is_usable(plan, believed) ||
	    set->proven_layout != set->layout_whole)
		return false;
	repeat_pieces old = set->behind;
	set->behind = plan->behind;
	plan->behind = old;
	repeat_join(&set->behind, 0);
	join_behind(set);
	set->behind_layout = set->layout_whole;
	/* what it only peeked at can be other than what was proven before */
	if (!pieces_are_proven(plan, &set->behind) && !keep_proven(plan))
		set->behind_layout = 0;
	return set->behind_layout != 0;
}

bool plan_end(struct plan *plan, bool believed, bool sure)
{
	constants_end(&plan->constants, believed && sure && !was_late(plan));
	learn_place(plan, believed);
	bool learned = learn_behind(plan, believed);
	learn_touched(plan);
	plan->set = NULL;
	return learned;
}

bool plan_head_was_late(const struct plan *plan)
{
	return plan->late.head_count > 0;
}

bool plan_saw_motion(const struct plan *plan)
{
	return plan->motion;
}

struct plan_stats plan_stats(const struct plan *plan)
{
	return (struct plan_stats){ .unplanned = plan->unplanned,
				    .calls = plan->copies.calls + plan->late_calls,
				    .ranges = plan->copies.ranges };
}

/* ---- life -------------------------------------------------------------------------------- */

struct plan *plan_new(const struct mem_live *live)
{
	struct plan *plan = calloc(1, sizeof *plan);

	if (plan) {
		plan->mem = (struct mem){ plan_read, plan_recall, plan_note };
		plan->live = live;
	}
	return plan;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	copies_free(&plan->copies);
	late_free(&plan->late);
	constants_free(&plan->constants);
	vec_free(&plan->first_kept);
	vec_free(&plan->log);
	vec_free(&plan->behind);
	free(plan);
}

const struct mem *plan_mem(const struct plan *plan)
{
	return &plan->mem;
}

const struct mem *plan_live(const struct plan *plan)
{
	return &plan->live->mem;
}

void plan_retarget(struct plan *plan, const struct mem_live *live, u64 image)
{
	plan->live = live;
	plan->image = image;
}
