/* SPDX-License-Identifier: Apache-2.0
 * source.js - a file as it was when it was recorded, with the weight of each line.
 *
 * A line's total is the time in which it was on the stack at all, so lines do not add up; their self
 * times do. */

const MOST_LINES = 3000, LINES_AROUND = 20;

function hasSource(path) {
	return Boolean(path) && profile.sourceOf.has(path);
}

/* By path, its number among the sources. */
function indexSources() {
	const { sources, texts } = profile;
	profile.sourceOf = new Map(Array.from(sources.path, (path, i) => [texts[path], i]));
}

function sourceAddress(label) {
	return { file: String(profile.sourceOf.get(label.path)), line: label.line || 0 };
}

/* Self and total of each line of a file; at 0 stands what is not in it. */
function sumLines(path, lineCount) {
	const { locations, labels } = profile;
	const keyOf = Uint32Array.from(locations.line, (line, l) =>
		line <= lineCount && labels[locations.function[l]].path === path ? line : 0);
	const key = `source ${path}`;
	return shown.sums[key] ??= sumByKey(profile, shown.nodes, keyOf, lineCount + 1);
}

/* Self and total of each file, for the choice of files. */
function sumFiles() {
	const { locations, labels, sourceOf, sources } = profile;
	const keyOf = Uint32Array.from(locations.function, (f) => sourceOf.get(labels[f].path) ?? sources.count);
	return shown.sums.files ??= sumByKey(profile, shown.nodes, keyOf, sources.count + 1);
}

/* Lines to show: all of them, or those around what was seen. */
function linesToShow(sums, count, wanted) {
	const visible = new Uint8Array(count + 1);
	if (count <= MOST_LINES) return visible.fill(1, 1);
	for (let line = 1; line <= count; line++)
		if (sums.total[line] || line === wanted || line === 1)
			visible.fill(1, Math.max(1, line - LINES_AROUND), line + LINES_AROUND + 1);
	return visible;
}

function lineRow(number, text, sums, matches) {
	const row = make('tr', sums.total[number] ? 'warm' : ''), heat = sums.total[number] / (shown.whole || 1);
	const cell = (value) => make('td', 'number', value ? percentText(value, shown.whole) : '');
	if (heat) row.style.setProperty('--heat', `${Math.round(6 + 34 * Math.sqrt(heat))}%`);
	row.dataset.line = number;
	row.append(cell(sums.self[number]), cell(sums.total[number]), make('th', '', String(number)),
		make('td', matches ? 'code match' : 'code', shorten(text, 1000)));
	if (sums.total[number])
		row.title = `self ${amountText(sums.self[number])}, total ${amountText(sums.total[number])}`;
	return row;
}

function fillFiles(chosen) {
	const { sources, texts } = profile, sums = sumFiles(), select = byId('file');
	const order = [...Array(sources.count).keys()].sort((a, b) => sums.self[b] - sums.self[a] || a - b);
	select.replaceChildren(...order.map((i) => {
		const text = `${percentText(sums.self[i], shown.whole)} self: ${shorten(texts[sources.path[i]], 120)}`;
		const option = make('option', '', text);
		option.value = String(i);
		return option;
	}));
	const file = chosen >= 0 ? chosen : order[0];
	select.value = String(file);
	return file;
}

function showSource() {
	const { sources, texts } = profile, file = fillFiles(numberIn(state.file, sources.count));
	const path = texts[sources.path[file]], lines = sources.text[file].replace(/\n$/, '').split('\n');
	const sums = sumLines(path, lines.length), visible = linesToShow(sums, lines.length, state.line);
	const wanted = state.query.toLowerCase(), rows = [];
	for (let line = 1, skipped = 0; line <= lines.length; line++) {
		if (!visible[line]) {
			skipped++;
			continue;
		}
		if (skipped) rows.push(gapRow(skipped));
		skipped = 0;
		const text = lines[line - 1];
		rows.push(lineRow(line, text, sums, wanted && text.toLowerCase().includes(wanted)));
	}
	byId('source-lines').replaceChildren(...rows);
	const shownLines = visible.reduce((sum, n) => sum + n, 0);
	byId('source-note').textContent = `${countText(shownLines)} of ${plural(lines.length, 'line')} shown. ` +
		'A line counts as total whenever it is on the stack, so totals do not add up.';
	revealLine(sums, lines.length);
}

function gapRow(skipped) {
	const row = make('tr', 'gap'), cell = make('td', '', `${plural(skipped, 'line')} without samples`);
	cell.colSpan = 4;
	row.append(cell);
	return row;
}

/* The line of the address, or the hottest one, comes into view. */
function revealLine(sums, count) {
	let line = state.line;
	for (let n = 1, most = 0; n <= count && !state.line; n++)
		if (sums.total[n] > most) most = sums.total[line = n];
	const row = byId('source-lines').querySelector(`tr[data-line="${line}"]`);
	if (!row) return;
	if (state.line) row.classList.add('wanted');
	const box = byId('source-scroll');
	box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 3);
}
