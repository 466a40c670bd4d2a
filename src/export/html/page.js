/* SPDX-License-Identifier: Apache-2.0
 * page.js - the state of the page, and what keys and clicks do to it.
 *
 * The state is in the address behind '#', so that a link shows what its sender saw and the
 * browser's back button undoes a zoom.  Only state -> page: a handler changes the address,
 * apply() does the rest. */

const facts = JSON.parse(byId('facts').textContent);
const state = { view: 'flame', thread: 'all', measure: '', merge: 'function', query: '', zoom: 0,
	by: 'self' };
let profile = null, shown = null, flame = null, finding = null;
const trail = [0]; /* the zooms that led here, for Esc */

/* ---- the address ---- */

const DEFAULTS = { view: 'flame', thread: 'all', measure: '', merge: 'function', query: '', zoom: 0,
	by: 'self' };

function address(changes) {
	const next = { ...state, ...changes }, words = new URLSearchParams();
	for (const [key, value] of Object.entries(DEFAULTS))
		if (next[key] !== value) words.set(key, next[key]);
	return `#${words.size ? words : 'all'}`; /* an empty one would scroll to the top */
}

/* A step that the back button undoes. */
function go(changes) {
	const next = address(changes);
	if (next !== (location.hash || '#all')) location.hash = next;
}

/* One that it does not: typing. */
function refine(changes) {
	location.replace(address(changes));
}

function readAddress() {
	const words = new URLSearchParams(location.hash.slice(1));
	for (const [key, value] of Object.entries(DEFAULTS)) state[key] = words.get(key) ?? value;
	state.zoom = Number.parseInt(state.zoom, 10) || 0;
	if (!['flame', 'functions', 'lines'].includes(state.view)) state.view = 'flame';
	if (state.merge !== 'line') state.merge = 'function';
	if (state.by !== 'total') state.by = 'self';
}

/* ---- what is chosen ---- */

function measureNow() {
	if (state.measure === 'samples' || state.measure === 'weight') return state.measure;
	return profile.hasWeights ? 'weight' : 'samples';
}

function amountText(value) {
	return measureNow() === 'weight' ? timeText(value) : plural(value, 'sample');
}

function threadsNow() {
	const { threads } = profile, all = [...Array(threads.threads).keys()];
	const number = Number.parseInt(state.thread.slice(1), 10);
	if (state.thread[0] === 'p') return all.filter((t) => threads.process[t] === number);
	if (state.thread[0] === 't' && number < threads.threads) return [number];
	return all;
}

function threadText(t) {
	const { threads, texts } = profile;
	return `${shorten(texts[threads.name[t]], 60) || 'thread'} (${threads.tid[t]})`;
}

function processText(p) {
	const { threads, texts } = profile;
	return `${shorten(texts[threads.processName[p]], 60) || 'process'} (${threads.pid[p]})`;
}

function chosenText() {
	const number = Number.parseInt(state.thread.slice(1), 10), { threads } = profile;
	if (state.thread[0] === 'p' && number < threads.processes) return `process ${processText(number)}`;
	if (state.thread[0] === 't' && number < threads.threads) return `thread ${threadText(number)}`;
	return threads.threads === 1 ? `thread ${threadText(0)}` : `all ${plural(threads.threads, 'thread')}`;
}

/* ---- labels ---- */

function baseName(path) {
	return path.slice(path.lastIndexOf('/') + 1);
}

