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

#include "mem/constants.h"
#include "mem/late.h"

#include <string.h>

enum {
	/* Ranges with heads of their own around them. */
	SANDWICHED = 2,
	/* So often found in the same place, a thread is expected there. */
	STEADY = 16,
	PROVEN_MAX = 256 << 10, /* bytes that are kept for it: some thousand frames */
	TRIM_EVERY = 128,
	AGAIN_MAX = 256, /* bytes that are compared at a time */
};

struct logged {
	u64 addr;
	u32 len;
	u32 part;
};

/* Bytes of one part at one instant. */
struct snapshot {
	u8 *bytes;
	size_t room;
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
	struct snapshot once, heads, body[2], again,
		first_head; /* heads: head_count copies, one after the other */
	u32 head_count, head_size;
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
	VEC(struct mem_span) spans;
	u32 hits[PLAN_PARTS]; /* where each part was read last */
	u32 reads;            /* of this walk */
	u64 image;
	struct constants constants;
	struct plan_stats stats;
};

/* ---- fetching ---------------------------------------------------------------------------- */

static bool snapshot_reserve(struct snapshot *snapshot, size_t size)
{
	if (snapshot->bytes && size <= snapshot->room)
		return true;
	size += !size; /* what has no head is copied, too */
	u8 *bytes = realloc(snapshot->bytes, size + size / 2);
	if (!bytes)
		return false;
	snapshot->bytes = bytes;
	snapshot->room = size + size / 2;
	return true;
}

static bool span_add(struct plan *plan, const struct plan_range *range, u8 *bytes)
{
	return vec_push(&plan->spans,
			(struct mem_span){ range->addr, bytes + range->offset, range->len });
}

static bool spans_add(struct plan *plan, enum plan_part part, u8 *bytes)
{
	const struct read_set *set = plan->set;
	bool good = true;

	for (u32 i = part_begin(set->part_end, part); good && i < set->part_end[part]; i++)
		good = span_add(plan, &set->ranges.at[i], bytes);
	return good;
}

static bool part_add(struct plan *plan, enum plan_part part, struct snapshot *into)
{
	return snapshot_reserve(into, plan->set->part_bytes[part]) &&
	       spans_add(plan, part, into->bytes);
}

enum once_place { ONCE_BEFORE_HEAD, ONCE_WITH_HEAD, ONCE_BEHIND, ONCE_LAST };

static enum once_place once_place(const struct plan_range *range)
{
	return range->leads ? ONCE_WITH_HEAD :
	       range->early ? ONCE_BEFORE_HEAD :
	       range->last  ? ONCE_LAST :
			      ONCE_BEHIND;
}

static bool once_add(struct plan *plan, enum once_place place)
{
	const struct read_set *set = plan->set;
	bool good = snapshot_reserve(&plan->once, set->part_bytes[PLAN_ONCE]);

	for (u32 i = 0; good && i < set->part_end[PLAN_ONCE]; i++)
		if (once_place(&set->ranges.at[i]) == place)
			good = span_add(plan, &set->ranges.at[i], plan->once.bytes);
	return good;
}

static bool head_add(struct plan *plan)
{
	size_t at = (size_t)plan->head_count++ * plan->head_size;

	return spans_add(plan, PLAN_HEAD, plan->heads.bytes + at);
}

/* The first head: what has a leader comes with it. Before it what `begin` went by to get there, such as which of a
 * thread's stacks is current: read behind the head, that could be what became so meanwhile, and the other's stack
 * would be given for it, or this one's for another. */
static bool first_head_add(struct plan *plan)
{
	const struct read_set *set = plan->set;
	bool good = once_add(plan, ONCE_BEFORE_HEAD) && once_add(plan, ONCE_WITH_HEAD);

	plan->head_count++;
	for (u32 i = part_begin(set->part_end, PLAN_HEAD); good && i < set->part_end[PLAN_HEAD];
	     i++)
		if (!read_set_leader(set, &set->ranges.at[i]))
			good = span_add(plan, &set->ranges.at[i], plan->heads.bytes);
	return good;
}

static void first_head_copy(struct plan *plan)
{
	const struct read_set *set = plan->set;

	for (u32 i = part_begin(set->part_end, PLAN_HEAD); i < set->part_end[PLAN_HEAD]; i++) {
		const struct plan_range *head = &set->ranges.at[i];
		const struct plan_range *leader = read_set_leader(set, head);
		if (leader)
			memcpy(plan->heads.bytes + head->offset,
			       plan->once.bytes + leader->offset + (head->addr - leader->addr),
			       head->len);
	}
}

