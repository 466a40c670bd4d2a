/* SPDX-License-Identifier: Apache-2.0
 * views.js - state -> page: apply() makes the page show what the address says.
 *
 * Trees and tables of a choice are computed when they are first looked at, and kept while it
 * stands. */

let shown = null;   /* the choice: {name, nodes, whole, samples, kindSelf, trees, sums} */
let finding = null; /* the search: {seen, found, total, at} */
let flame = null, callers = null, callees = null, strip = null;
const trail = [0];  /* the zooms that led here, for Esc */

/* ---- the choice ---- */

/* Self by kind and by package before anything is hidden: what the legend says. */
function sumTones(values, threads) {
	const { tones, toneOf, nodes, entries } = profile, sums = new Float64Array(tones.all.length);
	for (const t of threads)
		for (let i = entries.first[t]; i < entries.first[t + 1]; i++)
			if (entries.node[i]) sums[toneOf[nodes.location[entries.node[i]]]] += values[i];
	return sums;
}

function sumValues(values, threads) {
	let sum = 0;
	for (const t of threads)
		for (let i = profile.entries.first[t]; i < profile.entries.first[t + 1]; i++) sum += values[i];
	return sum;
}

function choose() {
	const span = spanNow(), measure = measureNow(), threads = threadsNow();
	const name = [state.thread, measure, span, state.hide].join('|');
	if (shown && shown.name === name) return;
	const values = entryValues(profile, measure, span);
	const samples = measure === 'samples' ? values : entryValues(profile, 'samples', span);
	const nodes = chooseNodes(profile, threads, values, hiddenNow());
	shown = { name, nodes, whole: nodes.total[0], samples: sumValues(samples, threads),
		toneSelf: sumTones(values, threads), trees: {}, sums: {} };
}

/* By laid node, a node of the file: what a link calls it. */
function rawOf({ count, merged, place }) {
	const raw = new Int32Array(count).fill(-1);
	for (let i = 0; i < merged.length; i++)
		if (merged[i] >= 0 && raw[place[merged[i]]] < 0) raw[place[merged[i]]] = i;
	return raw;
}

function wholeTree(merge) {
	if (!shown.trees[merge]) {
		const tree = layTree(mergeNodes(profile, shown.nodes, profile.keyings[merge]));
		shown.trees[merge] = { ...tree, raw: rawOf(tree), sides: profile.changes && weighTree(tree) };
	}
	return shown.trees[merge];
}

/* The frame that shows a node of the file, or that of its nearest caller that is shown. */
function nodeOfRaw({ merged, place }, raw) {
	if (raw <= 0 || raw >= merged.length) return 0;
	while (merged[raw] < 0) raw = profile.nodes.parent[raw];
	return place[merged[raw]];
}

function sumsOf(merge) {
	const { keyOf, labels } = profile.keyings[merge];
	return shown.sums[merge] ??= sumByKey(profile, shown.nodes, keyOf, labels.length);
}

/* ---- the search ---- */

function applySearch() {
	const matches = matchesOf(profile.keyings[state.merge].labels), before = finding;
	const tree = matches && wholeTree(state.merge);
	finding = matches && { ...findMatches(tree, matches), matches, tree, query: state.query, at: -1 };
	/* The same search of the same tree goes on where it was. */
	if (before && finding && before.tree === tree && before.query === state.query) finding.at = before.at;
	if (byId('search').value !== state.query) byId('search').value = state.query;
	for (const id of ['previous', 'next']) byId(id).disabled = !finding || !finding.found.length;
}

function functionsFound() {
	if (state.merge === 'function') return finding.seen.size;
	return new Set([...finding.seen].map((l) => profile.locations.function[l])).size;
}

/* ---- in words ---- */

function drawnText(flames) {
	const [drawn, all] = flames.map((one) => one.drawnCount()).reduce(([a, b], [c, d]) => [a + c, b + d]);
	return `${countText(drawn)} of ${plural(all, 'frame')} drawn` +
		(drawn === all ? '.' : `; the ${all - drawn === 1 ? 'other is' : 'others are'} narrower than a pixel: zoom in.`);
}

function statusText() {
	const isTime = measureNow() !== 'samples', samples = amountOfCount(Math.round(shown.samples));
	const measure = isTime ? `${timeText(shown.whole)} of ${modeOf(facts).time} (${samples})` : samples;
	const parts = [profile.changes ? changesStatus() : `100 % is ${measure}${hasThreads() ? ` of ${chosenText()}` : ''}.`];
	const hidden = hiddenKinds();
	const left = [...kinds.values()].filter(({ id }) => hidden.has(id)).map(({ label }) => shorten(label, 60));
	if (shown.nodes.hidden) parts.push(`${left.join(' and ')} left out: its time is its callers' own.`);
	if (state.view === 'source' && linesFound)
		parts.push(`Found ${plural(linesFound.length, 'line')} in this file.`);
	else if (finding)
		parts.push(`Found ${plural(functionsFound(), 'function')}, ` +
			`${percentText(finding.total, shown.whole)} of ${isTime ? modeOf(facts).time : facts.count_type || 'samples'}.`);
	if (state.view === 'flame') parts.push(drawnText([flame]));
	if (state.view === 'sandwich' && functionNow() >= 0) parts.push(drawnText([callers, callees]));
	return parts.join(' ');
}