/* name: of the function.  where: its place in full.  place: short, for a frame. */
function makeLabels() {
	const { functions, locations, texts } = profile, byFunction = [], byLine = [];
	for (let f = 0; f < functions.count; f++) {
		const path = texts[functions.path[f]];
		byFunction.push({
			name: texts[functions.name[f]] || '(unnamed)',
			where: path && functions.line[f] ? `${path}:${functions.line[f]}` : path,
			place: baseName(path),
			path,
			kind: kindOf(texts[functions.language[f]], functions.flags[f]),
			shade: hashOf(path) % SHADES,
		});
	}
	for (let l = 0; l < locations.count; l++) {
		const label = byFunction[locations.function[l]], line = locations.line[l];
		const colon = line && label.path ? `:${line}` : '';
		byLine.push({ ...label, where: label.path + colon, place: label.place + colon });
	}
	const everyLine = new Uint32Array(locations.count).map((_, l) => l);
	profile.keyings = {
		function: { keyOf: locations.function, labels: byFunction },
		line: { keyOf: everyLine, labels: byLine },
	};
}

/* ---- state -> page ---- */

/* The tree and the tables of a choice are computed when they are first looked at. */
function choose() {
	const name = [state.thread, measureNow()].join();
	if (!shown || shown.name !== name) {
		const nodes = chooseNodes(profile, threadsNow(), measureNow());
		shown = { name, nodes, whole: nodes.total[0], trees: {}, sums: {} };
		showLegend();
	}
	if (!shown.trees[state.merge]) {
		const { keyOf } = profile.keyings[state.merge];
		shown.trees[state.merge] = layTree(mergeNodes(profile, shown.nodes, keyOf));
	}
	if (flame.tree !== shown.trees[state.merge])
		flame.show(shown.trees[state.merge], profile.keyings[state.merge].labels);
}

function sumsOf(merge) {
	const { keyOf, labels } = profile.keyings[merge];
	shown.sums[merge] ??= sumByKey(profile, shown.nodes, keyOf, labels.length);
	return shown.sums[merge];
}

/* By key: does the name or the place hold what is searched for?  NULL: nothing is. */
function matchesOf(labels) {
	const wanted = state.query.toLowerCase();
	if (!wanted) return null;
	return Uint8Array.from(labels, ({ name, where }) =>
		name.toLowerCase().includes(wanted) || where.toLowerCase().includes(wanted) ? 1 : 0);
}

function applySearch() {
	flame.matches = matchesOf(flame.labels);
	finding = flame.matches && { ...findMatches(flame.tree, flame.matches), at: -1 };
	if (byId('search').value !== state.query) byId('search').value = state.query;
	for (const id of ['previous', 'next']) byId(id).disabled = !finding || !finding.found.length;
}

function functionsFound() {
	if (state.merge === 'function') return finding.seen.size;
	return new Set([...finding.seen].map((l) => profile.locations.function[l])).size;
}

function statusText() {
	const samples = plural(profile.samplesOf(threadsNow()), 'sample');
	const measure = measureNow() === 'weight' ?
		`${timeText(shown.whole)} of ${modeOf(facts).time} (${samples})` : samples;
	const parts = [`100 % is ${measure} of ${chosenText()}.`];
	if (finding)
		parts.push(`Found ${plural(functionsFound(), 'function')}, ` +
			`${percentText(finding.total, shown.whole)} of ` +
			`${measureNow() === 'weight' ? modeOf(facts).time : 'samples'}.`);
	if (state.view === 'flame') {
		const [drawn, all] = flame.drawnCount();
		parts.push(`${countText(drawn)} of ${plural(all, 'frame')} drawn` +
			(drawn < all ? '; the others are narrower than a pixel: zoom in.' : '.'));
	}
	return parts.join(' ');
}

function showLegend() {
	const byKind = new Map(), { locations, nodes } = profile, { labels } = profile.keyings.function;
	for (let i = 1; i < nodes.count; i++) {
		if (!shown.nodes.total[i]) continue;
		const { kind } = labels[locations.function[nodes.location[i]]];
		byKind.set(kind.label, { kind, self: (byKind.get(kind.label)?.self || 0) + shown.nodes.self[i] });
	}
	const items = [...byKind.values()].sort((a, b) => b.self - a.self).map(({ kind, self }) => {
		const item = make('span', 'kind'), dot = make('i', 'dot');
		dot.style.backgroundColor = swatchOf(kind, flame.dark);
		item.append(dot, make('span', '', kind.label), make('b', '', percentText(self, shown.whole)));
		return item;
	});
	if (items.length) items.push(make('span', 'kind', 'self time by language; shades are files'));
	byId('legend').replaceChildren(...items);
}

