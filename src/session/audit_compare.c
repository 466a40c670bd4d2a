/* SPDX-License-Identifier: Apache-2.0
 * audit_compare.c - see audit_compare.h.
 *
 * Stacks are paths in one trie, whose nodes are numbered from the root outwards: an
 * outer stack has a lower number than what it called.  A pass from the highest number down
 * sums what lies below each node; one from the lowest up hands judgements on. */
#include "session/audit_compare.h"

#include <string.h>

#include "base/rng.h"

enum {
	DEALS = 200,
	DEALS_BELOW = 190, /* 19 of 20 */
};

bool audit_count(audit_stacks *stacks, u32 stack)
{
	if (stack >= stacks->count) {
		if (!vec_grow(stacks, stack + 1))
			return false;
		memset(stacks->at + stacks->count, 0,
		       (stack + 1 - stacks->count) * sizeof stacks->at[0]);
		stacks->count = stack + 1;
	}
	stacks->at[stack]++;
	return true;
}

static u64 count_of(const audit_stacks *stacks, u32 stack)
{
	return stack < stacks->count ? stacks->at[stack] : 0;
}

/* ---- pairs of caller and callee ----------------------------------------------------------- */

struct pair {
	u32 caller, callee; /* functions; caller UINT32_MAX at the root */
	u64 samples;        /* stopped ones that show it */
};

struct pairs {
	VEC(struct pair) all;
	struct table table;
};

static u32 function_of(const struct names *names, u32 stack)
{
	return names->locations.at[names->stacks.at[stack].location].function;
}

static bool is_same_pair(const void *owner, u32 item, const void *key)
{
	const struct pair *a = &((const struct pairs *)owner)->all.at[item], *b = key;

	return a->caller == b->caller && a->callee == b->callee;
}

static struct pair pair_of(const struct names *names, u32 stack)
{
	u32 outer = names->stacks.at[stack].outer;

	return (struct pair){ .caller = outer ? function_of(names, outer) : UINT32_MAX,
			      .callee = function_of(names, stack) };
}

static u64 pair_hash(const struct pair *pair)
{
	return table_hash((u32[]){ pair->caller, pair->callee }, 2 * sizeof(u32));
}

static struct pair *find_pair(struct pairs *pairs, const struct pair *key)
{
	u32 item = table_find(&pairs->table, pair_hash(key), is_same_pair, pairs, key);

	return item == TABLE_NONE ? NULL : &pairs->all.at[item];
}

static bool add_pair(struct pairs *pairs, struct pair key, u64 samples)
{
	struct pair *pair = find_pair(pairs, &key);

	if (pair) {
		pair->samples += samples;
		return true;
	}
	key.samples = samples;
	return vec_push(&pairs->all, key) &&
	       table_add(&pairs->table, pair_hash(&key), pairs->all.count - 1);
}

/* Marks ([moving], garbage collection) stand on anything. */
static bool is_mark(const struct names *names, u32 stack)
{
	return names->functions.at[function_of(names, stack)].language == 0;
}

/* Every pair of the stopped side, with the number of samples that show it. */
static bool learn_pairs(const struct names *names, const audit_stacks *stopped, u64 *below,
			struct pairs *pairs)
{
	for (u32 i = names->stacks.count; i-- > 1;) {
		below[i] += count_of(stopped, i);
		below[names->stacks.at[i].outer] += below[i];
		if (below[i] && !is_mark(names, i) && !add_pair(pairs, pair_of(names, i), below[i]))
			return false;
	}
	return true;
}