/* ---- the legend: languages, to leave out; packages, to search for ---- */

const LEGEND_PACKAGES = 5;

function kindButton(kind, self, hidden) {
	const isShown = !hidden.has(kind.id), button = make('button', 'kind'), dot = make('i', 'dot');
	const next = new Set(hidden);
	dot.style.backgroundColor = swatchOf(kind, isDark());
	button.type = 'button';
	button.disabled = Boolean(profile.changes);
	button.ariaPressed = String(isShown);
	button.title = isShown ? 'Leave these frames out' : 'Show these frames';
	button.append(dot, make('span', '', shorten(kind.label, 60)), make('b', '', percentText(self, shown.whole)));
	button.addEventListener('click', () => {
		if (isShown) next.add(kind.id);
		else next.delete(kind.id);
		go({ hide: [...next].join(',') });
	});
	return button;
}

function packageButton(name, { tone, self }) {
	const button = make('button', 'kind'), dot = make('i', 'dot');
	dot.style.backgroundColor = tone.fill;
	button.type = 'button';
	button.title = 'Search for this package';
	button.append(dot, make('span', '', shorten(name, 60)), make('b', '', percentText(self, shown.whole)));
	button.addEventListener('click', () => go({ query: state.query === name ? '' : name }));
	return button;
}

let legendName = '', stripName = '';

function showLegend() {
	const name = [shown.name, state.colour, isDark()].join('|');
	if (name === legendName) return;
	legendName = name;
	const byKind = new Map(), byName = new Map(), hidden = hiddenKinds();
	profile.tones.all.forEach((tone, i) => {
		const self = shown.toneSelf[i], { kind, name } = tone;
		byKind.set(kind, (byKind.get(kind) || 0) + self);
		if (!name || !self) return;
		const known = byName.get(name);
		if (!known) byName.set(name, { tone, self, most: self });
		else Object.assign(known, { self: known.self + self },
			self > known.most ? { tone, most: self } : {});
	});
	const kindsShown = [...byKind].filter(([kind, self]) => self || !(kind.grey || kind.isMixed)).sort((a, b) => b[1] - a[1]);
	const packages = [...byName].sort((a, b) => b[1].self - a[1].self).slice(0, LEGEND_PACKAGES);
	const title = (text) => make('span', 'title', text);
	const isChange = state.colour === 'change', isCount = facts.count_type && measureNow() === 'samples';
	byId('kinds').replaceChildren(...isChange ? [title('Share of each recording'), ...changeLegend()] :
		[title(isCount ? 'Self by language' : 'Self time by language'),
			...kindsShown.map(([kind, self]) => kindButton(kind, self, hidden))]);
	byId('packages').replaceChildren(title('by package'),
		...packages.map(([name, of]) => packageButton(name, of)));
	byId('packages').hidden = isChange || !packages.length;
}

/* ---- the strip ---- */

const MOST_ROWS_OF_TIME = 40;

function showStrip() {
	const measure = measureNow(), { threads, moments } = profile;
	const name = [state.thread, measure, state.span, isDark()].join('|');
	if (!moments || name === stripName) return;
	stripName = name;
	if (strip.measured !== measure) {
		strip.measured = measure;
		strip.activity = activityOf(profile, measure);
		const sums = strip.activity.map((values) => values.reduce((a, b) => a + b, 0));
		strip.order = [...Array(threads.threads).keys()].filter((t) => sums[t])
			.sort((a, b) => sums[b] - sums[a] || a - b).slice(0, MOST_ROWS_OF_TIME);
	}
	const chosen = new Set(threadsNow()), span = spanNow();
	strip.show(strip.order.map((t) => ({ thread: t, name: threadText(t), values: strip.activity[t],
		samples: sumValues(profile.entries.samples, [t]), isChosen: chosen.has(t) })), span);
	byId('whole-time').hidden = !span;
	const more = threads.threads - strip.order.length;
	byId('strip-note').textContent = span ? `Only ${spanText(span)} is shown.` :
		`${measure === 'weight' ? capital(modeOf(facts).time) : facts.count_type || 'Samples'} by thread. Drag to see only a span of time; ` +
		`click a name to see only that thread.${
			more > 0 && strip.order.length === MOST_ROWS_OF_TIME ?
				` The ${MOST_ROWS_OF_TIME} busiest of ${plural(threads.threads, 'thread')}.` : ''}`;
}

/* ---- the views ---- */

function showFlame() {
	const tree = wholeTree(state.merge);
	if (flame.tree !== tree) {
		flame.show(tree, profile.keyings[state.merge].labels);
		showFrame(flame, -1);
	}
	flame.fillOf = state.colour === 'change' ? fillOfChanges(tree.sides) : null;
	flame.turn(state.root === 'bottom');
	flame.matches = finding && finding.matches;
	const zoom = nodeOfRaw(tree, state.zoom);
	if (state.zoom === trail[trail.length - 2]) trail.pop();
	else if (state.zoom !== trail[trail.length - 1]) trail.push(state.zoom);
	if (zoom !== flame.zoom) {
		flame.setZoom(zoom);
		flame.focus = zoom;
		showFrame(flame, zoom || -1);
	}
	flame.redraw();
}

