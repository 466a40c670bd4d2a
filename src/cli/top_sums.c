/* SPDX-License-Identifier: Apache-2.0
 * top_sums.c - see top_sums.h. */
#include "cli/top_sums.h"

#include <string.h>

#include "base/clock.h"

void top_sums_init(struct top_sums *sums, const struct profile *profile)
{
	*sums = (struct top_sums){ .profile = profile };
}

void top_sums_free(struct top_sums *sums)
{
	for (u32 i = 0; i < TOP_VIEWS; i++)
		vec_free(&sums->keys[i]);
	for (u32 i = 0; i < TOP_WINDOW_S; i++)
		vec_free(&sums->ring[i].grown);
	lines_free(&sums->lines);
	vec_free(&sums->languages);
}

/* ---- keys --------------------------------------------------------------------------------- */

/* A handful, so that looking through them is quick. */
static u32 language_key(const struct top_sums *sums, u32 language)
{
	u32 key = 0;

	while (key < sums->languages.count && sums->languages.at[key] != language)
		key++;
	return key;
}

static bool grow_keys(struct top_sums *sums, enum top_view view, u32 count)
{
	u32 had = sums->keys[view].count;

	if (count <= had)
		return true;
	if (!vec_grow(&sums->keys[view], count))
		return false;
	memset(sums->keys[view].at + had, 0, (count - had) * sizeof *sums->keys[view].at);
	sums->keys[view].count = count;
	return true;
}

static bool learn_keys(struct top_sums *sums)
{
	const struct profile *profile = sums->profile;
	const struct names *names = &profile->names;

	for (u32 i = sums->keys[TOP_FUNCTIONS].count; i < names->functions.count; i++) {
		u32 language = names->functions.at[i].language;
		if (language_key(sums, language) == sums->languages.count &&
		    !vec_push(&sums->languages, language))
			return false;
	}
	return lines_learn(&sums->lines, names) &&
	       grow_keys(sums, TOP_FUNCTIONS, names->functions.count) &&
	       grow_keys(sums, TOP_LINES, sums->lines.at.count) &&
	       grow_keys(sums, TOP_THREADS, profile->threads.count) &&
	       grow_keys(sums, TOP_PROCESSES, profile->processes.count) &&
	       grow_keys(sums, TOP_LANGUAGES, sums->languages.count);
}

u32 top_sums_key(const struct top_sums *sums, enum top_view view, u32 stack)
{
	const struct names *names = &sums->profile->names;
	u32 function = names->locations.at[names->stacks.at[stack].location].function;

	return view == TOP_LINES     ? sums->lines.of_stack.at[stack] :
	       view == TOP_LANGUAGES ? language_key(sums, names->functions.at[function].language) :
				       function;
}

u32 top_sums_function(const struct top_sums *sums, enum top_view view, u32 key)
{
	return view == TOP_LINES ?
		       sums->profile->names.locations.at[sums->lines.at.at[key].location].function :
		       key;
}

/* ---- amounts ------------------------------------------------------------------------------ */

/* What is added and taken off again. */
struct change {
	enum top_span span;
	u64 count, weight; /* negative ones wrap, and so do the sums */
};

static void change_self(struct top_amount *amount, const struct change *change)
{
	amount->self += change->weight;
	amount->self_samples += change->count;
}

static void change_total(struct top_amount *amount, const struct change *change)
{
	amount->total += change->weight;
	amount->total_samples += change->count;
}

static void change_both(struct top_amount *amount, const struct change *change)
{
	change_self(amount, change);
	change_total(amount, change);
}

static void change_frame(struct top_sums *sums, enum top_view view, u32 stack, bool leaf,
			 const struct change *change)
{
	struct top_key *key = &sums->keys[view].at[top_sums_key(sums, view, stack)];

	if (leaf)
		change_self(&key->had[change->span], change);
	if (key->walk != sums->walks)
		change_total(&key->had[change->span], change);
	key->walk = sums->walks;
}

static void apply(struct top_sums *sums, u32 number, struct change change)
{
	const struct profile *profile = sums->profile;
	const struct profile_entry *entry = &profile->entries.at[number];
	u32 process = profile->threads.at[entry->thread].process;

	sums->walks++;
	change_both(&sums->whole[change.span], &change);
	change_both(&sums->keys[TOP_THREADS].at[entry->thread].had[change.span], &change);
	change_both(&sums->keys[TOP_PROCESSES].at[process].had[change.span], &change);
	for (u32 at = entry->stack; at; at = profile->names.stacks.at[at].outer) {
		bool leaf = at == entry->stack;
		change_frame(sums, TOP_FUNCTIONS, at, leaf, &change);
		change_frame(sums, TOP_LINES, at, leaf, &change);
		change_frame(sums, TOP_LANGUAGES, at, leaf, &change);
	}
}

