/* SPDX-License-Identifier: Apache-2.0
 * top_tree.c - see top_tree.h.
 *
 * Two tries that grow from the function, one towards the roots and one towards the leaves. */
#include "cli/top_tree.h"

enum { LINES_MOST = 400, INDENT_MOST = 24, STRAIGHT_MOST = 3 };

struct trie {
	struct names paths; /* stacks alone; a stack's location is a key */
	VEC(struct top_amount) node;
	u32 *child, *sibling; /* by stack; 0: none. Heaviest first */
	bool by_samples;
	u64 least;
};

struct growing {
	const struct top_sums *sums;
	enum top_view view;
	u32 key;
	struct trie out, in;
	VEC(u32) path; /* keys of a stack, the leaf first */
	bool bad;
};

static struct top_amount *amount_of(struct growing *growing, struct trie *trie, u32 node)
{
	if (vec_reach(&trie->node, node))
		return &trie->node.at[node];
	growing->bad = true;
	return NULL;
}

static void count_at(struct growing *growing, struct trie *trie, u32 node,
		     const struct top_growth *grown)
{
	struct top_amount *amount = amount_of(growing, trie, node);

	if (!amount)
		return;
	amount->self += grown->weight;
	amount->self_samples += grown->count;
}

static void add_stack(void *arg, const struct top_growth *grown)
{
	struct growing *growing = arg;
	const struct profile *profile = growing->sums->profile;
	const struct names *names = &profile->names;
	u32 here = PROFILE_NONE, node = 0;

	vec_clear(&growing->path);
	for (u32 at = profile->entries.at[grown->entry].stack; at;
	     at = names->stacks.at[at].outer) {
		u32 key = top_sums_key(growing->sums, growing->view, at);
		if (key == growing->key)
			here = growing->path.count;
		growing->bad |= !vec_push(&growing->path, key);
	}
	if (here == PROFILE_NONE || growing->bad)
		return;
	for (u32 i = here; i-- > 0;)
		node = names_stack(&growing->in.paths, node, growing->path.at[i]);
	count_at(growing, &growing->in, node, grown);
	node = 0;
	for (u32 i = here + 1; i < growing->path.count; i++)
		node = names_stack(&growing->out.paths, node, growing->path.at[i]);
	count_at(growing, &growing->out, node, grown);
}

static int heavier(const void *a, const void *b, void *arg)
{
	const struct trie *trie = arg;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;
	const struct top_amount *left = &trie->node.at[x], *right = &trie->node.at[y];
	u64 p = trie->by_samples ? left->total_samples : left->total;
	u64 q = trie->by_samples ? right->total_samples : right->total;

	if (p != q)
		return p > q ? -1 : 1;
	return x < y ? -1 : 1;
}

/* Totals, then the lists of children, linked from the lightest on. */
static bool finish_trie(struct growing *growing, struct trie *trie)
{
	u32 count = trie->paths.stacks.count;
	u32 *sorted = calloc(count, sizeof *sorted);

	trie->child = calloc(count, sizeof *trie->child);
	trie->sibling = calloc(count, sizeof *trie->sibling);
	if (!sorted || !trie->child || !trie->sibling || !amount_of(growing, trie, count - 1)) {
		free(sorted);
		return false;
	}
	for (u32 i = count; i-- > 0;) {
		struct top_amount *node = &trie->node.at[i];
		node->total += node->self;
		node->total_samples += node->self_samples;
		sorted[i] = i;
		if (!i)
			break;
		struct top_amount *outer = &trie->node.at[trie->paths.stacks.at[i].outer];
		outer->total += node->total;
		outer->total_samples += node->total_samples;
	}
	qsort_r(sorted + 1, count - 1, sizeof *sorted, heavier, trie);
	for (u32 i = count; i-- > 1;) {
		u32 outer = trie->paths.stacks.at[sorted[i]].outer;
		trie->sibling[sorted[i]] = trie->child[outer];
		trie->child[outer] = sorted[i];
	}
	free(sorted);
	return true;
}

static bool is_shown(const struct trie *trie, u32 node)
{
	const struct top_amount *amount = &trie->node.at[node];
	u64 part = trie->by_samples ? amount->total_samples : amount->total;

	return node && part && part >= trie->least;
}

/* The frames from this one to the root, if no other way joins theirs; else 0. */
static u32 straight(const struct trie *trie, u32 node)
{
	u32 frames = 1;

	for (u32 inner; is_shown(trie, inner = trie->child[node]); node = inner, frames++)
		if (is_shown(trie, trie->sibling[inner]))
			return 0;
	return frames;
}

/* A branch that is listed when what hangs on the one before it is. */
struct waiting {
	u32 node, indent;
};

/* Depth first. */
static bool list(struct top_tree *tree, const struct trie *trie, bool callers)
{
	u32 indent = 0, node = trie->child[0], run = 0;
	bool good = true, may_cut = callers && !straight(trie, 0);
	VEC(struct waiting) waiting = { 0 };

	while (good) {
		while (!is_shown(trie, node) && waiting.count) {
			waiting.count--;
			node = waiting.at[waiting.count].node;
			indent = waiting.at[waiting.count].indent;
			run = 0;
		}
		u32 drawn = callers ? tree->callers.count : tree->callees.count;
		if (!is_shown(trie, node) || drawn == LINES_MOST)
			break;
		u32 cut = may_cut && run >= STRAIGHT_MOST ? straight(trie, node) : 0;
		struct top_branch branch = { trie->paths.stacks.at[node].location, indent,
					     trie->node.at[node], cut > 1 ? cut : 0 };
		good = callers ? vec_push(&tree->callers, branch) :
				 vec_push(&tree->callees, branch);
		if (cut > 1) {
			node = 0;
			continue;
		}
		u32 next = trie->sibling[node], inner = trie->child[node];
		run = is_shown(trie, next) ? 1 : run + 1;
		if (is_shown(trie, next))
			good &= vec_push(&waiting, (struct waiting){ next, indent });
		bool several = is_shown(trie, inner) && is_shown(trie, trie->sibling[inner]);
		/* also under a node with siblings: it would look like one of them */
		if ((several || is_shown(trie, next)) && indent < INDENT_MOST)
			indent++;
		node = inner;
	}
	vec_free(&waiting);
	return good;
}

static void trie_free(struct trie *trie)
{
	names_free(&trie->paths);
	vec_free(&trie->node);
	free(trie->child);
	free(trie->sibling);
}

void top_tree_make(struct top_tree *tree, const struct top_sums *sums, enum top_view view,
		   enum top_span span, u32 key, bool by_samples, double least)
{
	const struct top_amount *whole = &sums->whole[span];
	u64 all = by_samples ? whole->total_samples : whole->total;
	struct growing growing = { .sums = sums, .view = view, .key = key };

	growing.out.by_samples = growing.in.by_samples = by_samples;
	growing.out.least = growing.in.least = (u64)(least * (double)all);
	vec_clear(&tree->callers);
	vec_clear(&tree->callees);
	bool good = names_init(&growing.out.paths) && names_init(&growing.in.paths);
	if (good)
		top_sums_each(sums, span, add_stack, &growing);
	good = good && finish_trie(&growing, &growing.out) && finish_trie(&growing, &growing.in) &&
	       !growing.bad && list(tree, &growing.out, true) && list(tree, &growing.in, false);
	tree->bad = !good;
	if (good)
		tree->had = growing.in.node.at[0];
	trie_free(&growing.out);
	trie_free(&growing.in);
	vec_free(&growing.path);
}

void top_tree_free(struct top_tree *tree)
{
	vec_free(&tree->callers);
	vec_free(&tree->callees);
}
