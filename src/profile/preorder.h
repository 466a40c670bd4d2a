/* SPDX-License-Identifier: Apache-2.0
 * preorder.h - the stacks of a profile as a tree, each before those that it is the outer part of.
 *
 * A subtree is then a range: node n and the nodes behind it that are deeper. */
#pragma once
#include "sample/names.h"

struct preorder {
	u32 count;     /* nodes: the stacks without the empty one */
	u32 *stack_of; /* by node, from 0 */
	u32 *node_of;  /* by stack: its node + 1; of the empty stack 0 */
};

/* False when out of memory. Children are in the order of their numbers. */
bool preorder_make(struct preorder *order, const struct names *names);
void preorder_free(struct preorder *order);
