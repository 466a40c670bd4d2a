/* SPDX-License-Identifier: Apache-2.0
 * fold.c - see fold.h. */
#include "profile/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/lines.h"

/* ---- keys --------------------------------------------------------------------------------- */

static bool lines_of(struct fold *fold, const struct names *names, u32 *key_of)
{
	struct lines lines = { 0 };
	bool good = lines_learn(&lines, names) && vec_grow(&fold->keys, lines.at.count);

	for (u32 i = 0; good && i < lines.at.count; i++)
		vec_push(&fold->keys,
			 (struct fold_key){ lines.at.at[i].location, lines.at.at[i].site });
	for (u32 i = 1; good && i < names->stacks.count; i++)
		key_of[i] = lines.of_stack.at[i];
	lines_free(&lines);
	return good;
}

/* The key of each stack's innermost frame. */
static bool make_keys(struct fold *fold, const struct names *names, enum fold_by by, u32 *key_of)
{
	if (by == FOLD_LINES)
		return lines_of(fold, names, key_of);
	u32 items = by == FOLD_FUNCTIONS ? names->functions.count : names->strings.count;
	for (u32 i = 0; i < items; i++)
		if (!vec_push(&fold->keys, (struct fold_key){ .item = i }))
			return false;
	for (u32 i = 1; i < names->stacks.count; i++) {
		u32 function = names->locations.at[names->stacks.at[i].location].function;
		key_of[i] = by == FOLD_FUNCTIONS ? function :
						   names->functions.at[function].language;
	}
	return true;
}

/* ---- tree and sums ------------------------------------------------------------------------ */

/* A language is one frame however many of its frames follow each other. */
static u32 merged_stack(struct fold *fold, u32 outer, u32 key, enum fold_by by)
{
	if (by == FOLD_LANGUAGES && outer && fold->tree.stacks.at[outer].location == key)
		return outer;
	return names_stack(&fold->tree, outer, key);
}

/* An outer stack's number is below its own, in the profile and in the tree. */
static bool grow_tree(struct fold *fold, const struct names *names, enum fold_by by,
		      const u32 *key_of, u32 *merged)
{
	merged[0] = 0;
	for (u32 i = 1; i < names->stacks.count; i++) {
		const struct name_stack *stack = &names->stacks.at[i];
		merged[i] = merged_stack(fold, merged[stack->outer], key_of[i], by);
	}
	return !fold->tree.bad;
}

static void weigh(struct fold *fold, const struct profile *profile, const u32 *merged,
		  const bool *threads)
{
	for (u32 i = 0; i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		if (threads && !threads[entry->thread])
			continue;
		struct fold_value *node = &fold->node[merged[entry->stack]];
		node->self += fold->by_samples ? entry->count : entry->weight;
		node->self_samples += entry->count;
	}
	for (u32 i = fold->tree.stacks.count; i-- > 0;) {
		struct fold_value *node = &fold->node[i], *outer;
		node->total += node->self;
		node->total_samples += node->self_samples;
		if (!i)
			break;
		outer = &fold->node[fold->tree.stacks.at[i].outer];
		outer->total += node->total;
		outer->total_samples += node->total_samples;
	}
}

/* `active`: how often a key is on the path to this node. */
static void add_rows(struct fold *fold, const struct preorder *order, u32 *active, u32 *path)
{
	u32 depth = 0;

	for (u32 n = 0; n < order->count; n++) {
		const struct name_stack *stack = &fold->tree.stacks.at[order->stack_of[n]];
		const struct fold_value *node = &fold->node[order->stack_of[n]];
		struct fold_value *row = &fold->row[stack->location];
		while (depth >= stack->depth)
			active[path[depth--]]--;
		depth = stack->depth;
		path[depth] = stack->location;
		row->self += node->self;
		row->self_samples += node->self_samples;
		if (!active[stack->location]++) {
			row->total += node->total;
			row->total_samples += node->total_samples;
		}
	}
}

static bool make_rows(struct fold *fold)
{
	struct preorder order;
	u32 deepest = 0;

	for (u32 i = 0; i < fold->tree.stacks.count; i++)
		if (fold->tree.stacks.at[i].depth > deepest)
			deepest = fold->tree.stacks.at[i].depth;
	AUTO_FREE u32 *active = calloc(fold->keys.count + 1, sizeof *active);
	AUTO_FREE u32 *path = calloc((size_t)deepest + 1, sizeof *path);
	if (!active || !path || !preorder_make(&order, &fold->tree))
		return false;
	add_rows(fold, &order, active, path);
	preorder_free(&order);
	return true;
}

bool fold_make(struct fold *fold, const struct profile *profile, enum fold_by by,
	       const bool *threads)
{
	const struct names *names = &profile->names;
	AUTO_FREE u32 *key_of = calloc(names->stacks.count + 1, sizeof *key_of);
	AUTO_FREE u32 *merged = calloc(names->stacks.count + 1, sizeof *merged);

	*fold = (struct fold){ .by_samples = profile_total_weight(profile) == 0 };
	bool good = key_of && merged && names_init(&fold->tree) &&
		    make_keys(fold, names, by, key_of) &&
		    grow_tree(fold, names, by, key_of, merged);
	if (good) {
		fold->node = calloc(fold->tree.stacks.count, sizeof *fold->node);
		fold->row = calloc(fold->keys.count + 1, sizeof *fold->row);
		good = fold->node && fold->row;
	}
	if (good) {
		weigh(fold, profile, merged, threads);
		good = make_rows(fold);
	}
	if (!good)
		fold_free(fold);
	return good;
}

void fold_free(struct fold *fold)
{
	names_free(&fold->tree);
	vec_free(&fold->keys);
	free(fold->node);
	free(fold->row);
	*fold = (struct fold){ 0 };
}

const char *fold_unit(const struct profile *profile)
{
	bool has_events = !strcmp(profile->mode, "event");

	if (profile_total_weight(profile) == 0)
		return has_events ? "hits" : "samples";
	static const struct {
		const char *mode, *unit;
	} units[] = { { "cpu", "CPU time" },
		      { "gvl", "time with the VM's lock" },
		      { "exception", "time with an exception" },
		      { "event", "time in system calls" },
		      { "offcpu", "time off the CPU" } };

	for (u32 i = 0; i < COUNT_OF(units); i++)
		if (!strcmp(profile->mode, units[i].mode))
			return units[i].unit;
	return "time";
}
