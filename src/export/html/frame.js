/* SPDX-License-Identifier: Apache-2.0
 * frame.js - what is said about one frame: the tooltip, the line under the graph, the read-out.
 *
 * The tooltip follows a pointer, the line follows what was clicked and the keyboard.  On a narrow page
 * both are a sheet at the bottom, where a finger finds what can be done with the frame. */

function labelOf(flame, node) {
	const key = flame.tree.key[node];
	return key < 0 ? flame.rootLabel : flame.labels[key];
}

function frameLines(flame, node) {
	const label = labelOf(flame, node);
	return [
		['b', shorten(label.name, 600)],
		['span', shorten(label.where, 600)],
		['span', label.path && label.image ? `in ${shorten(label.image, 600)}` : ''],
		...(flame.tree.sides ? changeLines(flame, node) : valueLines(flame, node)),
		['small', kindText(label)],
	].filter(([, text]) => text);
}

function valueLines(flame, node) {
	const { total, self } = flame.tree;
	const share = (value) => `${percentText(value, shown.whole)}, ${amountText(value)}`;
	return [
		['span', flame.isCallers ? `${share(total[node])} by way of here` : `total ${share(total[node])}`],
		['span', flame.isCallers ? '' : `self ${share(self[node])}`],
	];
}

function changeLines(flame, node) {
	const { before, after, verdict } = flame.tree.sides, total = [before.total[node], after.total[node]];
	const text = changeText(...total, verdict[node], 0);
	const self = flame.isCallers ? '' :
		`self ${percentText(before.self[node], 1)} before, ${percentText(after.self[node], 1)} after`;
	return [['span', flame.isCallers ? `by way of here ${text}` : `total ${text}`], ['span', self]];
}

/* What can be done with a frame, as buttons. */
function frameActions(label) {
	if (label.function === undefined) return [];
	const actions = [];
	const add = (text, changes) => {
		const button = make('button', 'small', text);
		button.type = 'button';
		button.addEventListener('click', () => go(changes));
		actions.push(button);
	};
	if (state.view !== 'sandwich' || String(label.function) !== state.function)
		add('Callers, callees', { view: 'sandwich', function: String(label.function) });
	if (hasSource(label.path)) add('Source', { view: 'source', ...sourceAddress(label) });
	if (state.query !== label.name) add('Search', { query: label.name });
	return actions;
}

/* ---- the tooltip ---- */

function showTip(flame, node, x, y, isPinned) {
	const tip = byId('tip'), parts = frameLines(flame, node).map(([tag, text]) => make(tag, '', text));
	if (isPinned) {
		const box = make('div', 'actions');
		box.append(...frameActions(labelOf(flame, node)));
		parts.push(box);
	}
	tip.replaceChildren(...parts);
	tip.classList.toggle('pinned', Boolean(isPinned));
	tip.hidden = false;
	const left = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8);
	const below = y + 18 + tip.offsetHeight < window.innerHeight;
	tip.style.left = `${Math.max(8, left)}px`;
	tip.style.top = `${below ? y + 18 : Math.max(8, y - tip.offsetHeight - 12)}px`;
}

function hideTip() {
	byId('tip').hidden = true;
}

/* ---- the line under the graph ---- */

function showFrame(flame, node) {
	const line = byId('frame');
	line.hidden = node < 0;
	byId('hint').hidden = node >= 0;
	if (node < 0) return;
	const [[, name], ...rest] = frameLines(flame, node);
	line.replaceChildren(make('b', '', name), make('span', '', rest.map(([, text]) => text).join(' \u00b7 ')),
		...frameActions(labelOf(flame, node)));
}

function say(text) {
	byId('readout').textContent = text;
}

const hands = {
	point(flame, node, event) {
		if (node < 0) hideTip();
		else if (event.pointerType !== 'touch') showTip(flame, node, event.clientX, event.clientY);
	},
	focus(flame, node) {
		say(frameLines(flame, node).map(([, text]) => text).join(', '));
		showFrame(flame, node);
		if (isNarrow()) showTip(flame, node, ...flame.cornerOf(node), true);
		else hideTip(); /* the line under the graph has it, and hides nothing */
	},
	/* In the graph: a zoom.  In the sandwich: that function is its middle now. */
	open(flame, node) {
		if (flame.isZooming) return go({ zoom: flame.tree.raw[node] });
		const { function: number } = labelOf(flame, node);
		if (number !== undefined) go({ function: String(number) });
	},
};

function isNarrow() {
	return matchMedia('(max-width: 640px)').matches;
}