function showTableNow() {
	const merge = state.view === 'lines' ? 'line' : 'function', { labels } = profile.keyings[merge];
	byId('what').textContent = state.view === 'lines' ? 'Line of' : 'Function';
	for (const by of ['self', 'total'])
		byId(`by-${by}`).parentElement.ariaSort = state.by === by ? 'descending' : 'none';
	showTable({
		sums: sumsOf(merge), labels, whole: shown.whole, by: state.by, matches: matchesOf(labels),
		amountOf: amountText, dark: flame.dark,
		onPick: (key) => go({ view: 'flame', merge, zoom: 0,
			query: merge === 'line' ? labels[key].where : labels[key].name }),
	});
}

function applyZoom() {
	const zoom = state.zoom < flame.tree.count ? state.zoom : 0;
	if (zoom === trail[trail.length - 2]) trail.pop();
	else if (zoom !== trail[trail.length - 1]) trail.push(zoom);
	if (zoom !== flame.zoom) {
		flame.setZoom(zoom);
		flame.focus = zoom;
	}
}

function apply() {
	readAddress();
	for (const [id, value] of [['thread', state.thread], ['measure', measureNow()], ['merge', state.merge]])
		byId(id).value = value;
	for (const view of ['flame', 'functions', 'lines'])
		byId(`tab-${view}`).ariaSelected = String(view === state.view);
	byId('flame').hidden = state.view !== 'flame';
	byId('table').hidden = state.view === 'flame';
	hideTip();
	choose();
	applySearch();
	if (state.view === 'flame') {
		if (flame.scroll.clientWidth !== flame.width || flame.scroll.clientHeight !== flame.height)
			flame.resize();
		applyZoom();
		flame.redraw();
	} else {
		showTableNow();
	}
	byId('status').textContent = statusText();
}

/* ---- details of a frame ---- */

function kindText({ kind, name }) {
	return kind.grey && Object.hasOwn(MARKS, name) ? MARKS[name] : kind.label;
}

function tipLines(node) {
	const { key, total, self } = flame.tree, label = key[node] < 0 ? flame.root : flame.labels[key[node]];
	const share = (value) => `${percentText(value, shown.whole)}, ${amountText(value)}`;
	return [
		['b', shorten(label.name, 600)],
		['span', shorten(label.where || label.path || '', 600)],
		['span', `total ${share(total[node])}`],
		['span', `self ${share(self[node])}`],
		['small', key[node] < 0 ? '' : kindText(label)],
	].filter(([, text]) => text);
}

function showTip(node, x, y) {
	const tip = byId('tip');
	tip.replaceChildren(...tipLines(node).map(([tag, text]) => make(tag, '', text)));
	tip.hidden = false;
	const left = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8);
	const below = y + 18 + tip.offsetHeight < window.innerHeight;
	tip.style.left = `${Math.max(8, left)}px`;
	tip.style.top = `${below ? y + 18 : Math.max(8, y - tip.offsetHeight - 12)}px`;
}

function hideTip() {
	byId('tip').hidden = true;
}

function focusOn(node, hasTip) {
	flame.focus = node;
	flame.reveal(node);
	flame.redraw();
	byId('readout').textContent = tipLines(node).map(([, text]) => text).join(', ');
	if (!hasTip) return;
	const box = flame.canvas.getBoundingClientRect(), [left] = flame.span(node);
	showTip(node, box.left + Math.max(0, left),
		box.top + (flame.tree.depth[node] + 1) * ROW - flame.scroll.scrollTop - 10);
}

/* ---- hands ---- */

function zoomTo(node) {
	go({ zoom: node });
}

function undoZoom() {
	zoomTo(trail.length > 1 ? trail[trail.length - 2] : 0);
}

