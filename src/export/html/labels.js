/* SPDX-License-Identifier: Apache-2.0
 * labels.js - what frames are called, and what a search finds.
 *
 * A label: {name: of the function, where: its place in full, place: short, for a frame, path, line,
 * tone: its colour}. */

function baseName(path) {
	return path.slice(path.lastIndexOf('/') + 1);
}

/* A keying says what makes two frames the same: keyOf by location, labels by key. */
function makeLabels() {
	const { functions, locations, texts } = profile, byFunction = [], byLine = [];
	const tones = new Map(); /* by path and kind: functions outnumber files */
	profile.tones = new Tones();
	const toneOf = (kind, number, path) => {
		const known = `${number} ${kind.id}`;
		if (!tones.has(known)) tones.set(known, profile.tones.of(kind, packageOf(path, kind)));
		return tones.get(known);
	};
	for (let f = 0; f < functions.count; f++) {
		const path = texts[functions.path[f]], line = functions.line[f];
		const kind = kindOf(texts[functions.language[f]], functions.flags[f]);
		byFunction.push({
			name: texts[functions.name[f]] || '(unnamed)',
			where: path && line ? `${path}:${line}` : path,
			place: baseName(path), path, line,
			tone: toneOf(kind, functions.path[f], path),
			function: f,
		});
	}
	for (let l = 0; l < locations.count; l++) {
		const label = byFunction[locations.function[l]], line = locations.line[l];
		const { name, path, tone, place } = label, colon = line && path ? `:${line}` : '';
		byLine.push({ name, where: path + colon, place: place + colon, path, line, tone,
			function: label.function });
	}
	const everyLine = new Uint32Array(locations.count).map((_, l) => l);
	profile.labels = byFunction;
	profile.keyings = {
		function: { keyOf: locations.function, labels: byFunction },
		line: { keyOf: everyLine, labels: byLine },
	};
	profile.toneOf = Uint32Array.from(locations.function, (f) => byFunction[f].tone.number);
}

function rootLabel() {
	return { name: 'all', place: '', where: '', path: '', tone: profile.tones.of(kindOf('', 0), '') };
}

/* In words; a mark says what it means. */
function kindText({ tone: { kind, name: owner }, name }) {
	if (kind.grey) return Object.hasOwn(MARKS, name) ? MARKS[name] : '';
	return owner ? `${kind.label}, ${owner}` : kind.label;
}

/* By key: does the name, the place or the package hold what is searched for?  NULL: nothing is. */
function matchesOf(labels) {
	const wanted = state.query.toLowerCase();
	if (!wanted) return null;
	return Uint8Array.from(labels, (label) => {
		label.words ??= `${label.name}\n${label.where}\n${label.tone.name}`.toLowerCase();
		return label.words.includes(wanted) ? 1 : 0;
	});
}

/* A line of folded stacks as `sonde export -f folded` has it, but for the root. */
function foldedLabel({ name, where, tone: { kind } }) {
	const place = kind.grey ? '' : kind.id.endsWith('-c') ? ' [c]' :
		kind.id === 'native' || kind.id === 'kernel' ? ` [${kind.id}]` : where && ` (${where})`;
	return (name + place).replaceAll(';', '\\x3b');
}

/* The tree under a node with its outer frames: a line for each stack that has time of its own: amountOf(node),
 * "" when it has none. */
function foldedText({ parent, end, key }, labels, top, amountOf) {
	const words = new Map(), lines = [], outer = [];
	const wordOf = (k) => words.get(k) ?? words.set(k, foldedLabel(labels[k])).get(k);
	for (let n = parent[top]; n > 0; n = parent[n]) outer.unshift(wordOf(key[n]));
	const before = outer.join(';'), path = new Map([[parent[top], before]]);
	for (let n = top; n < end[top]; n++) {
		const above = path.get(parent[n]), text = n ? (above ? `${above};` : '') + wordOf(key[n]) : '';
		if (end[n] > n + 1) path.set(n, text);
		const amount = amountOf(n);
		if (amount) lines.push(`${text || '[unreadable]'} ${amount}\n`);
	}
	return { text: lines.join(''), count: lines.length };
}
