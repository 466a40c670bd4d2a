/* SPDX-License-Identifier: Apache-2.0
 * calls.c - see calls.h.
 *
 * Seven sorts of entries in one table, told apart by what is hashed:
 *
 *	pair      (caller, callee)          how often, and the caller's most frequent place
 *	placed    (caller, place, callee)   how often
 *	sandwich  (outer, inner)            how often, and what lies most often between
 *	triple    (outer, middle, inner)    how often
 *	site      (caller, place)           how often, and what it calls most often from there
 *	callee    (callee)                  how often
 *	path      (path of the caller, its place, callee)   of lists only
 *
 * Each is kept twice: of the program, and of the thread.  Keys are 64-bit hashes with a secret seed and are not kept in
 * full: one false match in 10^12 looks. */
#include "sample/calls.h"

#include <string.h>

enum {
	/* Entries kept; a program has some 10,000. Past that: start over, learn again in a second. */
	CALLS_MAX = 1 << 20,
	/* Fewer sightings than this say nothing about what is rare. */
	SIGHTINGS_MIN = 16,
	/* Rarer than one in 50 beside one that is nine tenths, or seen so seldom that chance may have made it more. */
	RARE = 50,
	SELDOM = 8,
	/* Rare from its caller's place times rare among its callers. */
	LEFTOVER = 100,
	/* Once or twice can be an accident, be it the first to be seen. */
	TWICE = 2,
	/* A stack that was plausible so often in a row is counted and judged by the dozen, or by a sixteenth of what it was counted. */
	SURE = 32,
	DOZEN = 12,
	SIXTEENTH = 16,
	/* A pair that held in fewer than one in 16 of its sightings ends sooner than a read. */
	FLEETING = 16,
	/* Of the sightings of a frame, the part that must be without a caller for it to be a root. */
	ROOTS = 4,
};

enum sort { PAIR, PLACED, SANDWICH, TRIPLE, SITE, CALLEE, PATH };

struct key_words {
	u64 salt, sort, outer[2], middle[2], inner[2];
};

static void set_frame(u64 words[2], const struct frame *frame)
{
	words[0] = frame ? frame->id : 0;
	words[1] = frame ? frame->owner : 0;
}

static u64 key_of(u64 salt, enum sort sort, const struct frame *outer, const struct frame *middle,
		  const struct frame *inner)
{
	struct key_words words = { .salt = salt, .sort = sort };

	set_frame(words.outer, outer);
	set_frame(words.inner, inner);
	if (sort == PLACED || sort == SITE)
		words.middle[0] = outer ? outer->pos : 0;
	else
		set_frame(words.middle, middle);
	return table_hash(&words, sizeof words);
}

/* All callers with their places, and the callee. `path`: that of its caller, 0: it has none. */
static u64 path_key(u64 salt, u64 path, const struct frame *caller, const struct frame *callee)
{
	struct key_words words = { .salt = salt,
				   .sort = PATH,
				   .outer = { path, caller ? caller->pos : 0 } };

	set_frame(words.inner, callee);
	return table_hash(&words, sizeof words);
}

static bool same_call(const void *owner, u32 item, const void *key)
{
	const struct calls *calls = owner;
	return calls->seen.at[item].key == *(const u64 *)key;
}

static struct call *find_key(const struct calls *calls, u64 key)
{
	u32 item = table_find(&calls->table, key, same_call, calls, &key);

	return item == TABLE_NONE ? NULL : &calls->seen.at[item];
}

static const struct call *find(const struct calls *calls, u64 salt, enum sort sort,
			       const struct frame *outer, const struct frame *middle,
			       const struct frame *inner)
{
	return find_key(calls, key_of(salt, sort, outer, middle, inner));
}

/* ---- learning ---------------------------------------------------------------------------- */

/* So many sightings. NULL when out of memory: not learned, so not believed. Valid until the next. */
static struct call *sight(struct calls *calls, u64 key, u32 times)
{
	u32 item = table_find(&calls->table, key, same_call, calls, &key);