/* The heaviest match is the first. */
function showMatch(step) {
	if (!finding || !finding.found.length) return;
	if (state.view !== 'flame') go({ view: 'flame' });
	const count = finding.found.length;
	finding.at = (finding.at + step + count) % count;
	if (finding.at < 0) finding.at = count - 1;
	const node = finding.found[finding.at], [left, right] = flame.span(node);
	if (right - left < 2 || left < 0 || right > flame.width + 1) zoomTo(node);
	focusOn(node, true);
}

/* The frame beside: the next one in its row that can be seen under the zoom. */
function neighbour(node, step) {
	const { rows, depth } = flame.tree;
	if (depth[node] <= depth[flame.zoom]) return node;
	const [from, to] = flame.rowRange(depth[node]);
	let i = from;
	while (i < to && rows[i] !== node) i++;
	for (i += step; i >= from && i < to; i += step) {
		const [left, right] = flame.span(rows[i]);
		if (right - left >= 1) return rows[i];
	}
	return node;
}

function walk(key) {
	const { tree } = flame, node = flame.focus < 0 ? flame.zoom : flame.focus;
	const moves = {
		ArrowDown: () => node + 1 < tree.end[node] ? node + 1 : node, /* the heaviest child */
		ArrowUp: () => Math.max(0, tree.parent[node]),
		ArrowLeft: () => neighbour(node, -1),
		ArrowRight: () => neighbour(node, 1),
		Home: () => flame.zoom,
	};
	if (!moves[key]) return false;
	focusOn(flame.focus < 0 ? node : moves[key](), true);
	return true;
}

function onCanvasKey(event) {
	if (event.ctrlKey || event.metaKey || event.altKey) return;
	if (event.key === 'Enter' && flame.focus >= 0) zoomTo(flame.focus);
	else if (!walk(event.key)) return;
	event.preventDefault();
}

function onKey(event) {
	const isTyping = event.target.id === 'search', plain = !event.ctrlKey && !event.metaKey && !event.altKey;
	if (event.key === 'Escape') {
		if (isTyping && state.query) refine({ query: '' });
		else if (isTyping) flame.canvas.focus();
		else if (flame.zoom) undoZoom();
		else if (state.query) refine({ query: '' });
		hideTip();
	} else if ((plain && event.key === '/' && !isTyping) ||
		   (event.key === 'f' && (event.ctrlKey || event.metaKey) && state.view === 'flame')) {
		byId('search').focus();
		byId('search').select();
	} else if (plain && !isTyping && event.key.toLowerCase() === 'n') {
		showMatch(event.shiftKey ? -1 : 1);
	} else if (plain && !isTyping && ['1', '2', '3'].includes(event.key)) {
		go({ view: ['flame', 'functions', 'lines'][event.key - 1] });
	} else {
		return;
	}
	event.preventDefault();
}

function onPoint(event) {
	const box = flame.canvas.getBoundingClientRect();
	const node = flame.nodeAt(event.clientX - box.left, event.clientY - box.top);
	if (node !== flame.hover) {
		flame.hover = node;
		flame.redraw();
	}
	if (node < 0) hideTip();
	else showTip(node, event.clientX, event.clientY);
	flame.canvas.classList.toggle('pointing', node >= 0);
	return node;
}

/* A finger has no hover: its first tap shows the frame, the second zooms. */
function onPress(event) {
	const node = onPoint(event), isSecond = node === flame.focus;
	if (node < 0) return;
	focusOn(node, false);
	if (event.pointerType !== 'touch' || isSecond) zoomTo(node);
}

/* ---- the start ---- */