/* The fewest stopped samples that show any pair of a stack, for all stacks, and the judgement. */
static void judge(const struct names *names, const audit_stacks stacks[AUDIT_SIDES], u64 *rarest,
		  struct pairs *pairs, u64 out[AUDIT_SIDES])
{
	out[AUDIT_STOPPED] = out[AUDIT_UNSTOPPED] = 0;
	rarest[0] = UINT64_MAX;
	for (u32 i = 1; i < names->stacks.count; i++) {
		struct pair key = pair_of(names, i);
		const struct pair *pair = find_pair(pairs, &key);
		u64 seen = is_mark(names, i) ? UINT64_MAX : pair ? pair->samples : 0;
		u64 outer = rarest[names->stacks.at[i].outer];

		rarest[i] = seen < outer ? seen : outer;
		if (rarest[i] == 0)
			out[AUDIT_UNSTOPPED] += count_of(&stacks[AUDIT_UNSTOPPED], i);
		if (rarest[i] == 1)
			out[AUDIT_STOPPED] += count_of(&stacks[AUDIT_STOPPED], i);
	}
}

bool audit_find_impossible(const struct names *names, const audit_stacks stacks[AUDIT_SIDES],
			   u64 out[AUDIT_SIDES])
{
	struct pairs pairs = { 0 };
	u64 *scratch = calloc(names->stacks.count + 1, sizeof *scratch);
	bool good = scratch && learn_pairs(names, &stacks[AUDIT_STOPPED], scratch, &pairs);

	if (good)
		judge(names, stacks, scratch, &pairs, out);
	free(scratch);
	vec_free(&pairs.all);
	table_free(&pairs.table);
	return good;
}

/* ---- shares ------------------------------------------------------------------------------- */

/* Samples by leaf function; their sum. */
static u64 count_leaves(const struct names *names, const audit_stacks *stacks, u64 *leaves)
{
	u64 sum = 0;

	for (u32 i = 1; i < stacks->count; i++) {
		leaves[function_of(names, i)] += stacks->at[i];
		sum += stacks->at[i];
	}
	return sum;
}

static double variation(const u64 *a, u64 a_sum, const u64 *b, u64 b_sum, u32 count)
{
	double sum = 0;

	for (u32 i = 0; i < count; i++)
		sum += __builtin_fabs((double)a[i] / (double)a_sum - (double)b[i] / (double)b_sum);
	return sum / 2;
}

/* How many of `count` coins show heads. */
static u64 toss(struct rng *rng, u64 count)
{
	u64 heads = 0;

	for (; count >= 64; count -= 64)
		heads += (u64)__builtin_popcountll(rng_u64(rng));
	return heads + (u64)__builtin_popcountll(rng_u64(rng) & ((UINT64_C(1) << count) - 1));
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What `leaves` dealt in two differ by, in 19 of 20 deals. */
static double deal(const u64 *leaves, u32 count, u64 seed, u64 *half, u64 *rest)
{
	struct rng rng = { seed };
	double differences[DEALS];

	for (u32 n = 0; n < DEALS; n++) {
		u64 half_sum = 0, rest_sum = 0;

		for (u32 i = 0; i < count; i++) {
			half[i] = toss(&rng, leaves[i]);
			rest[i] = leaves[i] - half[i];
			half_sum += half[i];
			rest_sum += rest[i];
		}
		differences[n] = half_sum && rest_sum ?
					 variation(half, half_sum, rest, rest_sum, count) :
					 1;
	}
	qsort(differences, DEALS, sizeof differences[0], by_size);
	return differences[DEALS_BELOW - 1];
}

bool audit_find_distance(const struct names *names, const audit_stacks stacks[AUDIT_SIDES],
			 u64 seed, double *distance, double *noise)
{
	u32 count = names->functions.count;
	u64 *counts = calloc(4 * (size_t)count + 1, sizeof *counts);

	*distance = *noise = 1;
	if (!counts)
		return false;
	u64 *stopped = counts, *unstopped = counts + count;
	u64 s = count_leaves(names, &stacks[AUDIT_STOPPED], stopped);
	u64 u = count_leaves(names, &stacks[AUDIT_UNSTOPPED], unstopped);
	if (s && u) {
		*distance = variation(stopped, s, unstopped, u, count);
		for (u32 i = 0; i < count; i++)
			stopped[i] += unstopped[i];
		*noise = deal(stopped, count, seed, counts + 2 * (size_t)count,
			      counts + 3 * (size_t)count);
	}
	free(counts);
	return true;
}
