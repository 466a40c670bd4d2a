/* SPDX-License-Identifier: Apache-2.0
 * changes.js - of two recordings: what each frame had before and has after, and whether that is a change.
 *
 * Everything here is a share of its own recording's whole, 0 to 1: two runs are never equally long.  What is
 * a change was found out where the times of the samples are known (profile/diff.h): for each function, and
 * for each node of the tree.  Where frames of several nodes are one here, the usual noise decides. */

const VERDICTS = ['within the noise', 'more', 'less', 'new', 'gone'];
const SAME = 0, MORE = 1, LESS = 2, NEW = 3, GONE = 4;

/* ---- the start ---- */

const WIDTHS = { both: 'the mean of its two shares', before: 'its share before', after: 'its share after' };

/* Values as shares; the views choose among them as among measures. */
function prepareChanges() {
	const { entries, changes } = profile, { before, after } = facts.diff;
	entries.before = changes.weight.map((value) => value / (before.whole || 1));
	entries.after = entries.weight.map((value) => value / (after.whole || 1));
	entries.both = entries.before.map((value, e) => (value + entries.after[e]) / 2);
	for (const side of ['before', 'after', 'both']) changes[side] = chooseNodes(profile, [0], entries[side], null);
	COLOURINGS.change = { label: 'what changed', fill: byLanguage };
	DEFAULTS.colour = 'change';
}

/* Which keying is the one of the rows that were compared. */
function comparedKeying() {
	return profile.keyings[facts.diff.lines ? 'line' : 'function'];
}

/* ---- what is a change ---- */

function usualVerdict(before, after) {
	const { linear, square } = facts.diff, share = (before + after) / 2, spread = share * (1 - share);
	if ((before - after) ** 2 <= linear * spread + square * spread * spread) return SAME;
	return !before ? NEW : !after ? GONE : after > before ? MORE : LESS;
}

/* Of a laid tree, by node: {before: {self, total}, after: {self, total}, verdict}. */
function weighTree(tree) {
	const { changes } = profile, { count, parent, merged, place } = tree;
	const sums = () => ({ self: new Float64Array(count), total: new Float64Array(count) });
	const sides = { before: sums(), after: sums(), verdict: new Uint8Array(count) };
	const nodes = new Uint32Array(count); /* of the file, that became this one */
	for (let raw = 0; raw < merged.length; raw++) {
		if (merged[raw] < 0) continue;
		const n = place[merged[raw]];
		nodes[n]++;
		sides.verdict[n] = changes.node[raw];
		for (const side of ['before', 'after']) sides[side].self[n] += changes[side].self[raw];
	}
	for (const { self, total } of [sides.before, sides.after]) {
		for (let n = count - 1; n >= 0; n--) {
			total[n] += self[n];
			if (n) total[parent[n]] += total[n];
		}
	}
	for (let n = 0; n < count; n++)
		if (nodes[n] !== 1) sides.verdict[n] = usualVerdict(sides.before.total[n], sides.after.total[n]);
	return sides;
}

/* The same of callers, which have no self; before they are laid. */
function weighCallers(tree, place, keying, key) {
	const { changes } = profile, sides = { verdict: new Uint8Array(tree.count) };
	for (const side of ['before', 'after']) {
		const sum = tree[side] = new Float64Array(tree.total.length);
		climb(profile, changes[side], keying, key, tree, side);
		const total = new Float64Array(tree.count);
		for (let n = 0; n < tree.count; n++) total[place[n]] = sum[n];
		sides[side] = { total };
	}
	for (let n = 0; n < tree.count; n++)
		sides.verdict[n] = usualVerdict(sides.before.total[n], sides.after.total[n]);
	return sides;
}

/* By key, of "self" or "total": {before, after, verdict, noise}. */
function changesByKey(merge) {
	const keying = profile.keyings[merge], { keyOf, labels } = keying, { changes } = profile;
	if (keying.changes) return keying.changes;
	const before = sumByKey(profile, changes.before, keyOf, labels.length);
	const after = sumByKey(profile, changes.after, keyOf, labels.length);
	const of = (what) => {
		const rows = { before: before[what], after: after[what], noise: new Float64Array(labels.length),
			verdict: Uint8Array.from(labels, (_, key) => usualVerdict(before[what][key], after[what][key])) };
		if (keying === comparedKeying())
			keyOf.forEach((key, location) => {
				rows.verdict[key] = changes[what].verdict[location];
				rows.noise[key] = changes[what].noise[location];
			});
		return rows;
	};
	return keying.changes = { self: of('self'), total: of('total') };
}

/* Those that changed, the largest change first; behind them the rest, the heaviest first. */
function rankChanges(rows, matches) {
	const { before, after, verdict } = rows, keys = [];
	const size = (key) => verdict[key] ? Math.abs(after[key] - before[key]) : Math.max(after[key], before[key]);
	for (let key = 0; key < before.length; key++)
		if ((before[key] || after[key]) && (!matches || matches[key])) keys.push(key);
	return keys.sort((a, b) => !verdict[a] - !verdict[b] || size(b) - size(a) || a - b);
}