function fillSelects() {
	const { threads } = profile, select = byId('thread');
	const add = (value, text) => {
		const option = make('option', '', text);
		option.value = value;
		select.append(option);
	};
	const all = [...Array(threads.threads).keys()], measure = measureNow();
	const weights = all.map((t) => profile.sumOf([t], measure));
	const whole = weights.reduce((a, b) => a + b, 0);
	add('all', `all ${countText(threads.threads)}`);
	if (threads.processes > 1)
		for (let p = 0; p < threads.processes; p++) add(`p${p}`, `process ${processText(p)}`);
	for (const t of all.sort((a, b) => weights[b] - weights[a] || a - b))
		add(`t${t}`, `${threadText(t)}: ${percentText(weights[t], whole)}`);
	for (const [value, text] of [['weight', modeOf(facts).title], ['samples', 'Samples']]) {
		const option = make('option', '', text);
		option.value = value;
		option.disabled = value === 'weight' && !profile.hasWeights;
		byId('measure').append(option);
	}
}

function isDark() {
	const chosen = document.documentElement.dataset.theme;
	return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function applyTheme() {
	if (flame) flame.dark = isDark();
	byId('theme').textContent = isDark() ? 'Light' : 'Dark';
	byId('theme').title = isDark() ? 'Light colours' : 'Dark colours';
	if (!shown) return;
	showLegend();
	apply();
}

function listen() {
	window.addEventListener('hashchange', apply);
	window.addEventListener('keydown', onKey);
	new ResizeObserver(() => {
		if (state.view !== 'flame') return;
		flame.resize();
		byId('status').textContent = statusText();
	}).observe(flame.scroll);
	flame.canvas.addEventListener('keydown', onCanvasKey);
	flame.canvas.addEventListener('pointermove', (e) => e.pointerType !== 'touch' && onPoint(e));
	flame.canvas.addEventListener('click', onPress);
	flame.canvas.addEventListener('pointerleave', (event) => {
		if (event.pointerType === 'touch') return;
		flame.hover = -1;
		hideTip();
		flame.redraw();
	});
	for (const view of ['flame', 'functions', 'lines'])
		byId(`tab-${view}`).addEventListener('click', () => go({ view }));
	for (const id of ['thread', 'measure', 'merge'])
		byId(id).addEventListener('change', () => go({ [id]: byId(id).value, zoom: 0 }));
	for (const by of ['self', 'total']) byId(`by-${by}`).addEventListener('click', () => go({ by }));
	byId('search').addEventListener('input', () => refine({ query: byId('search').value }));
	byId('search').addEventListener('keydown', (event) => {
		if (event.key === 'Enter') showMatch(event.shiftKey ? -1 : 1);
	});
	byId('next').addEventListener('click', () => showMatch(1));
	byId('previous').addEventListener('click', () => showMatch(-1));
	byId('theme').addEventListener('click', () => {
		document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
		applyTheme();
	});
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
}

/* Sums over all entries of some threads: a number, without a tree. */
function addSums() {
	const { entries } = profile;
	profile.sumOf = (threads, measure) => {
		let sum = 0;
		for (const t of threads)
			for (let i = entries.first[t]; i < entries.first[t + 1]; i++) sum += entries[measure][i];
		return sum;
	};
	profile.samplesOf = (threads) => profile.sumOf(threads, 'samples');
	profile.hasWeights = entries.weight.some((weight) => weight > 0);
}

async function start() {
	showFacts(facts);
	applyTheme();
	if (typeof DecompressionStream === 'undefined')
		throw new Error('this browser has no DecompressionStream; any from 2023 on has');
	profile = await decode(byId('data').textContent);
	byId('data').remove();
	addSums();
	makeLabels();
	flame = new Flame(byId('canvas'), byId('scroll'), byId('spacer'));
	flame.root = { name: 'all', place: '', where: '', path: '', kind: LANGUAGES[''], shade: 2 };
	flame.dark = isDark();
	readAddress();
	fillSelects();
	apply();
	listen();
	document.documentElement.dataset.ready = 'yes';
}

start().catch((error) => {
	byId('warning').textContent = `This report cannot be drawn: ${error.message}.`;
	byId('warning').hidden = false;
	throw error;
});