	if (item == TABLE_NONE) {
		item = calls->seen.count;
		if (!vec_push(&calls->seen, (struct call){ .key = key }))
			return NULL;
		if (!table_add(&calls->table, key, item)) {
			calls->seen.count--;
			return NULL;
		}
	}
	calls->seen.at[item].count += times;
	return &calls->seen.at[item];
}

/* Counts votes for what leads or against it; true when it is to be replaced. */
static bool vote(struct call *call, bool for_it, u32 times)
{
	if (for_it || call->votes >= times) {
		call->votes += for_it ? times : -times;
		return false;
	}
	call->votes = times - call->votes;
	return true;
}

/* `frame` was seen so often in what `call` counts: does it lead? */
static void lead(struct call *call, const struct frame *frame, u32 times)
{
	if (vote(call, call->id == frame->id && call->owner == frame->owner, times)) {
		call->id = frame->id;
		call->owner = frame->owner;
	}
}

static void learn_pair(struct calls *calls, u64 salt, const struct frame *caller,
		       const struct frame *callee, u32 times)
{
	sight(calls, key_of(salt, CALLEE, NULL, NULL, callee), times);
	struct call *pair = sight(calls, key_of(salt, PAIR, caller, NULL, callee), times);
	if (!pair || !caller)
		return;
	if (vote(pair, pair->count > times && pair->pos == caller->pos, times))
		pair->pos = caller->pos;
	sight(calls, key_of(salt, PLACED, caller, NULL, callee), times);
	struct call *site = sight(calls, key_of(salt, SITE, caller, NULL, NULL), times);
	if (site)
		lead(site, callee, times);
}

static void learn_triple(struct calls *calls, u64 salt, const struct frame *outer,
			 const struct frame *middle, const struct frame *inner, u32 times)
{
	struct call *between = sight(calls, key_of(salt, SANDWICH, outer, NULL, inner), times);

	if (!between)
		return;
	lead(between, middle, times);
	struct call *triple = sight(calls, key_of(salt, TRIPLE, outer, middle, inner), times);
	if (triple) {
		triple->pos = middle->pos;
		triple->flags = middle->flags;
	}
}

static void learn(struct calls *calls, u64 salt, const struct frame *frames, u32 count, u32 times,
		  bool linked)
{
	if (calls->seen.count >= CALLS_MAX) {
		vec_clear(&calls->seen);
		table_clear(&calls->table);
	}
	u64 path = 0;

	for (u32 i = count; i-- > 0;) {
		const struct frame *caller = i + 1 < count ? &frames[i + 1] : NULL;
		if (frames[i].kind == FRAME_MARK)
			return;
		if (linked) {
			path = path_key(salt, path, caller, &frames[i]);
			sight(calls, path, times);
		}
		learn_pair(calls, salt, caller, &frames[i], times);
		if (i)
			learn_triple(calls, salt, caller, &frames[i], &frames[i - 1], times);
	}
}

/* ---- believing --------------------------------------------------------------------------- */

static u64 count_of(const struct call *call)
{
	return call ? call->count : 0;
}

static bool is_rare(u64 count, u64 all, u64 leading)
{
	return all >= SIGHTINGS_MIN && (count < SELDOM || count * RARE < all) &&
	       leading * 10 >= all * 9;
}

/* Whose numbers tell what is rare: the thread's own, where it was seen there often enough. What another does seldom
 * or always says nothing then. */
static u64 who_tells(const struct calls *calls, const struct calls_whose *whose, enum sort sort,
		     const struct frame *outer, const struct frame *inner)
{
	const struct call *own = find(calls, whose->thread, sort, outer, NULL, inner);

	return own && own->count >= SIGHTINGS_MIN ? whose->thread : whose->program;
}

/* What most often lies between two frames. */
static struct frame leader_of(const struct call *between)
{
	return (struct frame){ .id = between->id, .owner = between->owner };
}

