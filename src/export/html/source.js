/* SPDX-License-Identifier: Apache-2.0
 * source.js - a file as it was when it was recorded, with the weight of each line.
 *
 * A line's total is the time in which it was on the stack at all, so lines do not add up; their self
 * times do. */

const MOST_LINES = 3000, LINES_AROUND = 20;

let revealed = '';     /* the file and line that last came into view by themselves */
let linesFound = null; /* the search in the file that is shown: its lines, or NULL: nothing is searched for */

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
	const rows = [], box = byId('source-scroll'), { scrollTop } = box;
	const isFound = findLines(lines);
	for (let line = 1, skipped = 0; line <= lines.length; line++) {
		if (!visible[line]) {
			skipped++;
			continue;
		}
		if (skipped) rows.push(gapRow(skipped));
		skipped = 0;
		rows.push(lineRow(line, lines[line - 1], sums, isFound.has(line)));
	}
	byId('source-lines').replaceChildren(...rows);
	const shownLines = visible.reduce((sum, n) => sum + n, 0);
	byId('source-note').textContent = `${countText(shownLines)} of ${plural(lines.length, 'line')} shown. ` +
		'A line counts as total whenever it is on the stack, so totals do not add up.';
	const row = rowOfLine(state.line);
	if (row) row.classList.add('wanted');
	box.scrollTop = scrollTop;
	const name = `${file} ${state.line}`;
	if (name !== revealed) revealLine(state.line || hottestLine(sums, lines.length));
	revealed = name;
}

function findLines(lines) {
	const wanted = state.query.toLowerCase();
	linesFound = !wanted ? null :
		lines.flatMap((text, i) => text.toLowerCase().includes(wanted) ? [i + 1] : []);
	for (const id of ['previous', 'next']) byId(id).disabled = !linesFound || !linesFound.length;
	return new Set(linesFound);
}

/* The found line before or behind the one of the address, round and round. */
function showFoundLine(step) {
	if (!linesFound || !linesFound.length) return;
	const line = step > 0 ? linesFound.find((n) => n > state.line) ?? linesFound[0] :
		linesFound.findLast((n) => n < state.line) ?? linesFound.at(-1);
	if (line === state.line) revealLine(line);
	else refine({ line, file: byId('file').value });
	say(`Line ${countText(line)}, ${countText(linesFound.indexOf(line) + 1)} of ${plural(linesFound.length, 'line')} found.`);
}

function gapRow(skipped) {
	const row = make('tr', 'gap'), cell = make('td', '', `${plural(skipped, 'line')} without samples`);
	cell.colSpan = 4;
	row.append(cell);
	return row;
}

function hottestLine(sums, count) {
	let line = 0;
	for (let n = 1, most = 0; n <= count; n++)
		if (sums.total[n] > most) most = sums.total[line = n];
	return line;
}

function rowOfLine(line) {
	return byId('source-lines').querySelector(`tr[data-line="${line}"]`);
}

function revealLine(line) {
	const row = rowOfLine(line), box = byId('source-scroll');
	if (row) box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 3);
}
