/* SPDX-License-Identifier: Apache-2.0
 * page.js - what keys and clicks do, and the start.  A handler changes the state (state.js); the
 * page follows it (views.js). */

/* ---- steps ---- */

function undoZoom() {
	undo({ zoom: trail.length > 1 ? trail[trail.length - 2] : 0 });
}

/* The heaviest match is the first; in the source the lines follow each other. */
function showMatch(step) {
	if (isPutOff(() => showMatch(step))) return;
	follow();
	if (state.view === 'source') return showFoundLine(step);
	if (!finding || !finding.found.length) return;
	if (!finding.isSorted) { /* not before somebody walks them */
		const { total } = finding.tree;
		finding.found.sort((a, b) => total[b] - total[a] || a - b);
		finding.isSorted = true;
	}
	const count = finding.found.length, at = finding.at < 0 && step < 0 ? 0 : finding.at;
	finding.at = (at + step + count) % count;
	const node = finding.found[finding.at];
	if (state.view !== 'flame') {
		go({ view: 'flame', zoom: finding.tree.raw[node] });
		return;
	}
	const [left, right] = flame.span(node);
	if (right - left < 2 || left < 0 || right > flame.width + 1) go({ zoom: finding.tree.raw[node] });
	flame.focusOn(node);
}

/* Is a node of the file shown at or above `top`? */
function isUnder({ merged, place, end }, top) {
	return (raw) => merged[raw] >= 0 && place[merged[raw]] >= top && place[merged[raw]] < end[top];
}

/* What is shown, and nothing else, as text for other tools. Frames have their lines, as in every export. */
async function copyFolded() {
	const top = state.view === 'flame' ? flame.zoom : 0, tree = wholeTree(state.merge);
	const { text, count } = profile.changes ?
		foldedChanges(tree, profile.keyings[state.merge].labels, top, changedAmount(tree)) :
		foldedText(profile, { threads: threadsNow(), hidden: shown.nodes.hidden,
			values: entryValues(profile, measureNow(), spanNow()), isIn: isUnder(tree, top) });
	const unit = profile.changes ? 'two columns, the first in the scale of the second' :
		measureNow() === 'weight' ? 'nanoseconds' : facts.count_type ? modeOf(facts).title : 'samples';
	let isCopied = true;
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		isCopied = copyByHand(text);
	}
	say(isCopied ? `Copied ${plural(count, 'folded stack')}, in ${unit}.` : 'This browser does not let the page copy.');
	byId('notice').textContent = byId('readout').textContent;
}

/* Where the clipboard is not for pages that come from disk. */
function copyByHand(text) {
	const box = make('textarea', 'unseen');
	box.value = text;
	document.body.append(box);
	box.select();
	const isCopied = document.execCommand('copy');
	box.remove();
	return isCopied;
}

/* ---- keys ---- */

function escape(isTyping) {
	const options = byId('options');
	if (wayBack) return;
	if (options.open) {
		options.open = false;
		options.querySelector('summary').focus();
	} else if (isTyping && state.query) refine({ query: '' });
	else if (isTyping) flame.canvas.focus();
	else if (!byId('tip').hidden && byId('tip').classList.contains('pinned')) hideTip();
	else if (state.view === 'flame' && state.zoom) undoZoom();
	else if (state.query) refine({ query: '' });
	else if (state.span) go({ span: '' });
	else if (state.view !== 'flame') go({ view: 'flame' });
	hideTip();
}

function onKey(event) {
	const plain = !event.ctrlKey && !event.metaKey && !event.altKey, { target } = event;
	const isTyping = target.id === 'search', isChoosing = target.tagName === 'SELECT';
	if (event.key === 'Escape') {
		escape(isTyping);
	} else if ((plain && event.key === '/' && !isTyping) ||
		   (event.key === 'f' && (event.ctrlKey || event.metaKey) && state.view === 'flame')) {
		byId('search').focus();
		byId('search').select();
	} else if (plain && !isTyping && !isChoosing && event.key.toLowerCase() === 'n') {
		showMatch(event.shiftKey ? -1 : 1);
	} else if (plain && !isTyping && !isChoosing && VIEWS[event.key - 1]) {
		go({ view: VIEWS[event.key - 1] });
	} else {
		return;
	}
	event.preventDefault();
}

/* ---- the theme, the paper ---- */

