/* SPDX-License-Identifier: Apache-2.0
 * trees.js - frames that are the same become one: from the root, above a function, below it.
 *
 * Two frames are the same when their keys are and their parents are; keyOf gives the key of a
 * location.  Parents come before their children in all of these. */

/* A tree that is made child by child. */
class Tree {
	constructor(room, rootKey) {
		this.count = 1;
		this.parent = new Int32Array(room).fill(-1, 0, 1);
		this.key = new Int32Array(room).fill(rootKey, 0, 1);
		this.self = new Float64Array(room);
		this.total = new Float64Array(room);
		this.index(2 * room);
	}

	index(least) {
		let size = 16;
		while (size < least) size *= 2;
		this.slots = new Int32Array(size); /* node + 1; 0: none */
		this.mask = size - 1;
		for (let n = 1; n < this.count; n++) this.slots[this.slotOf(this.parent[n], this.key[n])] = n + 1;
	}

	/* Open addressing: where the pair is, or where it belongs. */
	slotOf(parent, key) {
		let i = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(key, 0x85ebca6b)) >>> 0;
		for (i = (i ^ (i >>> 15)) & this.mask; ; i = (i + 1) & this.mask) {
			const node = this.slots[i] - 1;
			if (node < 0 || (this.parent[node] === parent && this.key[node] === key)) return i;
		}
	}

	grow() {
		for (const name of ['parent', 'key', 'self', 'total']) {
			const old = this[name];
			this[name] = new old.constructor(2 * old.length);
			this[name].set(old);
		}
		this.index(4 * this.count);
	}

	child(parent, key) {
		if (this.count === this.parent.length) this.grow();
		const slot = this.slotOf(parent, key);
		if (this.slots[slot]) return this.slots[slot] - 1;
		this.parent[this.count] = parent;
		this.key[this.count] = key;
		this.slots[slot] = this.count + 1;
		return this.count++;
	}
}

/* Adds the subtree of node `top`, which is the tree's root already; merged says where each went. */
function addSubtree(tree, profile, chosen, keyOf, top, merged) {
	const { nodes } = profile, { self, total, hidden } = chosen;
	merged[top] = 0;
	tree.self[0] += self[top];
	tree.total[0] += total[top];
	for (let i = top + 1; i < nodes.end[top];) {
		if (!total[i]) {
			i = nodes.end[i];
			continue;
		}
		let node = merged[nodes.parent[i]];
		if (!hidden || !hidden[nodes.location[i]]) {
			node = tree.child(node, keyOf[nodes.location[i]]);
			tree.self[node] += self[i];
			tree.total[node] += total[i];
		}
		merged[i++] = node;
	}
}

/* Everything, from the root. merged: by node of the profile; -1: without time. */
function mergeNodes(profile, chosen, keyOf) {
	const tree = new Tree(profile.nodes.count, -1);
	tree.merged = new Int32Array(profile.nodes.count).fill(-1);
	addSubtree(tree, profile, chosen, keyOf, 0, tree.merged);
	return tree;
}

/* The outermost frames of a key: disjoint subtrees, so that recursion counts once. */
function outermost({ nodes }, { total, hidden }, keyOf, key) {
	const found = [];
	for (let i = 1; i < nodes.count;) {
		const isIt = keyOf[nodes.location[i]] === key && (!hidden || !hidden[nodes.location[i]]);
		if (isIt && total[i]) found.push(i);
		i = isIt || !total[i] ? nodes.end[i] : i + 1;
	}
	return found;
}

/* What the function calls. */
function mergeCallees(profile, chosen, keyOf, key) {
	const tree = new Tree(1024, key), merged = new Int32Array(profile.nodes.count);
	for (const top of outermost(profile, chosen, keyOf, key))
		addSubtree(tree, profile, chosen, keyOf, top, merged);
	return tree;
}

/* Who calls it: its callers are the children. Self is what begins there. */
function mergeCallers(profile, chosen, keyOf, key) {
	const tree = new Tree(1024, key), { nodes } = profile, { total, hidden } = chosen;
	for (const from of outermost(profile, chosen, keyOf, key)) {
		let node = 0;
		tree.total[0] += total[from];
		for (let i = nodes.parent[from]; i > 0; i = nodes.parent[i]) {
			if (hidden && hidden[nodes.location[i]]) continue;
			node = tree.child(node, keyOf[nodes.location[i]]);
			tree.total[node] += total[from];
		}
		tree.self[node] += total[from];
	}
	return tree;
}