/* [head] [body 1] [head] [body 2] [head] [body 3...] [head]: each of the first ranges, where the leaf
 * is, has a head right before and behind it; the rest share one. */
static bool sandwich_add(struct plan *plan, struct snapshot *into)
{
	const struct read_set *set = plan->set;
	u32 first = part_begin(set->part_end, PLAN_BODY);

	if (!snapshot_reserve(into, set->part_bytes[PLAN_BODY]))
		return false;
	for (u32 i = first; i < set->part_end[PLAN_BODY]; i++) {
		if (i - first <= SANDWICHED && !head_add(plan))
			return false;
		if (!span_add(plan, &set->ranges.at[i], into->bytes))
			return false;
	}
	return head_add(plan);
}

static bool begin_heads(struct plan *plan)
{
	plan->head_count = 0;
	plan->head_size = plan->set->part_bytes[PLAN_HEAD];
	vec_clear(&plan->spans);
	return snapshot_reserve(&plan->heads, (size_t)plan->head_size * (SANDWICHED + 3));
}

static bool spans_read(struct plan *plan)
{
	u64 before = plan->live->calls;
	plan->stats.ranges += plan->spans.count;
	u32 done = mem_live_readv(plan->live, plan->spans.at, plan->spans.count);
	plan->stats.calls += plan->live->calls - before;
	return done == plan->spans.count;
}

/* The walker goes by the very first head: reading the target's memory slows it where it works,
 * and a head that is read behind the body finds it where that made it linger (bench/torn: 4 points).
 * The first copy of the body also brings everything into our caches, so that the sandwiches are
 * quick. */
static bool fetch_all(struct plan *plan)
{
	struct read_set *set = plan->set;

	if (!begin_heads(plan) || !first_head_add(plan) ||
	    !part_add(plan, PLAN_BODY, &plan->body[0]))
		return false;
	plan->steady = !plan->still && set->same >= STEADY;
	if (!plan->steady && !plan->still && !sandwich_add(plan, &plan->body[1]))
		return false;
	if (!once_add(plan, ONCE_BEHIND) || !once_add(plan, ONCE_LAST) || !spans_read(plan))
		return false;
	first_head_copy(plan);
	plan->second = plan->body[1].bytes;
	if (plan->steady) {
		memcpy(plan->heads.bytes + (size_t)plan->head_count++ * plan->head_size,
		       set->proven, plan->head_size);
		plan->second = set->proven + plan->head_size;
	}
	return true;
}

/* The second copy, when reads outside the plan were made: everything again. */
static bool fetch_again(struct plan *plan)
{
	return begin_heads(plan) && sandwich_add(plan, &plan->again) && spans_read(plan);
}

