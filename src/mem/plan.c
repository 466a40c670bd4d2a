/* SPDX-License-Identifier: Apache-2.0
 * plan.c - the transaction of plan.h.
 *
 * Invariants:
 * - `log` holds every mem_read of the walk, in order: what must be equal.
 * - Pages read late belong to the first copy; they are in the learned set before the
 *   second copy is fetched, so the second copy covers every logged byte.
 * - What was late is bounded (late.h). */
#include "mem/plan.h"

#include "base/spread.h"
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
	const u8 *second; /* another snapshot, of the body at least */
	bool in_body;
	bool has_epoch;
	bool head_met; /* `begin` has taken a word of the head */
	bool conflict;
	bool motion;
	bool leaf_done;
	bool asked_whole;    /* plan_is_repeated() was called */
	bool repeated;       /* what lies behind the leaf is what it was, and was not read */
	bool whole_repeated; /* nor was the rest */
	struct repeat taken;
	u32 places; /* taken, of leaves */
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
	plan->second = plan->steady ? set->proven : copies->second.bytes;
	return true;
}

void plan_begin(struct plan *plan, struct read_set *set, bool still)
{
	plan->set = set;
	plan->still = still;
	plan->in_body = plan->head_met = plan->conflict = plan->motion = plan->steady = false;
	plan->leaf_done = plan->asked_whole = plan->repeated = plan->whole_repeated = false;
	repeat_clear(&plan->taken);
	plan->reads = plan->places = 0;
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
	return part == PLAN_BODY && (hold == MEM_DRIFTS || hold == MEM_PLACE);
}

static u32 how_of(enum plan_part part, enum mem_hold hold)
{
	return part << 8 | hold;
}

/* Is it the read that the last walk made in its place, of a range that was touched for it? */
static inline bool is_served(const struct plan *plan, const struct served_read *read,
			     enum plan_part part, u64 addr, u32 len, enum mem_hold hold)
{
	return read->addr == addr && read->len == len && read->how == how_of(part, hold) &&
	       read->trims == plan->set->trims;
}

/* The range of a read: that of the last one in its place, or another.  What is peeked at is read once if it can be: else two copies
 * would go on being made of what somebody else had to compare, once. */
static struct plan_range *serving(struct plan *plan, const struct served_read *last,
				  enum plan_part part, u64 addr, u32 len, enum mem_hold hold)
{
	enum plan_part first = may_be_once(part, hold) ? PLAN_ONCE : part;

	if (last->range < plan->first_end[PLAN_PARTS - 1]) {
		struct plan_range *range = &plan->first[last->range];
		if (range->part == first && range_holds(range, addr, len))
			return range;
	}
	struct plan_range *range = first_holding(plan, first, addr, len);
	return range || first == part ? range : first_holding(plan, part, addr, len);
}

/* False: no range of the plan has it. */
static bool serve(struct plan *plan, struct served_read *read, enum plan_part part, u64 addr,
		  u32 len, enum mem_hold hold)
{
	struct plan_range *range = serving(plan, read, part, addr, len, hold);

	if (!range)
		return false;
	if (range->low > range->high)
		range->first = plan->reads;
	range_touch(&range->low, &range->high, addr, len);
	*read = (struct served_read){ .addr = addr,
				      .len = len,
				      .how = how_of(part, hold),
				      .trims = plan->set->trims,
				      .range = (u32)(range - plan->first),
				      .part = range->part,
				      .offset = range->offset + (u32)(addr - range->addr) };
	return true;
}

/* Is what the walk takes the same in the other copies, or what was proven? */
static bool is_same(const struct plan *plan, const struct served_read *read, const u8 *bytes)
{
	if (plan->still || read->part == PLAN_ONCE)
		return true;
	if (read->part == PLAN_HEAD && !plan->steady)
		return copies_heads_agree(&plan->copies, bytes, read->offset, read->len);
	return bytes_are_same(plan->second + read->offset, bytes, read->len);
}

/* The bytes of a planned read; notes when its copies differ. */
static const u8 *planned_bytes(struct plan *plan, const struct served_read *read,
			       enum mem_hold hold)
{
	const u8 *bytes = plan->copies.first.bytes + read->offset;