/* ---- colour ---- */

/* Red is more, blue is less, deeper the more of the frame it is. */
function changeFill(verdict, before, after, dark) {
	if (verdict === SAME) return dark ? 'hsl(40 4% 30%)' : 'hsl(40 8% 87%)';
	const part = Math.sqrt(Math.abs(after - before) / Math.max(before, after));
	const hue = verdict === MORE || verdict === NEW ? 6 : 214;
	return dark ? `hsl(${hue} ${30 + 34 * part}% ${33 + 9 * part}%)` : `hsl(${hue} ${74 + 14 * part}% ${90 - 24 * part}%)`;
}

function fillOfChanges({ before, after, verdict }) {
	const dark = isDark();
	return (node) => changeFill(verdict[node], before.total[node], after.total[node], dark);
}

function changeLegend() {
	return [[MORE, 'more', 1, 2], [NEW, 'new', 0, 1], [LESS, 'less', 2, 1], [GONE, 'gone', 1, 0],
		[SAME, VERDICTS[SAME], 1, 1]].map(([verdict, text, before, after]) => {
		const item = make('span', 'kind'), dot = make('i', 'dot');
		dot.style.backgroundColor = changeFill(verdict, before, after, isDark());
		item.append(dot, make('span', '', text));
		return item;
	});
}

/* ---- in words ---- */

function pointsText(points) {
	const size = Math.abs(100 * points);
	return `${points < 0 ? '\u2212' : '+'}${size.toFixed(size < 0.1 ? 3 : size < 10 ? 2 : 1)}`;
}

/* 1: whole */
function changeText(before, after, verdict, noise) {
	const shares = `${percentText(before, 1)} before, ${percentText(after, 1)} after`;
	if (verdict === NEW || verdict === GONE) return `${shares}: ${VERDICTS[verdict]}`;
	const points = `${pointsText(after - before)} points`;
	return verdict ? `${shares}: ${points}` :
		`${shares}: ${before === after ? '' : `${points}, `}${VERDICTS[SAME]}${noise ? ` of ${(100 * noise).toFixed(2)}` : ''}`;
}

function wholeText({ whole, samples }) {
	const text = plural(samples, 'sample');
	return facts.diff.by_samples ? text : `${timeText(whole)} of ${modeOf(facts).time} (${text})`;
}

function changesStatus() {
	const { before, after } = facts.diff;
	return `100 % is each recording's own whole: ${wholeText(before)} before, ${wholeText(after)} after. ` +
		(PANEL[state.view] === 'table' ? 'Changes in points; grey ones are within the noise.' :
			`A frame is as wide as ${WIDTHS[state.view === 'sandwich' ? 'both' : measureNow()]}.`);
}

/* The least change of a share that is none by chance, in points. */
function usualNoise(share) {
	const { linear, square } = facts.diff, spread = share * (1 - share);
	return Math.sqrt(linear * spread + square * spread * spread);
}

function changesFigures({ diff }) {
	const what = diff.lines ? 'line' : 'function', span = ({ span_ns: ns }) => ns ? ` in ${timeText(ns)}` : '';
	const list = [
		figure(plural(diff.changed, `${what} changed`, `${what}s changed`),
			`of ${countText(diff.compared)}; the others are within the noise`),
		figure(`\u00b1${(100 * usualNoise(0.1)).toFixed(2)} points`,
			`is noise for what has 10 % (${diff.before.measured && diff.after.measured ?
				'measured on both recordings' : 'assumed: a file does not say when its samples were taken'})`),
		figure(plural(diff.before.samples, 'sample'), `before${span(diff.before)}`),
		figure(plural(diff.after.samples, 'sample'), `after${span(diff.after)}`),
	];
	if (diff.in_phases)
		list.push(figure(`${countText(diff.in_phases)} in phases`,
			'would be a change if both runs did the same at the same time'));
	return list;
}

function changesDetails({ diff }, add) {
	for (const side of ['before', 'after']) {
		add(side, diff[side].file);
		if (diff[side].title) add(`what was recorded ${side}`, diff[side].title);
		add(`100 % ${side}`, wholeText(diff[side]));
	}
}

/* As `sonde diff -f folded` has them. */
function changedAmount({ sides: { before, after } }) {
	const { after: { whole }, by_samples: isSamples } = facts.diff, unit = isSamples ? whole : whole / 1000;
	return (n) => {
		const both = [before.self[n], after.self[n]].map((share) => Math.round(share * unit));
		return both.some((value) => value > 0) ? both.join(' ') : '';
	};
}

/* ---- the table ---- */

function changeCell({ before, after, verdict, noise }, key) {
	const cell = make('td', 'number change'), change = after[key] - before[key];
	if (!before[key] && !after[key]) return cell;
	const points = make('b', verdict[key] === MORE || verdict[key] === NEW ? 'more' : verdict[key] ? 'less' : '',
		change ? pointsText(change) : '0');
	cell.title = changeText(before[key], after[key], verdict[key], noise[key]);
	cell.append(points, make('small', '', `${percentText(before[key], 1)} \u2192 ${percentText(after[key], 1)}`));
	return cell;
}