void plan_begin(struct plan *plan, struct read_set *set, bool still)
{
	plan->set = set;
	plan->still = still;
	plan->in_body = plan->head_met = plan->conflict = plan->motion = plan->steady = false;
	plan->leaf_done = plan->repeated = plan->again_made = false;
	vec_clear(&plan->behind);
	plan->reads = 0;
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
	const struct read_set *set = plan->set;
	u32 count = set->ranges.count;

	if (!count)
		return true;
	if (!vec_grow(&plan->first_kept, count))
		return false;
	memcpy(plan->first_kept.at, set->ranges.at, count * sizeof *set->ranges.at);
	plan->first_kept.count = count;
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

/* Do the bytes stand `at` in every head? */
static bool heads_agree(const struct plan *plan, const u8 *bytes, u32 size, size_t at, u32 len)
{
	for (u32 i = 0; i < plan->head_count; i++)
		if (memcmp(bytes, plan->heads.bytes + (size_t)i * size + at, len))
			return false;
	return true;
}

/* The bytes of a planned read; notes when its copies differ. */
static const u8 *planned_bytes(struct plan *plan, const struct plan_range *range, u64 addr, u32 len,
			       enum mem_hold hold)
{
	size_t at = range->offset + (addr - range->addr);
	const u8 *bytes;
	bool same;

	if (range->part == PLAN_ONCE)
		return plan->once.bytes + at;
	if (range->part == PLAN_HEAD) {
		bytes = plan->heads.bytes + at;
		same = plan->still || heads_agree(plan, bytes, plan->head_size, at, len);
	} else {
		bytes = plan->body[0].bytes + at;
		same = plan->still || !memcmp(plan->second + at, bytes, len);
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

	plan->stats.calls += plan->live->calls - before;
	return good;
}

/* What the callers' steps take. */
static void note_taken(struct plan *plan, const struct plan_range *range, u64 addr, u32 len)
{
	struct repeat_piece piece = { .addr = addr,
				      .part = range->part,
				      .offset = range->offset + (u32)(addr - range->addr),
				      .len = len };

	if (plan->leaf_done && !vec_push(&plan->behind, piece))
		plan->leaf_done = false; /* out of memory: it is walked each time */
}

static bool part_read(struct plan *plan, enum plan_part part, u64 addr, void *dst, u32 len,
		      enum mem_hold hold)
{
	if (part != PLAN_ONCE && hold == MEM_HOLDS &&
	    !vec_push(&plan->log, (struct logged){ addr, len, part }))
		return false;
	struct plan_range *range = first_holding(plan, part, addr, len);
	/* what steps only peek at, such as flags of objects that never change, is read once */
	if (!range && part == PLAN_BODY && hold == MEM_DRIFTS)
		range = first_holding(plan, PLAN_ONCE, addr, len);
	if (range) {
		if (range->low > range->high)
			range->first = plan->reads;
		range_touch(&range->low, &range->high, addr, len);
		note_taken(plan, range, addr, len);
		memcpy(dst, planned_bytes(plan, range, addr, len, hold), len);
		return true;
	}
	return read_late(plan, part, addr, dst, len, hold);
}

static bool plan_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	struct plan *plan = (struct plan *)mem; /* created non-const by plan_new() */
	enum plan_part part = plan->in_body ? PLAN_BODY : hold == MEM_HOLDS ? PLAN_HEAD : PLAN_ONCE;

	plan->reads++;
	plan->head_met |= part == PLAN_HEAD;
	if (addr + len < addr)
		return false;
	if (hold != MEM_CONSTANT || !plan->in_body)
		return part_read(plan, part, addr, dst, len, hold);
	/* what is late is newer than the epoch */
	bool is_known = plan->constants.epoch && !late_any(&plan->late);
	if (is_known && constants_find(&plan->constants, addr, dst, len))
		return true;
	/* to be kept, it is part of the proof, and read before the epoch */
	if (!part_read(plan, part, addr, dst, len, plan->has_epoch ? MEM_HOLDS : MEM_DRIFTS))
		return false;
	if (is_known)
		constants_add(&plan->constants, addr, dst, len);
	return true;
}

/* ---- what need not be walked ------------------------------------------------------------- */

static const u8 *bytes_of(const struct plan *plan, const struct repeat_piece *piece)
{
	return (piece->part == PLAN_ONCE ? plan->once.bytes : plan->body[0].bytes) + piece->offset;
}

static const u8 *proven_bytes(const struct plan *plan, const struct repeat_piece *piece)
{
	const struct read_set *set = plan->set;
	size_t body = plan->head_size, once = body + set->part_bytes[PLAN_BODY];

	return set->proven + (piece->part == PLAN_ONCE ? once : body) + piece->offset;
}

static bool piece_is_same(const struct plan *plan, const struct repeat_piece *piece)
{
	const u8 *bytes = bytes_of(plan, piece);

	if (memcmp(bytes, proven_bytes(plan, piece), piece->len) != 0)
		return false;
	return piece->part == PLAN_ONCE || plan->still || plan->steady ||
	       !memcmp(bytes, plan->body[1].bytes + piece->offset, piece->len);
}

bool plan_leaf_done(struct plan *plan, bool ask)
{
	const struct read_set *set = plan->set;

	plan->leaf_done = true;
	if (!ask || !plan->fetched || !set->behind.count ||
	    set->behind_layout != set->layout_whole || set->proven_layout != set->layout_whole)
		return false;
	for (u32 i = 0; i < set->behind.count; i++)
		if (!piece_is_same(plan, &set->behind.at[i]))
			return false;
	plan->repeated = true;
	return true;
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
		struct plan_range *range = range_holding(set->ranges.at, set->part_end, &hint,
							 piece->part, piece->addr, piece->len);
		if (range)
			range_touch(&range->low, &range->high, piece->addr, piece->len);
	}
}

