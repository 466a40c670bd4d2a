/* SPDX-License-Identifier: Apache-2.0
 * preorder.c - see preorder.h. */
#include "profile/preorder.h"

#include "base/cleanup.h"

/* Children are found by two links for each stack. */
static void walk(struct preorder *order, const struct name_stack *stacks, const u32 *child,
		 const u32 *sibling)
{
	for (u32 s = child[0]; s;) {
		order->stack_of[order->count++] = s;
		order->node_of[s] = order->count;
		if (child[s]) {
			s = child[s];
			continue;
		}
		while (s && !sibling[s])
			s = stacks[s].outer;
		s = sibling[s];
	}
}

bool preorder_make(struct preorder *order, const struct names *names)
{
	const struct name_stack *stacks = names->stacks.at;
	u32 count = names->stacks.count;
	AUTO_FREE u32 *child = calloc(count + 1, sizeof *child);
	AUTO_FREE u32 *sibling = calloc(count + 1, sizeof *sibling);

	*order = (struct preorder){ .stack_of = calloc(count + 1, sizeof *order->stack_of),
				    .node_of = calloc(count + 1, sizeof *order->node_of) };
	if (!child || !sibling || !order->stack_of || !order->node_of) {
		preorder_free(order);
		return false;
	}
	for (u32 i = count; i-- > 1;) {
		sibling[i] = child[stacks[i].outer];
		child[stacks[i].outer] = i;
	}
	walk(order, stacks, child, sibling);
	return true;
}

void preorder_free(struct preorder *order)
{
	free(order->stack_of);
	free(order->node_of);
	*order = (struct preorder){ 0 };
}
