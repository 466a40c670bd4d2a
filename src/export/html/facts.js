/* SPDX-License-Identifier: Apache-2.0
 * facts.js - what was recorded, what was lost and what it cost, in words. */

/* ---- numbers ---- */

const WHOLE = new Intl.NumberFormat('en-US');

function countText(n) {
	return WHOLE.format(n);
}

function plural(n, word, words = `${word}s`) {
	return `${countText(n)} ${n === 1 ? word : words}`;
}

function timeText(ns) {
	if (!ns) return '0 s';
	const [scale, unit] = ns >= 1e9 ? [1e9, 's'] : ns >= 1e6 ? [1e6, 'ms'] : [1e3, '\u00b5s'];
	const value = ns / scale;
	return `${value >= 100 ? countText(Math.round(value)) : value.toPrecision(3)} ${unit}`;
}

/* A moment since the start; as many digits as tell moments of so long a time apart. */
function momentText(ns, whole) {
	const seconds = ns / 1e9, digits = whole < 2e8 ? 4 : whole < 2e9 ? 3 : whole < 2e10 ? 2 : 1;
	if (whole < 3e11) return `${seconds.toFixed(digits)} s`;
	const minutes = Math.floor(seconds / 60), rest = Math.floor(seconds % 60);
	const clock = `${minutes % 60}`.padStart(2, '0') + `:${rest}`.replace(/:(\d)$/, ':0$1');
	return `${Math.floor(minutes / 60)}:${clock}`;
}

function percentText(part, whole) {
	if (!whole || !part) return '0 %';
	const percent = 100 * part / whole;
	if (percent > 0 && percent < 0.01) return '< 0.01 %';
	return `${percent >= 99.95 && part < whole ? '99.9' : percent.toFixed(percent < 1 ? 2 : 1)} %`;
}

/* ---- elements; text only ever becomes text ---- */

function byId(id) {
	return document.getElementById(id);
}

function make(tag, className, text) {
	const element = document.createElement(tag);
	if (className) element.className = className;
	if (text !== undefined) element.textContent = text;
	return element;
}

/* ---- the first screen ---- */

/* time: what is weighed; title: the heading, else that; look: what becomes a sample, where no clock asks for it. */
const MODES = {
	cpu: { time: 'CPU time' },
	wall: { time: 'wall time' },
	gvl: { time: 'time holding the VM lock' },
	exception: { time: 'time with an exception' },
	offcpu: { time: 'time off the CPU', look: ['wait', 'waits', 'times that a thread left its CPU'] },
	event: { time: 'time in system calls', title: 'Traced events', look: ['hit', 'hits', 'hits of what was traced'] },
};
const LOOK = ['look', 'looks', 'looks whose time had come (one look at one process each)'];