static bool middle_is_plausible(const struct calls *calls, const struct calls_whose *whose,
				const struct frame *outer, const struct frame *middle,
				const struct frame *inner)
{
	const struct call *triple = find(calls, whose->program, TRIPLE, outer, middle, inner);

	if (!triple || triple->count <= TWICE)
		return false;
	if (!outer) /* it lies in its slot as long as its thread lives: the root of a rare one is as sure as any */
		return true;
	u64 salt = who_tells(calls, whose, SANDWICH, outer, inner);
	const struct call *between = find(calls, salt, SANDWICH, outer, NULL, inner);
	if (!between)
		return false;
	struct frame leader = leader_of(between);
	const struct call *leading = find(calls, salt, TRIPLE, outer, &leader, inner);
	triple = find(calls, salt, TRIPLE, outer, middle, inner);
	return !is_rare(count_of(triple), between->count, count_of(leading));
}

/* A callee that ends sooner than a read held because it was there again, or had been: then the caller can have
 * gone on in each copy, and a third of what holds can be such accidents. */
static bool is_fleeting(const struct call *pair)
{
	return pair->count * FLEETING < pair->moved;
}

static bool is_dominant(const struct call *placed, const struct call *pair)
{
	return placed && placed->count >= SIGHTINGS_MIN && placed->count * 10 >= pair->count * 9;
}

static const struct call *find_leading(const struct calls *calls, u64 salt, const struct call *pair,
				       const struct frame *caller, const struct frame *callee)
{
	struct frame leader = *caller;

	leader.pos = pair->pos;
	return find(calls, salt, PLACED, &leader, NULL, callee);
}

/* The next call may have begun in every copy: a second place must be seen more often than such an accident. */
static bool place_is_plausible(const struct calls *calls, const struct calls_whose *whose,
			       const struct frame *caller, const struct frame *callee)
{
	u64 salt = who_tells(calls, whose, PAIR, caller, callee);
	const struct call *pair = find(calls, salt, PAIR, caller, NULL, callee);
	const struct call *placed = find(calls, salt, PLACED, caller, NULL, callee);

	if (!pair || !placed)
		return false;
	if (is_fleeting(pair))
		return is_dominant(placed, pair);
	if (pair->pos == caller->pos)
		return true;
	const struct call *leading = find_leading(calls, salt, pair, caller, callee);
	return placed->count > TWICE && !is_rare(placed->count, pair->count, count_of(leading));
}

/* Of a stack that moved, a caller's place is the least certain: the next call may have begun. */
static bool place_stands(const struct call *pair, const struct call *placed)
{
	if (is_fleeting(pair))
		return is_dominant(placed, pair);
	return placed && placed->count > TWICE && placed->count * 4 >= pair->count;
}

static bool place_leads(const struct calls *calls, u64 salt, const struct call *pair,
			const struct frame *caller, const struct frame *callee)
{
	if (is_fleeting(pair))
		return is_dominant(find_leading(calls, salt, pair, caller, callee), pair);
	return pair->votes > TWICE;
}

/* A place that does not stand gives way to the one that leads. False: too few were seen to tell, and an accident
 * would be repeated until it is outvoted. */
static bool set_place(const struct calls *calls, const struct calls_whose *whose,
		      struct frame *caller, const struct frame *callee)
{
	u64 salt = who_tells(calls, whose, PAIR, caller, callee);
	const struct call *pair = find(calls, salt, PAIR, caller, NULL, callee);

	if (place_stands(pair, find(calls, salt, PLACED, caller, NULL, callee)))
		return true;
	if (!place_leads(calls, salt, pair, caller, callee))
		return false;
	caller->pos = pair->pos;
	return true;
}

/* Does the caller call this from where it stands, or is that a leftover? Then the place nearly always
 * calls something else, and this is nearly always called from elsewhere: the shares that this call
 * has of both make a hundredth.  What was not learned is not rare. */
static bool call_is_plausible(const struct calls *calls, u64 salt, const struct frame *caller,
			      const struct frame *inner)
{
	const struct call *placed = find(calls, salt, PLACED, caller, NULL, inner);
	const struct call *site = find(calls, salt, SITE, caller, NULL, NULL);
	const struct call *callee = find(calls, salt, CALLEE, NULL, NULL, inner);

	if (!placed || !site || !callee || site->count < SIGHTINGS_MIN)
		return true;
	struct frame leader = leader_of(site);
	const struct call *leading = find(calls, salt, PLACED, caller, NULL, &leader);
	if (!leading || leading->count * 10 < site->count * 9)
		return true;
	return placed->count * 2 >= site->count || placed->count * 2 >= callee->count ||
	       placed->count * placed->count * LEFTOVER >= site->count * callee->count;
}