static bool is_in_scope(const struct top_sums *sums, u32 number)
{
	const struct profile *profile = sums->profile;
	const struct profile_entry *entry = &profile->entries.at[number];

	if (!sums->scope.set)
		return true;
	if (sums->scope.of == TOP_THREADS)
		return entry->thread == sums->scope.key;
	if (sums->scope.of == TOP_PROCESSES)
		return profile->threads.at[entry->thread].process == sums->scope.key;
	return top_sums_key(sums, sums->scope.of, entry->stack) == sums->scope.key;
}

/* ---- the window --------------------------------------------------------------------------- */

static struct top_bucket *bucket_at(const struct top_sums *sums, u32 index)
{
	return (struct top_bucket *)&sums->ring[(sums->first + index) % TOP_WINDOW_S];
}

static void drop_oldest(struct top_sums *sums)
{
	struct top_bucket *bucket = bucket_at(sums, 0);

	for (u32 i = 0; i < bucket->grown.count; i++) {
		const struct top_growth *grown = &bucket->grown.at[i];
		if (is_in_scope(sums, grown->entry))
			apply(sums, grown->entry,
			      (struct change){ TOP_RECENT, -grown->count, -grown->weight });
	}
	vec_clear(&bucket->grown);
	sums->first = (sums->first + 1) % TOP_WINDOW_S;
	sums->used--;
}

void top_sums_restart(struct top_sums *sums)
{
	while (sums->used)
		drop_oldest(sums);
}

void top_sums_advance(struct top_sums *sums, u64 now_ns)
{
	if (!learn_keys(sums))
		sums->bad = true;
	/* Nothing for many seconds: it was suspended. */
	while (sums->used && bucket_at(sums, 0)->begin_ns + TOP_WINDOW_S * NS_PER_S <= now_ns)
		drop_oldest(sums);
	if (sums->used && now_ns < bucket_at(sums, sums->used - 1)->begin_ns + NS_PER_S)
		return;
	if (sums->used == TOP_WINDOW_S)
		drop_oldest(sums);
	struct top_bucket *bucket = bucket_at(sums, sums->used++);
	bucket->before = sums->profile->quality;
	bucket->begin_ns = now_ns;
}

void top_sums_add(struct top_sums *sums, u32 entry, u64 count, u64 weight, bool late)
{
	if (!learn_keys(sums)) {
		sums->bad = true;
		return;
	}
	sums->everything.self += weight;
	sums->everything.self_samples += count;
	if (is_in_scope(sums, entry))
		apply(sums, entry, (struct change){ TOP_ALL, count, weight });
	if (late || !sums->used)
		return;
	struct top_bucket *bucket = bucket_at(sums, sums->used - 1);
	if (!vec_push(&bucket->grown, (struct top_growth){ entry, count, weight }))
		sums->bad = true; /* what is not kept cannot be taken off again: not added */
	else if (is_in_scope(sums, entry))
		apply(sums, entry, (struct change){ TOP_RECENT, count, weight });
}

void top_sums_each(const struct top_sums *sums, enum top_span span, top_growth_fn *each, void *arg)
{
	const struct profile *profile = sums->profile;

	for (u32 i = 0; span == TOP_ALL && i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		if (is_in_scope(sums, i))
			each(arg, &(struct top_growth){ i, entry->count, entry->weight });
	}
	for (u32 b = 0; span == TOP_RECENT && b < sums->used; b++) {
		const struct top_bucket *bucket = bucket_at(sums, b);
		for (u32 i = 0; i < bucket->grown.count; i++)
			if (is_in_scope(sums, bucket->grown.at[i].entry))
				each(arg, &bucket->grown.at[i]);
	}
}

struct again {
	struct top_sums *sums;
	enum top_span span;
};

static void apply_again(void *arg, const struct top_growth *grown)
{
	const struct again *again = arg;

	apply(again->sums, grown->entry,
	      (struct change){ again->span, grown->count, grown->weight });
}

void top_sums_set_scope(struct top_sums *sums, struct top_scope scope)
{
	if (!learn_keys(sums)) {
		sums->bad = true;
		return;
	}
	sums->scope = scope;
	memset(sums->whole, 0, sizeof sums->whole);
	for (u32 v = 0; v < TOP_VIEWS; v++)
		for (u32 i = 0; i < sums->keys[v].count; i++)
			memset(sums->keys[v].at[i].had, 0, sizeof sums->keys[v].at[i].had);
	for (u32 span = 0; span < TOP_SPANS; span++) {
		struct again again = { sums, span };
		top_sums_each(sums, span, apply_again, &again);
	}
}

void top_sums_again(struct top_sums *sums)
{
	lines_forget(&sums->lines);
	top_sums_set_scope(sums, sums->scope);
}

struct quality top_sums_before(const struct top_sums *sums, enum top_span span)
{
	struct quality none = { 0 };

	return span == TOP_RECENT && sums->used ? bucket_at(sums, 0)->before : none;
}
