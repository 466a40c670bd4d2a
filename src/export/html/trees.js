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

/* The subtrees of `tops` as one, whose root they are.  merged: by node of the profile, where it
 * went; -1: it has no time, or is elsewhere.
 *
 * All nodes that became one stand in a list, so that all of their children are seen in one go, and
 * what a key became under this parent is a look into an array of keys: no index of pairs, whose
 * every probe would miss the cache. */
function mergeDown(profile, chosen, { keyOf, labels }, tops, rootKey) {
	const { nodes } = profile, { self, total, hidden } = chosen;
	const room = tops.reduce((sum, top) => sum + nodes.end[top] - top, 1);
	const tree = { count: 1, parent: new Int32Array(room), key: new Int32Array(room),
		self: new Float64Array(room), total: new Float64Array(room),
		merged: new Int32Array(nodes.count).fill(-1) };
	const head = new Int32Array(room), tail = new Int32Array(room).fill(-1);
	const next = new Int32Array(nodes.count); /* 0, the root, is nobody's next: the end of a list */
	const nodeOf = new Int32Array(labels.length), parentOf = new Int32Array(labels.length).fill(-1);
	const append = (node, raw) => {
		if (tail[node] >= 0) next[tail[node]] = raw;
		else head[node] = raw;
		tail[node] = raw;
		tree.merged[raw] = node;
	};
	const addTo = (node, raw) => {
		append(node, raw);
		tree.self[node] += self[raw];
		tree.total[node] += total[raw];
	};
	const addChild = (node, raw) => {
		const key = keyOf[nodes.location[raw]];
		if (parentOf[key] !== node) {
			tree.parent[tree.count] = parentOf[key] = node;
			tree.key[tree.count] = key;
			nodeOf[key] = tree.count++;
		}
		addTo(nodeOf[key], raw);
	};
	tree.parent[0] = -1;
	tree.key[0] = rootKey;
	for (const top of tops) addTo(0, top);
	for (let node = 0; node < tree.count; node++)
		for (let raw = head[node], isOne = tops.length > 0; isOne; isOne = (raw = next[raw]) > 0)
			for (let child = raw + 1; child < nodes.end[raw]; child = nodes.end[child]) {
				if (!total[child]) continue;
				/* What is hidden has its children here. */
				if (hidden && hidden[nodes.location[child]]) append(node, child);
				else addChild(node, child);
			}
	return tree;
}

/* Everything, from the root. */
function mergeNodes(profile, chosen, keying) {
	return mergeDown(profile, chosen, keying, [0], -1);
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
function mergeCallees(profile, chosen, keying, key) {
	return mergeDown(profile, chosen, keying, outermost(profile, chosen, keying.keyOf, key), key);
}

/* Adds what comes from each caller to tree[sum]; callers that are not in the tree yet join it. */
function climb(profile, chosen, { keyOf }, key, tree, sum) {
	const { nodes } = profile, { total, hidden } = chosen, ends = [];
	for (const from of outermost(profile, chosen, keyOf, key)) {
		let node = 0;
		tree[sum][0] += total[from];
		for (let i = nodes.parent[from]; i > 0; i = nodes.parent[i]) {
			if (hidden && hidden[nodes.location[i]]) continue;
			node = tree.child(node, keyOf[nodes.location[i]]);
			tree[sum][node] += total[from];
		}
		ends.push([node, total[from]]);
	}
	return ends;
}

/* Who calls it: its callers are the children. Self is what begins there. */
function mergeCallers(profile, chosen, keying, key) {
	const tree = new Tree(1024, key);
	for (const [node, value] of climb(profile, chosen, keying, key, tree, 'total')) tree.self[node] += value;
	return tree;
}