function capital(text) {
	return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/* In the words of the file, when it is another profiler's. */
function modeOf({ mode, weight_type: weight, count_type: count, count_unit: unit }) {
	if (weight) return { time: weight, title: `${weight} (nanoseconds)` };
	if (count) return { time: 'time', title: `${count} (${unit})` };
	if (!Object.hasOwn(MODES, mode)) return { time: 'time', title: mode || 'Samples' };
	return { title: capital(MODES[mode].time), ...MODES[mode] };
}

function bytesText(n) {
	const [scale, unit] = n >= 1e9 ? [1e9, 'GB'] : n >= 1e6 ? [1e6, 'MB'] : n >= 1e3 ? [1e3, 'kB'] : [1, ''];
	return unit ? `${(n / scale).toPrecision(n / scale >= 100 ? 4 : 3)} ${unit}` : plural(n, 'byte');
}

/* So many of what is counted: samples, unless the file says what. */
function amountOfCount(n, { count_type: type, count_unit: unit } = facts) {
	if (!type) return plural(n, 'sample');
	return unit === 'bytes' ? bytesText(n) : `${countText(n)} ${unit === 'count' ? type : unit}`;
}

/* Rows of [key, value, words]; the exporter ends its lists with an empty one. */
function rowsByKey(rows) {
	const byKey = {};
	for (const [key, value, words] of rows) if (key) byKey[key] = { value, words };
	return byKey;
}

function figure(value, words, isBad) {
	const item = make('span', isBad ? 'figure bad' : 'figure');
	item.append(make('b', '', value), make('span', '', words));
	return item;
}

/* Waits and events come when they come: a rate would be of something else. */
function hasRate(facts) {
	return facts.hz > 0 && !modeOf(facts).look;
}

function summaryText(facts) {
	const parts = [modeOf(facts).title];
	if (hasRate(facts)) parts.push(`${facts.hz} Hz`);
	if (facts.duration_ns) parts.push(timeText(facts.duration_ns));
	if (facts.start_ms)
		parts.push(`${new Date(facts.start_ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`);
	return parts.join(', ');
}

function lossFigure(facts) {
	const causes = facts.losses.filter(([key, value]) => key && value > 0);
	const lost = causes.reduce((sum, [, value]) => sum + value, 0);
	const looks = `of ${plural(facts.expected, ...(modeOf(facts).look ?? LOOK))}`;
	if (!lost) return figure('0 lost', looks);
	const words = causes.map(([, value, text]) => `${countText(value)}: ${text}`).join('; ');
	return figure(`${countText(lost)} lost`, `${looks} (${words})`, lost > 0.01 * facts.expected);
}

/* What a reader should know only when it happened. */
const IF_ANY = ['truncated', 'starting', 'unnamed', 'pause_failed'];

function extentText({ threads, processes, expected }) {
	const of = [];
	if (threads || expected) of.push(`of ${plural(threads, 'thread')}`);
	if (processes || expected) of.push(`in ${plural(processes, 'process', 'processes')}`);
	return of.join(' ') || 'in this file';
}

function qualityFigures(facts) {
	const counts = rowsByKey(facts.counts), list = [];
	const of = (key) => counts[key] ? counts[key].value : 0;
	list.push(figure(amountOfCount(facts.samples, facts), extentText(facts)));
	if (!facts.expected) return list; /* nobody wrote down how good it is */
	if (hasRate(facts))
		list.push(figure(`${(facts.hz * facts.taken / facts.expected).toFixed(1)} Hz`,
			`achieved of ${facts.hz} Hz asked for`, facts.taken < 0.95 * facts.expected));
	list.push(lossFigure(facts));
	const moving = of('moving');
	list.push(figure(`${percentText(moving, of('samples'))} [moving]`,
		'innermost frames changed while being read', moving > 0.05 * of('samples')));
	for (const key of IF_ANY)
		if (of(key))
			list.push(figure(countText(of(key)), counts[key].words, of(key) > 0.01 * of('samples')));
	if (facts.duration_ns)
		list.push(figure(`${percentText(facts.own_cpu_ns, facts.duration_ns)} of a core`,
			'was the cost of sonde itself'));
	return list;
}

function showFacts(facts) {
	byId('title').textContent = facts.title || 'profile';
	byId('summary').textContent = facts.diff ? `${facts.diff.by_samples ? 'Samples' : modeOf(facts).title}, compared` :
		summaryText(facts);
	byId('quality').replaceChildren(...facts.diff ? changesFigures(facts) : qualityFigures(facts));
	const warnings = [];
	if (facts.warning) warnings.push(facts.warning);
	if (facts.incomplete) warnings.push('sonde ran out of memory: something is missing here');
	byId('warning').textContent = warnings.join('; ');
	byId('warning').hidden = !warnings.length;

	const list = byId('counts');
	const add = (words, value) => list.append(make('dt', '', words), make('dd', '', value));
	if (facts.diff) changesDetails(facts, add);
	else recordDetails(facts, add);
}

function recordDetails(facts, add) {
	if (facts.command) add('command', facts.command);
	add('written by', `sonde ${facts.version}${facts.engine ? `, engine ${facts.engine}` : ''}`);
	if (!facts.expected) return;
	add((modeOf(facts).look ?? LOOK)[2], countText(facts.expected));
	add('of these, taken', countText(facts.taken));
	for (const [key, value, words] of facts.losses)
		if (key) add(`lost: ${words}`, countText(value));
	for (const [key, value, words] of facts.counts)
		if (key) add(words, key.endsWith('_ns') ? timeText(value) : countText(value));
	add('CPU time of sonde itself', timeText(facts.own_cpu_ns));
}