	if (!is_same(plan, read, bytes)) {
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

static void note_taken(struct plan *plan, const struct served_read *read, enum mem_hold hold)
{
	struct repeat_piece piece = { read->addr, read->part, read->offset, read->len };
	struct repeat *taken = &plan->taken;

	if (hold == MEM_PLACE && !plan->leaf_done && !plan->places++)
		taken->place = piece;
	else if (!repeat_take(plan->leaf_done ? &taken->behind : &taken->leaf, &piece))
		plan->fetched = false; /* out of memory: it is not learned from */
}

static bool part_read(struct plan *plan, enum plan_part part, u64 addr, void *dst, u32 len,
		      enum mem_hold hold)
{
	struct served_read *read = &plan->set->served[plan->reads % SERVED_READS];

	if (part != PLAN_ONCE && hold == MEM_HOLDS &&
	    !vec_push(&plan->log, (struct logged){ addr, len, part }))
		return false;
	if (!is_served(plan, read, part, addr, len, hold) &&
	    !serve(plan, read, part, addr, len, hold))
		return read_late(plan, part, addr, dst, len, hold);
	note_taken(plan, read, hold);
	bytes_copy(dst, planned_bytes(plan, read, hold), len);
	return true;
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

static bool plan_recall(const struct mem *mem, u64 addr, u64 *value)
{
	const struct plan *plan = (const struct plan *)mem;
	const struct note *note = &plan->notes[spread_slot(addr, NOTES)];

	if (note->stretch != plan->stretch || note->addr != addr)
		return false;
	*value = note->value;
	return true;
}

static void plan_note(const struct mem *mem, u64 addr, u64 value)
{
	struct plan *plan = (struct plan *)mem; /* as in plan_read() */

	plan->notes[spread_slot(addr, NOTES)] = (struct note){ addr, value, plan->stretch };
}

/* ---- what need not be walked ------------------------------------------------------------- */

/* Are the pieces what was proven, and the same in both copies where there are two? */
static bool pieces_are_proven(const struct plan *plan, const repeat_pieces *pieces)
{
	const u8 *now = plan->copies.first.bytes, *proven = plan->set->proven;
	const u8 *second = plan->still || plan->steady ? NULL : plan->copies.second.bytes;

	for (u32 i = 0; i < pieces->count; i++) {
		const struct repeat_piece *piece = &pieces->at[i];
		u32 at = piece->offset;
		if (memcmp(now + at, proven + at, piece->len) != 0 ||
		    (second && piece->part == PLAN_BODY &&
		     memcmp(now + at, second + at, piece->len) != 0))
			return false;
	}
	return true;
}

/* Does what the last walk took lie where it lay, and can be compared? */
static bool behind_is_known(const struct plan *plan)
{
	const struct read_set *set = plan->set;

	return plan->fetched && set->taken.behind.count &&
	       set->behind_layout == set->layout_whole && set->proven_layout == set->layout_whole;
}

static bool behind_is_proven(const struct plan *plan)
{
	const struct repeat *taken = &plan->set->taken;

	return (taken->joined.count && pieces_are_proven(plan, &taken->joined)) ||
	       pieces_are_proven(plan, &taken->behind);
}

bool plan_is_repeated(struct plan *plan, bool *has_place, u64 *place)
{
	struct read_set *set = plan->set;
	const struct repeat_piece *piece = &set->taken.place;

	plan->asked_whole = true;
	if (!plan->steady || set->leaf_layout != set->layout_whole || !behind_is_known(plan))
		return false;
	if (!pieces_are_proven(plan, &set->taken.leaf)) {
		set->leaf_missed++;
		return false;
	}
	if (!behind_is_proven(plan))
		return false;
	set->leaf_missed = 0;
	*has_place = piece->len == sizeof *place;
	if (*has_place)
		memcpy(place, plan->copies.first.bytes + piece->offset, sizeof *place);
	plan_head_done(plan, 0);
	plan->leaf_done = plan->repeated = plan->whole_repeated = true;
	return true;
}

bool plan_leaf_done(struct plan *plan, bool ask)
{
	plan->leaf_done = true;
	plan->stretch++; /* what is behind the leaf is compared without it, and so must be read */
	plan->repeated = ask && behind_is_known(plan) && behind_is_proven(plan);
	return plan->repeated;
}

/* ---- learning ---------------------------------------------------------------------------- */

static bool was_late(const struct plan *plan)
{
	return late_any(&plan->late);
}

static void touch_piece(struct read_set *set, u32 *hint, const struct repeat_piece *piece)
{
	struct plan_range *range = piece->len ? read_set_holding(set, hint, piece->part,
								 piece->addr, piece->len) :
						NULL;

	if (range)
		range_touch(&range->low, &range->high, piece->addr, piece->len);
}

static void touch_pieces(struct read_set *set, const repeat_pieces *pieces)
{
	u32 hint = 0;

	for (u32 i = 0; i < pieces->count; i++)
		touch_piece(set, &hint, &pieces->at[i]);
}

/* What was not walked is in use all the same. */
static void touch_taken(struct read_set *set)
{
	u32 hint = 0;

	if (set->behind_layout == set->layout_whole)
		touch_pieces(set, &set->taken.behind);
	if (set->leaf_layout != set->layout_whole)
		return;
	touch_pieces(set, &set->taken.leaf);
	touch_piece(set, &hint, &set->taken.place);
}

/* Now and then lets go of what is not touched. */
static void learn_touched(struct plan *plan)
{
	struct read_set *set = plan->set;

	if (++set->walks >= TRIM_EVERY) {
		touch_taken(set);
		read_set_trim(set);
	}
}

/* ---- the verdict ------------------------------------------------------------------------- */

/* The bytes that the walk took. */
static bool taken_bytes(struct plan *plan, const struct logged *read, u8 *out)
{
	struct plan_range *range = first_holding(plan, read->part, read->addr, read->len);

	if (range) {
		memcpy(out, plan->copies.first.bytes + range->offset + (read->addr - range->addr),
		       read->len);
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

/* What was not walked. */
static bool pieces_are_equal_again(const struct plan *plan, const repeat_pieces *pieces)
{
	u32 hint = 0;

	for (u32 i = 0; i < pieces->count; i++) {
		const struct repeat_piece *piece = &pieces->at[i];
		const u8 *bytes = plan->copies.first.bytes + piece->offset;
		if (piece->part == PLAN_ONCE)
			continue;
		const struct plan_range *range = read_set_holding(plan->set, &hint, piece->part,
								  piece->addr, piece->len);
		if (!range)
			return false;
		u32 at = range->offset + (u32)(piece->addr - range->addr);
		if (piece->part == PLAN_HEAD ?
			    !copies_heads_agree(&plan->copies, bytes, at, piece->len) :
			    memcmp(bytes, plan->copies.again.bytes + at, piece->len) != 0)
			return false;
	}
	return true;
}

static bool repeated_is_equal_again(const struct plan *plan)
{
	const struct repeat *taken = &plan->set->taken;

	return (!plan->repeated || pieces_are_equal_again(plan, &taken->behind)) &&
	       (!plan->whole_repeated || pieces_are_equal_again(plan, &taken->leaf));
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
	if (!copies_fetch_again(&plan->copies, plan->live, plan->set)) {
		read_set_clear(plan->set);
		return false;
	}
	bool same = log_is_equal_again(plan) && repeated_is_equal_again(plan);
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
		if (memcmp(set->proven + at, plan->copies.first.bytes + at, read->len) != 0)
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

	if (!set->bytes || set->bytes > PROVEN_MAX)
		return false;
	if (set->bytes > set->proven_room) {
		u8 *proven = realloc(set->proven, set->bytes);
		if (!proven)
			return false; /* it is copied twice, which is slow and right */
		set->proven = proven;
		set->proven_room = set->bytes;
	}
	memcpy(set->proven, plan->copies.first.bytes, set->bytes);
	set->proven_layout = set->layout_whole;
	/* what was taken is what was taken of these bytes */
	set->leaf_layout = 0;
	if (!plan->repeated)
		set->behind_layout = 0;
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

/* A thread that is mostly found at the same leaf, where what else is taken is not other each time. */
static bool is_leaf_due(const struct plan *plan)
{
	u32 missed = plan->set->leaf_missed;

	return plan->asked_whole && plan->steady && plan->places <= 1 && !(missed & (missed - 1));
}

static void swap_pieces(repeat_pieces *one, repeat_pieces *other)
{
	repeat_pieces kept = *one;

	*one = *other;
	*other = kept;
}

/* The pieces of a walk that was believed: those behind the leaf if it went all the way, and its leaf's. */
static bool learn_taken(struct plan *plan, bool believed)
{
	struct read_set *set = plan->set;
	bool behind = !plan->repeated, leaf = is_leaf_due(plan);

	if (!plan->leaf_done || plan->whole_repeated || plan->still || !is_usable(plan, believed) ||
	    set->proven_layout != set->layout_whole || (!behind && !leaf))
		return false;
	set->leaf_layout = 0;
	if (behind) {
		swap_pieces(&set->taken.behind, &plan->taken.behind);
		repeat_join_behind(&set->taken);
	}
	if (leaf) {
		swap_pieces(&set->taken.leaf, &plan->taken.leaf);
		set->taken.place = plan->taken.place;
	}
	/* what it only peeked at can be other than what was proven before */
	bool is_proven = pieces_are_proven(plan, &set->taken.behind) &&
			 (!leaf || pieces_are_proven(plan, &set->taken.leaf));
	if (!is_proven && !keep_proven(plan)) {
		set->behind_layout = 0;
		return false;
	}
	set->behind_layout = set->layout_whole;
	set->leaf_layout = leaf ? set->layout_whole : 0;
	return true;
}

bool plan_end(struct plan *plan, bool believed, bool sure)
{
	constants_end(&plan->constants, believed && sure && !was_late(plan));
	learn_place(plan, believed);
	bool learned = learn_taken(plan, believed);
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
	repeat_free(&plan->taken);
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
