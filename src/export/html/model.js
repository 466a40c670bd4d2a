/* SPDX-License-Identifier: Apache-2.0
 * model.js - what is shown: a choice of threads, time and measure, as a tree and as tables.
 *
 * A choice is the denominator: its total is the 100 % of every number on the page.
 * Recursion counts once: a function's total is the time in which it was on the stack at all.
 * No loop here recurses: a stack may be 10,000 frames deep. */

/* By entry: its samples in slots from .. to - 1. */
function samplesOfSpan(moments, [from, to]) {
	const { first, slot, samples } = moments, within = new Float64Array(first.length - 1);
	for (let e = 0, i = 0; e < within.length; e++)
		for (; i < first[e + 1]; i++) if (slot[i] >= from && slot[i] < to) within[e] += samples[i];
	return within;
}

/* By entry: what it measures, in the span if there is one. An entry's weight is shared evenly by
 * its samples: which of them weighed more is not in the file. */
function entryValues({ entries, moments }, measure, span) {
	if (!span || !moments) return entries[measure];
	const values = samplesOfSpan(moments, span);
	if (measure === 'weight')
		for (let e = 0; e < values.length; e++)
			if (values[e]) values[e] *= entries.weight[e] / entries.samples[e];
	return values;
}

/* Self and total of every node.  What is hidden (by location, or NULL) is not a frame: its self time
 * is its caller's. */
function chooseNodes(profile, threads, values, hidden) {
	const { nodes, entries } = profile, self = new Float64Array(nodes.count);
	for (const t of threads)
		for (let i = entries.first[t]; i < entries.first[t + 1]; i++) self[entries.node[i]] += values[i];
	const total = self.slice();
	for (let i = nodes.count - 1; i > 0; i--) {
		total[nodes.parent[i]] += total[i];
		if (!hidden || !hidden[nodes.location[i]]) continue;
		self[nodes.parent[i]] += self[i];
		self[i] = 0;
	}
	return { self, total, hidden };
}

/* The children of each node, the heaviest first: list[first[n]] .. list[first[n + 1]]. */
function sortedChildren({ count, parent, key, total }) {
	const first = new Uint32Array(count + 2), list = new Uint32Array(count);
	for (let i = 1; i < count; i++) first[parent[i] + 2]++;
	for (let i = 2; i < count + 2; i++) first[i] += first[i - 1];
	for (let i = 1; i < count; i++) list[first[parent[i] + 1]++] = i;
	const heavier = (a, b) => total[b] - total[a] || key[a] - key[b];
	for (let n = 0; n < count; n++) {
		const from = first[n], children = first[n + 1] - from;
		if (children > 2) {
			list.subarray(from, from + children).sort(heavier);
		} else if (children === 2 && heavier(list[from], list[from + 1]) > 0) {
			const lighter = list[from];
			list[from] = list[from + 1];
			list[from + 1] = lighter;
		}
	}
	return { first, list };
}

/* The tree in preorder with places: node n spans start[n] .. start[n] + total[n] in its row,
 * children from the left, self time at the right end.  row d is rows[rowFirst[d]] .. ; place says by
 * old number what the new one is.  Parents come before their children: no stack is needed. */
function layTree({ count, parent, key, self, total, merged }) {
	const { first, list } = sortedChildren({ count, parent, key, total });
	const size = new Uint32Array(count).fill(1), place = new Int32Array(count);
	for (let i = count - 1; i > 0; i--) size[parent[i]] += size[i];
	const laid = {
		count,
		parent: new Int32Array(count), key: new Int32Array(count), depth: new Uint32Array(count),
		end: new Uint32Array(count),
		self: new Float64Array(count), total: new Float64Array(count), start: new Float64Array(count),
	};
	laid.parent[0] = -1;
	for (let old = 0; old < count; old++) {
		const n = place[old];
		let next = n + 1, start = laid.start[n];
		laid.key[n] = key[old];
		laid.self[n] = self[old];
		laid.total[n] = total[old];
		laid.end[n] = n + size[old];
		for (let i = first[old]; i < first[old + 1]; i++) {
			const child = list[i];
			place[child] = next;
			laid.parent[next] = n;
			laid.depth[next] = laid.depth[n] + 1;
			laid.start[next] = start;
			next += size[child];
			start += total[child];
		}
	}
	return { ...laid, ...rowsOf(laid), place, merged };
}

function rowsOf({ count, depth }) {
	let deepest = 0;
	for (let i = 0; i < count; i++) if (depth[i] > deepest) deepest = depth[i];
	const rowFirst = new Uint32Array(deepest + 2), rows = new Uint32Array(count);
	for (let i = 0; i < count; i++) rowFirst[depth[i] + 1]++;
	for (let d = 1; d < rowFirst.length; d++) rowFirst[d] += rowFirst[d - 1];
	const fill = rowFirst.slice();
	for (let i = 0; i < count; i++) rows[fill[depth[i]]++] = i;
	return { rowCount: deepest + 1, rowFirst, rows };
}

/* Self and total by key, recursion counted once; keyOf as in mergeNodes(). */
function sumByKey(profile, chosen, keyOf, keyCount) {
	const { nodes } = profile, { self, total, hidden } = chosen;
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
		if (!hidden || !hidden[nodes.location[i]]) {
			const key = keyOf[nodes.location[i]];
			selfOf[key] += self[i];
			if (!open[key]++) totalOf[key] += total[i];
			path.push(i);
		}
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
	return { seen, found, total };
}
