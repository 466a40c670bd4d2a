/* SPDX-License-Identifier: Apache-2.0
 * labels.js - what frames are called, and what a search finds.
 *
 * A label: {name: of the function, where: its place in full, place: short, for a frame, path, line,
 * image: the file of native code, tone: its colour}. */

function baseName(path) {
	return path.slice(path.lastIndexOf('/') + 1);
}

/* A keying says what makes two frames the same: keyOf by location, labels by key. */
function makeLabels() {
	const { functions, locations, texts } = profile, byFunction = [], byLine = [];
	const tones = new Map(); /* by file and kind: functions outnumber files */
	profile.tones = new Tones();
	const toneOf = (kind, file, name) => {
		const known = `${kind.id}\n${file || (kind.isMixed ? name : '')}`;
		if (!tones.has(known)) tones.set(known, profile.tones.of(kind, packageOf(file, kind, name)));
		return tones.get(known);
	};
	for (let f = 0; f < functions.count; f++) {
		const path = texts[functions.path[f]], image = texts[functions.image[f]], line = functions.line[f];
		const language = texts[functions.language[f]], name = texts[functions.name[f]];
		const kind = kindOf(language, functions.flags[f], isMark(language, path, name));
		const isInlined = kind.id === 'native' && Boolean(functions.flags[f] & FRAME_INLINED);
		byFunction.push({
			name: (name || '(unnamed)') + (isInlined ? ' [inlined]' : ''),
			where: path && line ? `${path}:${line}` : path || image,
			place: baseName(path || image), path, line, image, isInlined,
			tone: toneOf(kind, kind.id === 'native' ? image : path, name),
			function: f,
		});
	}
	for (let l = 0; l < locations.count; l++) {
		const label = byFunction[locations.function[l]], line = locations.line[l];
		const { path, image, place } = label, colon = line && path ? `:${line}` : '';
		byLine.push({ ...label, where: (path || image) + colon, place: place + colon, line });
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
	return { name: 'all', place: '', where: '', path: '', tone: profile.tones.of(kindOf('', 0, true), '') };
}

/* In words; a mark says what it means. */
function kindText({ tone: { kind, name: owner }, name, isInlined }) {
	if (kind.grey) return Object.hasOwn(MARKS, name) ? MARKS[name] : '';
	const words = owner ? `${kind.label}, ${owner}` : kind.label;
	return isInlined ? `${words}: inlined into its caller's code` : words;
}

/* By key: does the name, the place or the package hold what is searched for?  NULL: nothing is. */
function matchesOf(labels) {
	const wanted = state.query.toLowerCase();
	if (!wanted) return null;
	return Uint8Array.from(labels, (label) => {
		label.words ??= [label.name, label.where, label.image, label.tone.name].join('\n').toLowerCase();
		return label.words.includes(wanted) ? 1 : 0;
	});
}

/* ---- folded stacks ---- */

/* A frame as `sonde export -f folded` has it; the label is a line's. */
function foldedLabel({ name, where, isInlined, tone: { kind } }) {
	const place = kind.grey || kind.isC ? '' :
		kind.id !== 'native' && kind.id !== 'kernel' ? where && ` (${where})` :
		isInlined ? '' : ` [${kind.id}]`;
	return (name + place).replaceAll(';', '\\x3b');
}

/* By node of the file, its stack as `sonde export -f folded` has it. A control character, of which names
 * have none, stands between two frames: then a sort of the texts is one by frames. */
function foldedStacks({ nodes, keyings }, hidden) {
	const words = keyings.line.labels.map(foldedLabel), text = [''];
	for (let n = 1; n < nodes.count; n++) {
		const outer = text[nodes.parent[n]], place = nodes.location[n];
		text.push(hidden && hidden[place] ? outer : outer ? `${outer}\x01${words[place]}` : words[place]);
	}
	return text;
}

/* What the entries of the threads have, stack by stack; isIn(node): is it asked for?  One line for those
 * that read the same. */
function foldedText(profile, { threads, values, hidden, isIn }) {
	const stacks = foldedStacks(profile, hidden), { entries, texts } = profile, sums = new Map();
	const { processes, process, processName, pid } = profile.threads;
	for (const t of threads) {
		const p = process[t], root = processes > 1 ?
			`process ${texts[processName[p]].replaceAll(';', '\\x3b')} (${pid[p]})\x01` : '';
		for (let e = entries.first[t]; e < entries.first[t + 1]; e++) {
			if (!values[e] || !isIn(entries.node[e])) continue;
			const stack = root + (stacks[entries.node[e]] || '[unreadable]');
			sums.set(stack, (sums.get(stack) || 0) + values[e]);
		}
	}
	const lines = [...sums].map(([stack, sum]) => [stack, Math.round(sum)]).filter(([, sum]) => sum);
	lines.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
	return linesText(lines.map(([stack, sum]) => `${stack.replaceAll('\x01', ';')} ${sum}\n`));
}

function linesText(lines) {
	return { text: lines.join(''), count: lines.length };
}

/* Of two profiles, as `sonde diff -f folded` has it: the tree under a node with its outer frames, a line for
 * each stack that has something of its own: amountOf(node), "" when it has not. */
function foldedChanges({ parent, end, key }, labels, top, amountOf) {
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
	return linesText(lines);
}
