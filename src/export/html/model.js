/* SPDX-License-Identifier: Apache-2.0
 * model.js - what is shown: a choice of threads and of a measure, as a tree and as tables.
 *
 * A choice is the denominator: its total is the 100 % of every number on the page.
 * Recursion counts once: a function's total is the time in which it was on the stack at all.
 * No loop here recurses: a stack may be 10,000 frames deep. */

/* Self and total of every node, for some threads and one measure ("samples" or "weight"). */
function chooseNodes(profile, threads, measure) {
	const { nodes, entries } = profile;
	const self = new Float64Array(nodes.count), values = entries[measure];
	for (const t of threads)
		for (let i = entries.first[t]; i < entries.first[t + 1]; i++)
			self[entries.node[i]] += values[i];
	const total = self.slice();
	for (let i = nodes.count - 1; i > 0; i--) total[nodes.parent[i]] += total[i];
	return { self, total };
}

/* An open-addressing index from (parent, key) to a node of the merged tree. */
class PairIndex {
	constructor(most) {
		let size = 16;
		while (size < most * 2) size *= 2;
		this.slots = new Int32Array(size).fill(-1);
		this.mask = size - 1;
	}

	/* Where the pair is, or where it belongs. */
	slot(parents, keys, parent, key) {
		let i = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(key, 0x85ebca6b)) >>> 0;
		for (i = (i ^ (i >>> 15)) & this.mask; ; i = (i + 1) & this.mask) {
			const node = this.slots[i];
			if (node < 0 || (parents[node] === parent && keys[node] === key)) return i;
		}
	}
}

/* Nodes of the same key under the same parent become one; those without time are left out.
 * keyOf: by location, what makes two frames the same.  Parents come before their children. */
function mergeNodes(profile, chosen, keyOf) {
	const { nodes } = profile, { self, total } = chosen;
	const merged = new Int32Array(nodes.count);
	const parent = new Int32Array(nodes.count), key = new Int32Array(nodes.count);
	const mergedSelf = new Float64Array(nodes.count), mergedTotal = new Float64Array(nodes.count);
	const index = new PairIndex(nodes.count);
	let count = 1;
	parent[0] = key[0] = -1;
	mergedSelf[0] = self[0];
	mergedTotal[0] = total[0];
	for (let i = 1; i < nodes.count; i++) {
		if (!total[i]) continue;
		const p = merged[nodes.parent[i]], k = keyOf[nodes.location[i]];
		const slot = index.slot(parent, key, p, k);
		let node = index.slots[slot];
		if (node < 0) {
			node = index.slots[slot] = count++;
			parent[node] = p;
			key[node] = k;
		}
		merged[i] = node;
		mergedSelf[node] += self[i];
		mergedTotal[node] += total[i];
	}
	return { count, parent, key, self: mergedSelf, total: mergedTotal };
}

/* The children of each node, the heaviest first: list[first[n]] .. list[first[n + 1]]. */
function sortedChildren(tree) {
	const { count, parent, key, total } = tree;
	const first = new Uint32Array(count + 2), list = new Uint32Array(count);
	for (let i = 1; i < count; i++) first[parent[i] + 2]++;
	for (let i = 2; i < count + 2; i++) first[i] += first[i - 1];
	for (let i = 1; i < count; i++) list[first[parent[i] + 1]++] = i;
	const heavier = (a, b) => total[b] - total[a] || key[a] - key[b];
	for (let n = 0; n < count; n++)
		if (first[n + 1] - first[n] > 1) list.subarray(first[n], first[n + 1]).sort(heavier);
	return { first, list };
}

/* The tree in preorder with places: node n spans start[n] .. start[n] + total[n] in its row,
 * children from the left, self time at the right end.  row d is rows[rowFirst[d]] .. */
function layTree(tree) {
	const { first, list } = sortedChildren(tree), count = tree.count;
	const laid = {
		count,
		parent: new Int32Array(count), key: new Int32Array(count), depth: new Uint32Array(count),
		end: new Uint32Array(count),
		self: new Float64Array(count), total: new Float64Array(count), start: new Float64Array(count),
	};
	const place = new Int32Array(count); /* by old number: the new one */
	const cursor = first.slice();        /* the next child of each old node */
	let placed = 0, depth = 0, old = 0;
	const enter = (node, parent, start) => {
		const n = placed++;
		place[node] = n;
		laid.parent[n] = parent;
		laid.key[n] = tree.key[node];
		laid.depth[n] = depth;
		laid.self[n] = tree.self[node];
		laid.total[n] = tree.total[node];
		laid.start[n] = start;
	};
	const next = new Float64Array(count); /* by new number: where its next child starts */
	enter(0, -1, 0);
	while (old >= 0) {
		const n = place[old];
		if (cursor[old] < first[old + 1]) {
			const child = list[cursor[old]++], start = laid.start[n] + next[n];
			next[n] += tree.total[child];
			depth++;
			enter(child, n, start);
			old = child;
		} else {
			laid.end[n] = placed;
			depth--;
			old = tree.parent[old];
		}
	}
	return { ...laid, ...rowsOf(laid) };
}

function rowsOf({ count, depth }) {
	let deepest = 0;
	for (let i = 0; i < count; i++) deepest = Math.max(deepest, depth[i]);
	const rowFirst = new Uint32Array(deepest + 2), rows = new Uint32Array(count);
	for (let i = 0; i < count; i++) rowFirst[depth[i] + 1]++;
	for (let d = 1; d < rowFirst.length; d++) rowFirst[d] += rowFirst[d - 1];
	const fill = rowFirst.slice();
	for (let i = 0; i < count; i++) rows[fill[depth[i]]++] = i;
	return { rowCount: deepest + 1, rowFirst, rows };
}

/* Self and total by key, recursion counted once; keyOf as in mergeNodes(). */
function sumByKey(profile, chosen, keyOf, keyCount) {
	const { nodes } = profile, { self, total } = chosen;
	const selfOf = new Float64Array(keyCount), totalOf = new Float64Array(keyCount);
	const open = new Uint32Array(keyCount); /* how often the key is on the path to here */
	const path = [];
	for (let i = 1; i < nodes.count;) {
		while (path.length && nodes.end[path[path.length - 1]] <= i)
			open[keyOf[nodes.location[path.pop()]]]--;
		if (!total[i]) {
			i = nodes.end[i];
			continue;
		}
		const key = keyOf[nodes.location[i]];
		selfOf[key] += self[i];
		if (!open[key]++) totalOf[key] += total[i];
		path.push(i);
		i++;
	}
	return { self: selfOf, total: totalOf };
}

/* Which keys match, how many of them are in the tree, and the time in which any of them was on
 * the stack: outermost matches are disjoint, so nothing is counted twice. */
function findMatches(tree, matches) {
	const seen = new Set(), found = [];
	let total = 0, covered = 0;
	for (let i = 1; i < tree.count; i++) {
		if (!matches[tree.key[i]]) continue;
		seen.add(tree.key[i]);
		found.push(i);
		if (i < covered) continue;
		total += tree.total[i];
		covered = tree.end[i];
	}
	found.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
	return { seen, found, total };
}