/* What has a caller in most stacks is no thread's first: the link to its caller was cut when it was read. */
static bool root_is_plausible(const struct calls *calls, u64 salt, const struct frame *root)
{
	const struct call *first = find(calls, salt, PAIR, NULL, NULL, root);
	const struct call *callee = find(calls, salt, CALLEE, NULL, NULL, root);

	return first && callee &&
	       (callee->count < SIGHTINGS_MIN || first->count * ROOTS >= callee->count);
}

/* Frames of a list lie side by side and are read as one: a caller's place and the callee in its slot can be of
 * two calls in every copy, one time in 40. */
static bool is_seen_from_here(const struct calls *calls, u64 salt, const struct frame *caller,
			      const struct frame *callee)
{
	const struct call *placed = find(calls, salt, PLACED, caller, NULL, callee);

	return placed && placed->count > TWICE && call_is_plausible(calls, salt, caller, callee);
}

static bool is_plausible(const struct calls *calls, const struct calls_whose *whose,
			 const struct frame *frames, u32 count, bool linked)
{
	for (u32 i = count; i-- > 1;) {
		const struct frame *outer = i + 1 < count ? &frames[i + 1] : NULL;
		if (!middle_is_plausible(calls, whose, outer, &frames[i], &frames[i - 1]) ||
		    !place_is_plausible(calls, whose, &frames[i], &frames[i - 1]) ||
		    (linked &&
		     !is_seen_from_here(calls, whose->program, &frames[i], &frames[i - 1])))
			return false;
	}
	return true;
}

u64 calls_path(const struct frame *callers, u32 count)
{
	return table_hash(callers, count * sizeof *callers);
}

/* A leaf's place says nothing about who calls whom. */
static u64 hash_of(const struct calls_whose *whose, const struct frame *leaf, u64 path)
{
	u64 words[] = { whose->program, whose->thread, leaf->id, leaf->owner };

	return table_hash(words, sizeof words) ^ path;
}

static enum calls_verdict judge(const struct calls *calls, const struct calls_whose *whose,
				const struct frame *frames, u32 count, u32 doubts)
{
	u64 program = whose->program;

	if ((doubts & CALLS_DOUBT_LEAF) && count > 1 &&
	    !call_is_plausible(calls, program, &frames[1], &frames[0]))
		return CALLS_LEFTOVER;
	if (!(doubts & CALLS_DOUBT_ALL))
		return CALLS_BELIEVED;
	if ((doubts & CALLS_LINKED) && !root_is_plausible(calls, program, &frames[count - 1]))
		return CALLS_DOUBTED;
	if (!is_plausible(calls, whose, frames, count, doubts & CALLS_LINKED))
		return CALLS_DOUBTED;
	return CALLS_BELIEVED;
}

enum calls_verdict calls_believe(struct calls *calls, const struct calls_whose *whose,
				 const struct frame *frames, u32 count, u64 path, u32 doubts)
{
	if (!count)
		return CALLS_BELIEVED;
	u64 hash = hash_of(whose, frames, path ? path : calls_path(frames + 1, count - 1));
	struct learned *learned = &calls->learned[hash % COUNT_OF(calls->learned)];
	bool known = learned->hash == hash, doubted = doubts & ~(u32)CALLS_LINKED;
	if (!known)
		*learned = (struct learned){ .hash = hash };
	u32 times = ++learned->uncounted;
	bool is_due = doubted ? learned->plausible < SURE ||
					(times >= DOZEN && times >= learned->counted / SIXTEENTH) :
				learned->counted <= TWICE || times >= learned->counted;
	if (!is_due)
		return CALLS_BELIEVED;
	learned->uncounted = 0;
	learned->counted += times;
	learn(calls, whose->program, frames, count, times, doubts & CALLS_LINKED);
	if (whose->thread)
		learn(calls, whose->thread, frames, count, times, doubts & CALLS_LINKED);
	enum calls_verdict verdict = judge(calls, whose, frames, count, doubts);
	/* what was not doubted is no sign that it need not be */
	if (doubted)
		learned->plausible = verdict == CALLS_BELIEVED ? learned->plausible + 1 : 0;
	return verdict;
}

