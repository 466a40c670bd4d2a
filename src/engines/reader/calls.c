/* SPDX-License-Identifier: Apache-2.0
 * calls.c - see calls.h.
 *
 * Three sorts of entries in one table, told apart by what is hashed:
 *
 *	pair      (caller, callee)         holds the caller's place
 *	placed    (caller, place, callee)  holds nothing: it was seen
 *	sandwich  (caller, callee's callee) holds what lies between, if that is only one function
 *
 * Keys are 64-bit hashes with a secret seed and are not kept in full: one false match in 10^12
 * looks. */
#include "engines/reader/calls.h"

#include <string.h>

/* Calls kept; a program has some 10,000. Past that: start over, and learn again in a second. */
enum { CALLS_MAX = 1 << 20 };

enum sort { PAIR, PLACED, SANDWICH };

static u64 key_of(u64 salt, enum sort sort, const struct frame *caller, const struct frame *callee)
{
	u64 words[7] = { salt, sort };

	if (caller) {
		words[2] = caller->id;
		words[3] = caller->owner;
		words[4] = sort == PLACED ? caller->pos : 0;
	}
	words[5] = callee->id;
	words[6] = callee->owner;
	return table_hash(words, sizeof words);
}

static bool same_call(const void *owner, u32 item, const void *key)
{
	const struct calls *calls = owner;
	return calls->seen.at[item].key == *(const u64 *)key;
}

static const struct call *find(const struct calls *calls, u64 salt, enum sort sort,
			       const struct frame *caller, const struct frame *callee)
{
	u64 key = key_of(salt, sort, caller, callee);
	u32 item = table_find(&calls->table, key, same_call, calls, &key);

	return item == TABLE_NONE ? NULL : &calls->seen.at[item];
}

/* The entry for a key, made if need be. NULL when out of memory: not learned, so not believed. */
static struct call *entry(struct calls *calls, u64 key, bool *is_new)
{
	u32 item = table_find(&calls->table, key, same_call, calls, &key);

	*is_new = item == TABLE_NONE;
	if (item != TABLE_NONE)
		return &calls->seen.at[item];
	if (!vec_push(&calls->seen, (struct call){ .key = key }))
		return NULL;
	if (!table_add(&calls->table, key, calls->seen.count - 1)) {
		calls->seen.count--;
		return NULL;
	}
	return &calls->seen.at[calls->seen.count - 1];
}

static void learn_pair(struct calls *calls, u64 salt, const struct frame *caller,
		       const struct frame *callee)
{
	bool is_new;
	struct call *pair = entry(calls, key_of(salt, PAIR, caller, callee), &is_new);

	if (pair && caller)
		pair->pos = caller->pos;
	if (caller)
		entry(calls, key_of(salt, PLACED, caller, callee), &is_new);
}

static void learn_sandwich(struct calls *calls, u64 salt, const struct frame *outer,
			   const struct frame *middle, const struct frame *inner)
{
	bool is_new;
	struct call *call = entry(calls, key_of(salt, SANDWICH, outer, inner), &is_new);

	if (!call)
		return;
	if (is_new || (call->id == middle->id && call->owner == middle->owner)) {
		call->id = middle->id;
		call->owner = middle->owner;
		call->pos = middle->pos;
	} else {
		call->id = 0;
	}
}

/* A leaf's place says nothing about who calls whom. */
static bool is_learned(struct calls *calls, u64 salt, const struct frame *frames, u32 count)
{
	u64 leaf[3] = { salt, frames[0].id, frames[0].owner };
	u64 hash = table_hash(leaf, sizeof leaf) ^
		   table_hash(frames + 1, (count - 1) * sizeof *frames);
	u64 *slot = &calls->learned[hash % COUNT_OF(calls->learned)];

	if (*slot == hash)
		return true;
	*slot = hash;
	return false;
}

void calls_learn(struct calls *calls, u64 salt, const struct frame *frames, u32 count)
{
	if (!count || is_learned(calls, salt, frames, count))
		return;
	if (calls->seen.count >= CALLS_MAX) {
		vec_clear(&calls->seen);
		table_clear(&calls->table);
	}
	for (u32 i = count; i-- > 0;) {
		const struct frame *caller = i + 1 < count ? &frames[i + 1] : NULL;
		if (frames[i].kind == FRAME_MARK)
			return;
		learn_pair(calls, salt, caller, &frames[i]);
		if (i)
			learn_sandwich(calls, salt, caller, &frames[i], &frames[i - 1]);
	}
}

/* Frame i lies between its caller and the callee under it; is it what was there when they were? */
static void put_back(const struct calls *calls, u64 salt, struct frame *frames, u32 i,
		     const struct frame *caller)
{
	if (!i || frames[i - 1].kind == FRAME_MARK ||
	    find(calls, salt, PAIR, &frames[i], &frames[i - 1]))
		return;
	const struct call *was = find(calls, salt, SANDWICH, caller, &frames[i - 1]);
	if (!was || !was->id)
		return;
	frames[i].id = was->id;
	frames[i].owner = was->owner;
	frames[i].pos = was->pos;
}

u32 calls_standing(const struct calls *calls, u64 salt, struct frame *frames, u32 count)
{
	struct frame *caller = NULL;
	u32 standing = 0;

	for (u32 i = count; i-- > 0; caller = &frames[i], standing++) {
		if (frames[i].kind == FRAME_MARK)
			break;
		put_back(calls, salt, frames, i, caller);
		const struct call *pair = find(calls, salt, PAIR, caller, &frames[i]);
		if (!pair)
			break;
		if (caller && !find(calls, salt, PLACED, caller, &frames[i]))
			caller->pos = pair->pos;
	}
	return standing;
}

void calls_fini(struct calls *calls)
{
	vec_free(&calls->seen);
	table_free(&calls->table);
}
