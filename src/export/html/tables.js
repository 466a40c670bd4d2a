/* SPDX-License-Identifier: Apache-2.0
 * tables.js - the hottest functions and the hottest lines. */

const MOST_ROWS = 300;

/* keys with time, sorted by "self" or "total", heaviest first */
function rankKeys(sums, by, matches) {
	const keys = [], other = by === 'self' ? 'total' : 'self';
	for (let key = 0; key < sums.total.length; key++)
		if (sums.total[key] > 0 && (!matches || matches[key])) keys.push(key);
	return keys.sort((a, b) =>
		sums[by][b] - sums[by][a] || sums[other][b] - sums[other][a] || a - b);
}

function shareCell(value, whole, amount) {
	const cell = make('td', 'number'), bar = make('i', 'bar');
	bar.style.width = `${whole ? 100 * value / whole : 0}%`;
	cell.append(bar, make('span', '', percentText(value, whole)), make('small', '', amount));
	return cell;
}

/* view: {keys: in their order, cells(key): of self and total, labels, onPick(key)} */
function showTable(view) {
	const { keys } = view, rows = byId('rows');
	rows.replaceChildren();
	for (const key of keys.slice(0, MOST_ROWS)) {
		const label = view.labels[key], row = make('tr'), name = make('td', 'name');
		const box = make('div'), dot = make('i', 'dot'), pick = make('button', 'link', shorten(label.name));
		dot.style.backgroundColor = swatchOf(label.tone.kind, isDark());
		dot.title = kindText(label);
		pick.type = 'button';
		pick.title = 'Show in the flame graph';
		pick.addEventListener('click', () => view.onPick(key));
		box.append(dot, pick);
		name.append(box);
		const place = make('td', 'place'), where = make('span', '', shorten(label.where));
		const actions = make('span', 'actions');
		actions.append(...frameActions(label).slice(0, hasSource(label.path) ? 2 : 1));
		place.append(where, actions);
		row.append(...view.cells(key), name, place);
		rows.append(row);
	}
	const shown = Math.min(keys.length, MOST_ROWS);
	byId('more').textContent = keys.length > shown ?
		`${countText(shown)} of ${countText(keys.length)} rows shown; a search narrows them.` :
		`${plural(shown, 'row')}, all of them.`;
}

/* A name may have thousands of characters; whoever wants the rest finds it in the tooltip. */
function shorten(text, most = 400) {
	return text.length > most ?
		`${text.slice(0, most)}\u2026 (${countText(text.length)} characters)` : text;
}