/* A frame that does not belong between its neighbours: what does, if that is one function of those that the thread
 * calls there? It must have been called by `outer` when that was called from here (`outmost`), too: `loop` has as many
 * blocks as callers. */
static bool put_back(const struct calls *calls, const struct calls_whose *whose,
		     const struct frame *outmost, const struct frame *outer, struct frame *middle,
		     const struct frame *inner)
{
	u64 salt = whose->thread;
	const struct call *between = find(calls, salt, SANDWICH, outer, NULL, inner);

	/* a function that was never seen there may be new: it is no sign of another's place; nor is a root ever another's */
	if (!outer || !between || !find(calls, whose->program, PAIR, outer, NULL, middle))
		return false;
	struct frame leader = leader_of(between);
	const struct call *leading = find(calls, salt, TRIPLE, outer, &leader, inner);
	if (!leading || leading->count <= TWICE || leading->count * 10 < between->count * 9)
		return false;
	if (!find(calls, salt, TRIPLE, outmost, outer, &leader))
		return false;
	middle->id = leader.id;
	middle->owner = leader.owner;
	middle->pos = leading->pos;
	middle->flags = leading->flags;
	return true;
}

/* The outermost frames that stacks that held had just so: neighbours that fit each other can still be of two
 * paths. */
static u32 known_path(const struct calls *calls, u64 salt, const struct frame *frames, u32 count,
		      u32 standing)
{
	u64 path = 0;

	if (standing && !root_is_plausible(calls, salt, &frames[count - 1]))
		return 0;
	for (u32 known = 0; known < standing; known++) {
		u32 i = count - 1 - known;
		path = path_key(salt, path, known ? &frames[i + 1] : NULL, &frames[i]);
		const struct call *seen = find_key(calls, path);
		if (!seen || seen->count <= TWICE)
			return known;
	}
	return standing;
}

/* All pairs, whether what is outside of them stands or not: else one would look as if it seldom moved when it
 * begins to stand. */
static void note_moved(struct calls *calls, u64 salt, const struct frame *frames, u32 count)
{
	for (u32 i = count; i-- > 1 && frames[i - 1].kind != FRAME_MARK;) {
		struct call *pair = find_key(calls,
					     key_of(salt, PAIR, &frames[i], NULL, &frames[i - 1]));
		if (pair)
			pair->moved++;
	}
}

u32 calls_standing(struct calls *calls, const struct calls_whose *whose, struct frame *frames,
		   u32 count)
{
	struct frame *outmost = NULL, *caller = NULL;
	u32 standing = 0;

	note_moved(calls, whose->thread, frames, count);
	if (whose->program != whose->thread)
		note_moved(calls, whose->program, frames, count);
	for (u32 i = count; i-- > 0; outmost = caller, caller = &frames[i], standing++) {
		bool inner = i && frames[i - 1].kind != FRAME_MARK;
		if (frames[i].kind == FRAME_MARK)
			break;
		/* the innermost that stands is not between two, and needs its caller only */
		bool fits = !inner ||
			    middle_is_plausible(calls, whose, caller, &frames[i], &frames[i - 1]);
		if (!fits)
			fits = put_back(calls, whose, outmost, caller, &frames[i], &frames[i - 1]);
		if (!find(calls, whose->program, PAIR, caller, NULL, &frames[i]) ||
		    (caller && !set_place(calls, whose, caller, &frames[i])))
			break;
		if (!fits)
			return standing + 1;
	}
	return standing;
}

u32 calls_standing_linked(struct calls *calls, const struct calls_whose *whose,
			  struct frame *frames, u32 count)
{
	u32 standing = calls_standing(calls, whose, frames, count);

	return known_path(calls, whose->program, frames, count, standing);
}

void calls_fini(struct calls *calls)
{
	vec_free(&calls->seen);
	table_free(&calls->table);
}
