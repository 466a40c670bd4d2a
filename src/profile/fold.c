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

/* What the entries reach and nothing else.  With the thread as the first key the way down is another one in each
 * thread, so what is known of a stack is known for a round alone. */
struct growing {
	struct fold *fold;
	const struct profile *profile;
	enum fold_by by;
	const u32 *key_of;       /* by stack */
	u32 *merged, *round_of;  /* by stack: its node, and in which round that is true */
	u32 *node_of;            /* by entry */
	u32 *first_of, *next_of; /* by thread, by entry: an entry + 1 */
	VEC(u32) path;
};

static u32 node_for(struct growing *g, u32 stack, u32 root, u32 round)
{
	const struct name_stack *stacks = g->profile->names.stacks.at;
	u32 node;

	vec_clear(&g->path);
	for (; stack && g->round_of[stack] != round; stack = stacks[stack].outer)
		if (!vec_push(&g->path, stack)) {
			g->fold->tree.bad = true;
			return root;
		}
	node = stack ? g->merged[stack] : root;
	while (g->path.count) {
		stack = g->path.at[--g->path.count];
		node = merged_stack(g->fold, node, g->key_of[stack], g->by);
		g->merged[stack] = node;
		g->round_of[stack] = round;
	}
	return node;
}

static void grow_threads(struct growing *g)
{
	const struct profile *profile = g->profile;

	for (u32 i = profile->entries.count; i-- > 0;) {
		u32 *first = &g->first_of[profile->entries.at[i].thread];
		g->next_of[i] = *first;
		*first = i + 1;
	}
	for (u32 t = 0; t < profile->threads.count; t++) {
		if (!g->first_of[t])
			continue;
		u32 root = names_stack(&g->fold->tree, 0, g->fold->first_thread + t);
		for (u32 i = g->first_of[t]; i; i = g->next_of[i - 1])
			g->node_of[i - 1] = node_for(g, profile->entries.at[i - 1].stack, root,
						     t + 1);
	}
}

static bool grow_tree(struct growing *g)
{
	const struct profile *profile = g->profile;

	if (g->first_of)
		grow_threads(g);
	for (u32 i = 0; !g->first_of && i < profile->entries.count; i++)
		g->node_of[i] = node_for(g, profile->entries.at[i].stack, 0, 1);
	vec_free(&g->path);
	return !g->fold->tree.bad;
}

static void weigh(struct fold *fold, const struct profile *profile, const u32 *node_of)
{
	for (u32 i = 0; i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		struct fold_value *node = &fold->node[node_of[i]];
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

static bool make_tree(struct fold *fold, const struct profile *profile, enum fold_by by,
		      bool by_threads)
{
	const struct names *names = &profile->names;
	u32 stacks = names->stacks.count + 1, entries = profile->entries.count + 1;
	AUTO_FREE u32 *key_of = calloc(stacks, sizeof *key_of);
	AUTO_FREE u32 *merged = calloc(stacks, sizeof *merged);
	AUTO_FREE u32 *round_of = calloc(stacks, sizeof *round_of);
	AUTO_FREE u32 *node_of = calloc(entries, sizeof *node_of);
	AUTO_FREE u32 *next_of = calloc(entries, sizeof *next_of);
	AUTO_FREE u32 *first_of = by_threads ? calloc((size_t)profile->threads.count + 1,
						      sizeof *first_of) :
					       NULL;
	struct growing growing = { .fold = fold,
				   .profile = profile,
				   .by = by,
				   .key_of = key_of,
				   .merged = merged,
				   .round_of = round_of,
				   .node_of = node_of,
				   .first_of = first_of,
				   .next_of = next_of };

	if (!key_of || !merged || !round_of || !node_of || !next_of || (by_threads && !first_of) ||
	    !make_keys(fold, names, by, key_of))
		return false;
	fold->first_thread = fold->keys.count;
	for (u32 i = 0; by_threads && i < profile->threads.count; i++)
		if (!vec_push(&fold->keys, (struct fold_key){ .item = i }))
			return false;
	if (!grow_tree(&growing))
		return false;
	fold->node = calloc(fold->tree.stacks.count, sizeof *fold->node);
	fold->row = calloc((size_t)fold->keys.count + 1, sizeof *fold->row);
	if (!fold->node || !fold->row)
		return false;
	weigh(fold, profile, node_of);
	return true;
}

bool fold_make(struct fold *fold, const struct profile *profile, enum fold_by by, bool by_threads)
{
	*fold = (struct fold){ .by_samples = profile_total_weight(profile) == 0 };
	if (names_init(&fold->tree) && make_tree(fold, profile, by, by_threads) && make_rows(fold))
		return true;
	fold_free(fold);
	return false;
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
		return has_events ? "hits" : profile->count_type ? profile->count_type : "samples";
	if (profile->weight_type)
		return profile->weight_type;
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