/* Carries what this walk touched over to a set that has changed meanwhile. */
static void carry_touched(struct plan *plan)
{
	struct read_set *set = plan->set;
	u32 hint = 0;

	for (u32 i = 0; i < plan->first_kept.count; i++) {
		const struct plan_range *used = &plan->first_kept.at[i];
		if (used->low > used->high)
			continue;
		struct plan_range *range = range_holding(set->ranges.at, set->part_end, &hint,
							 used->part, used->low,
							 (u32)(used->high - used->low));
		if (range) {
			range_touch(&range->low, &range->high, used->low,
				    (u32)(used->high - used->low));
			range->first = used->first;
		}
	}
}

/* Now and then lets go of what is not touched. */
static void learn_touched(struct plan *plan)
{
	struct read_set *set = plan->set;

	carry_touched(plan);
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
		const u8 *copy = read->part == PLAN_HEAD ? plan->first_head.bytes :
							   plan->body[0].bytes;
		memcpy(out, copy + range->offset + (read->addr - range->addr), read->len);
		return true;
	}
	return read_late(plan, read->part, read->addr, out, read->len, MEM_HOLDS);
}

static bool equal_again(struct plan *plan, const struct logged *read)
{
	u8 taken[AGAIN_MAX];
	u32 hint = 0;
	const struct plan_range *range = range_holding(plan->set->ranges.at, plan->set->part_end,
						       &hint, read->part, read->addr, read->len);

	if (!range || read->len > sizeof taken || !taken_bytes(plan, read, taken))
		return false;
	size_t at = range->offset + (read->addr - range->addr);
	if (read->part == PLAN_HEAD)
		return heads_agree(plan, taken, plan->head_size, at, read->len);
	return !memcmp(taken, plan->again.bytes + at, read->len);
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
		const struct plan_range *range = range_holding(set->ranges.at, set->part_end, &hint,
							       PLAN_BODY, piece->addr, piece->len);
		if (!range ||
		    memcmp(bytes_of(plan, piece),
			   plan->again.bytes + range->offset + (piece->addr - range->addr),
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

/* The heads of the first fetch make room for those of the second. */
static bool keep_first_head(struct plan *plan)
{
	if (plan->again_made)
		return true; /* they did already */
	if (!snapshot_reserve(&plan->first_head, plan->head_size))
		return false;
	if (plan->head_size && plan->fetched)
		memcpy(plan->first_head.bytes, plan->heads.bytes, plan->head_size);
	return true;
}

/* Heads and frames of the first copy stay; another covers every read made. Does it agree? */
static bool prove_again(struct plan *plan)
{
	if (!keep_first_head(plan) || !fetch_again(plan)) {
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
		plan->stats.unplanned++;
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
		const struct plan_range *range = range_holding(set->ranges.at, set->part_end, &hint,
							       read->part, read->addr, read->len);
		if (!range)
			return false;
		size_t at = range->offset + (read->addr - range->addr);
		bool head = read->part == PLAN_HEAD;
		if (memcmp(set->proven + (head ? at : plan->head_size + at),
			   (head ? plan->heads.bytes : plan->body[0].bytes) + at, read->len) != 0)
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
	size_t head = plan->head_size, body = set->part_bytes[PLAN_BODY],
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
		memcpy(set->proven, plan->heads.bytes, head);
	if (body)
		memcpy(set->proven + head, plan->body[0].bytes, body);
	if (once)
		memcpy(set->proven + head + body, plan->once.bytes, once);
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
	repeat_join(&set->behind);
	set->behind_layout = set->layout_whole;
	/* what it only peeked at can be other than what was proven before */
	bool same = true;
	for (u32 i = 0; i < set->behind.count && same; i++)
		same = !memcmp(bytes_of(plan, &set->behind.at[i]),
			       proven_bytes(plan, &set->behind.at[i]), set->behind.at[i].len);
	if (!same && !keep_proven(plan))
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

const struct plan_stats *plan_stats(const struct plan *plan)
{
	return &plan->stats;
}

/* ---- life -------------------------------------------------------------------------------- */

struct plan *plan_new(const struct mem_live *live)
{
	struct plan *plan = calloc(1, sizeof *plan);

	if (plan) {
		plan->mem.read = plan_read;
		plan->live = live;
	}
	return plan;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	free(plan->once.bytes);
	free(plan->heads.bytes);
	free(plan->first_head.bytes);
	free(plan->again.bytes);
	for (u32 i = 0; i < COUNT_OF(plan->body); i++)
		free(plan->body[i].bytes);
	late_free(&plan->late);
	constants_free(&plan->constants);
	vec_free(&plan->first_kept);
	vec_free(&plan->log);
	vec_free(&plan->spans);
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