/* What a table shows of each key: {keys, cells(key)}. */
function valueRows(merge, matches) {
	const sums = sumsOf(merge), cell = (value) => shareCell(value, shown.whole, amountText(value));
	return { keys: rankKeys(sums, state.by, matches), cells: (key) => [cell(sums.self[key]), cell(sums.total[key])] };
}

function changeRows(merge, matches) {
	const rows = changesByKey(merge);
	return { keys: rankChanges(rows[state.by], matches),
		cells: (key) => [changeCell(rows.self, key), changeCell(rows.total, key)] };
}

function showTableNow() {
	const merge = state.view === 'lines' ? 'line' : 'function', { labels } = profile.keyings[merge];
	byId('what').textContent = state.view === 'lines' ? 'Line of' : 'Function';
	for (const by of ['self', 'total'])
		byId(`by-${by}`).parentElement.ariaSort = state.by === by ? 'descending' : 'none';
	showTable({
		...(profile.changes ? changeRows : valueRows)(merge, matchesOf(labels)), labels,
		onPick: (key) => go({ view: 'flame', merge, zoom: 0,
			query: merge === 'line' ? labels[key].where : labels[key].name }),
	});
}

function middleText(key, { self, total }) {
	if (!profile.changes)
		return `self ${percentText(self[key], shown.whole)}, total ${percentText(total[key], shown.whole)}`;
	const rows = changesByKey('function'), text = ({ before, after, verdict, noise }) =>
		changeText(before[key], after[key], verdict[key], noise[key]);
	return `self ${text(rows.self)}; total ${text(rows.total)}`;
}

/* Compared, they are as wide as the mean of both, so that what is new and what is gone are there. */
function sandwichTrees(keying, key) {
	const chosen = profile.changes ? profile.changes.both : shown.nodes;
	const upper = mergeCallers(profile, chosen, keying, key), callersTree = layTree(upper);
	const calleesTree = layTree(mergeCallees(profile, chosen, keying, key));
	if (profile.changes) {
		callersTree.sides = weighCallers(upper, callersTree.place, keying, key);
		calleesTree.sides = weighTree(calleesTree);
		for (const { sides } of [callersTree, calleesTree])
			sides.verdict[0] = changesByKey('function').total.verdict[key];
	}
	return { callers: callersTree, callees: calleesTree };
}

/* Without a function: the one with the most time of its own. */
function showSandwich() {
	const keying = profile.keyings.function, { labels } = keying, sums = sumsOf('function');
	let wanted = functionNow();
	if (wanted < 0) wanted = rankKeys(sums, 'self', null)[0] ?? -1;
	state.function = wanted < 0 ? '' : String(wanted);
	byId('sandwich-note').textContent = wanted < 0 ? 'Nothing was sampled here.' :
		`${shorten(labels[wanted].name, 200)}: ${middleText(wanted, sums)}. ` +
		'Above it who calls it, below it what it calls.';
	byId('sandwich-graphs').hidden = wanted < 0;
	if (wanted < 0) return;
	const name = `sandwich ${wanted}`, matches = matchesOf(labels);
	shown.trees[name] ??= sandwichTrees(keying, wanted);
	for (const [one, tree] of [[callers, shown.trees[name].callers], [callees, shown.trees[name].callees]]) {
		if (one.tree !== tree) {
			one.show(tree, labels);
			showFrame(one, -1);
		}
		one.matches = matches;
		one.fillOf = state.colour === 'change' ? fillOfChanges(tree.sides) : null;
		one.redraw();
	}
}

const SHOW = { flame: showFlame, functions: showTableNow, lines: showTableNow, sandwich: showSandwich,
	source: showSource };
const PANEL = { flame: 'flame', functions: 'table', lines: 'table', sandwich: 'sandwich', source: 'source' };

/* The page of the address as it is now. */
function follow() {
	if (addressNow() !== document.documentElement.dataset.shown) apply();
}

function apply() {
	document.documentElement.dataset.shown = addressNow();
	readAddress();
	for (const id of ['thread', 'merge', 'root', 'colour']) byId(id).value = state[id];
	byId('measure').value = measureNow();
	for (const view of VIEWS) byId(`tab-${view}`).ariaSelected = String(view === state.view);
	for (const panel of new Set(Object.values(PANEL))) byId(panel).hidden = panel !== PANEL[state.view];
	byId('legend').hidden = state.view === 'source';
	if (state.view !== 'source') revealed = ''; /* what is hidden forgets where it was */
	if (state.view !== 'flame' && state.view !== 'sandwich') showFrame(null, -1);
	hideTip();
	choose();
	profile.tones.paint(state.colour, isDark());
	applySearch();
	showLegend();
	showStrip();
	SHOW[state.view]();
	byId('status').textContent = statusText();
}