function isDark() {
	const chosen = document.documentElement.dataset.theme;
	return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function applyTheme() {
	byId('theme').textContent = isDark() ? 'Light' : 'Dark';
	byId('theme').title = isDark() ? 'Light colours' : 'Dark colours';
	if (shown) apply();
}

/* On paper: light, and every row of the graph, as high as a canvas may safely be. */
const PAPER_HEIGHT = 8000;

function preparePrint() {
	const root = document.documentElement, before = root.dataset.theme;
	root.dataset.theme = 'light';
	root.dataset.print = before || 'system';
	profile.tones.paint(state.colour, false);
	for (const one of [flame, callers, callees])
		if (one.tree && one.width) {
			one.paperHeight = Math.min(one.rowsHeight(), PAPER_HEIGHT);
			one.resize();
			one.draw();
		}
	if (strip) strip.draw();
}

function endPrint() {
	const root = document.documentElement, { print } = root.dataset;
	if (print === 'system') delete root.dataset.theme;
	else root.dataset.theme = print;
	delete root.dataset.print;
	for (const one of [flame, callers, callees]) {
		one.paperHeight = 0;
		if (one.tree) one.resize();
	}
	apply();
}

/* ---- the start ---- */

function addOption(select, value, text) {
	const option = make('option', '', text);
	option.value = value;
	select.append(option);
	return option;
}

function fillSelects() {
	if (profile.changes) fillWidths();
	else fillChoices();
	for (const [value, { label }] of Object.entries(COLOURINGS)) addOption(byId('colour'), value, label);
}

/* Compared, all of both: no thread, no time. */
function fillWidths() {
	for (const [value, words] of Object.entries(WIDTHS)) addOption(byId('measure'), value, words);
	byId('measure').previousElementSibling.textContent = 'A frame is as wide as';
	byId('thread').parentElement.hidden = true;
	byId('merge').parentElement.hidden = byId('tab-lines').hidden = !facts.diff.lines;
}

function fillChoices() {
	const { threads, entries } = profile, select = byId('thread');
	const all = [...Array(threads.threads).keys()], values = entries[measureNow()];
	const weights = all.map((t) => sumValues(values, [t]));
	const whole = weights.reduce((a, b) => a + b, 0);
	select.parentElement.hidden = !hasThreads();
	addOption(select, 'all', `all ${countText(threads.threads)}`);
	if (threads.processes > 1)
		for (let p = 0; p < threads.processes; p++)
			addOption(select, `p${p}`, `process ${processText(p)}`);
	for (const t of all.sort((a, b) => weights[b] - weights[a] || a - b))
		addOption(select, `t${t}`, `${threadText(t)}: ${percentText(weights[t], whole)}`);
	if (profile.hasWeights || facts.mode)
		addOption(byId('measure'), 'weight', capital(modeOf(facts).time)).disabled = !profile.hasWeights;
	addOption(byId('measure'), 'samples', facts.count_type || 'Samples');
}

function listenControls() {
	for (const view of VIEWS) byId(`tab-${view}`).addEventListener('click', () => go({ view }));
	for (const id of ['thread', 'measure', 'merge', 'root', 'colour'])
		byId(id).addEventListener('change', () => go({ [id]: byId(id).value }));
	byId('file').addEventListener('change', () => go({ file: byId('file').value, line: 0 }));
	for (const by of ['self', 'total']) byId(`by-${by}`).addEventListener('click', () => go({ by }));
	byId('search').addEventListener('input', () => refine({ query: byId('search').value }));
	byId('search').addEventListener('keydown', (event) => {
		if (event.key === 'Enter') showMatch(event.shiftKey ? -1 : 1);
	});
	byId('next').addEventListener('click', () => showMatch(1));
	byId('previous').addEventListener('click', () => showMatch(-1));
	byId('copy').addEventListener('click', copyFolded);
	byId('print').addEventListener('click', () => window.print());
	byId('whole-time').addEventListener('click', () => go({ span: '' }));
	byId('theme').addEventListener('click', () => {
		document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
		applyTheme();
	});
	document.addEventListener('click', (event) => {
		if (!byId('options').contains(event.target)) byId('options').open = false;
		if (event.target.tagName !== 'CANVAS' && !byId('tip').contains(event.target)) hideTip();
	});
}

function listen() {
	listenControls();
	window.addEventListener('popstate', arrive);
	window.addEventListener('hashchange', () => {
		arrive();
		follow();
	});
	window.addEventListener('keydown', onKey);
	window.addEventListener('beforeprint', preparePrint);
	window.addEventListener('afterprint', endPrint);
	new ResizeObserver(() => { byId('status').textContent = statusText(); }).observe(byId('scroll'));
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
}

function makeGraphs() {
	const graph = (id, changes) => Object.assign(
		new Flame(byId(`${id}canvas`), byId(`${id}scroll`), byId(`${id}spacer`), hands),
		{ rootLabel: rootLabel(), ...changes });
	flame = graph('', { isZooming: true });
	callers = graph('callers-', { isUp: true, isCallers: true });
	callees = graph('callees-', {});
	byId('time').hidden = !profile.moments;
	if (!profile.moments) return;
	strip = new Strip(byId('strip'), profile.moments, {
		span: (span) => {
			go({ span: span ? span.join('-') : '' });
			say(span ? `Only ${spanText(span)}.` : 'All of the time.');
		},
		thread: (t) => go({ thread: state.thread === `t${t}` ? 'all' : `t${t}` }),
		say: (text) => { byId('strip-note').textContent = text; say(text); },
	});
}

async function start() {
	showFacts(facts);
	applyTheme();
	if (typeof DecompressionStream === 'undefined')
		throw new Error('this browser has no DecompressionStream; any from 2023 on has');
	profile = await decode(byId('data').textContent);
	byId('data').remove();
	profile.hasWeights = profile.entries.weight.some((weight) => weight > 0);
	if (profile.changes) prepareChanges();
	makeLabels();
	indexSources();
	makeGraphs();
	byId('tab-source').hidden = !profile.sources.count;
	readAddress();
	fillSelects();
	apply();
	listen();
	/* For the tests: it is drawn, and this many milliseconds it took. */
	requestAnimationFrame(() => setTimeout(() => {
		document.documentElement.dataset.ready = Math.round(performance.now());
	}, 0));
}

start().catch((error) => {
	byId('warning').textContent = `This report cannot be drawn: ${error.message}.`;
	byId('warning').hidden = false;
	throw error;
});
