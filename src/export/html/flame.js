/* SPDX-License-Identifier: Apache-2.0
 * flame.js - a flame graph, its root above or below, on a canvas as large as the window.
 *
 * The canvas stays where it is while its container scrolls (a graph may be 200,000 pixels
 * high; a canvas may not).  Frames narrower than a pixel are not drawn one by one: a thin bar
 * stands where they are, and drawnCount() says how many were.  It knows frames and keys of a tree;
 * what opening one means is its owner's. */

const ROW = 20, PAD = 5, LEAST_LABEL = 22, LONGEST_LABEL = 300;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/* Cut at its end, with an ellipsis; "" when not even a letter fits. */
function fitText(context, text, room, width = context.measureText(text).width) {
	if (width <= room) return text;
	for (let n = Math.floor(text.length * room / width); n > 0; n--) {
		if ((text.charCodeAt(n - 1) & 0xfc00) === 0xd800) continue; /* half a character */
		const cut = text.slice(0, n) + '\u2026';
		if (context.measureText(cut).width <= room) return cut;
	}
	return '';
}

class Flame {
	/* labels: by key {name, place, tone}; `on`: what it asks its owner to do:
	 *   point(flame, node, event)   the pointer is on a frame, or (-1) on none
	 *   focus(flame, node)          the keyboard or a click chose a frame
	 *   open(flame, node)           Enter, a click, a finger's second tap */
	constructor(canvas, scroll, spacer, on) {
		Object.assign(this, { canvas, scroll, spacer, on, tree: null, labels: [], matches: null });
		this.context = canvas.getContext('2d');
		this.zoom = 0;
		this.focus = this.hover = -1;
		this.widths = new Map();
		this.fillOf = null;   /* by node; else a frame has its label's colour */
		this.isUp = false;    /* the root at the bottom */
		this.paperHeight = 0; /* on paper, as high as this, not as the window */
		this.pending = false;
		this.listen();
	}

	show(tree, labels) {
		this.tree = tree;
		this.labels = labels;
		this.zoom = 0;
		this.focus = this.hover = -1;
		this.matches = null;
		this.resize();
		this.home();
	}

	turn(isUp) {
		if (isUp === this.isUp) return;
		this.isUp = isUp;
		this.home();
		this.redraw();
	}

	/* To where the root is. */
	home() {
		this.scroll.scrollTop = this.isUp ? this.scroll.scrollHeight : 0;
	}

	/* What stands at the root's side stays there. */
	resize() {
		const below = this.isUp && this.full ? this.full - this.height - this.scroll.scrollTop : 0;
		const ratio = window.devicePixelRatio || 1;
		this.width = this.scroll.clientWidth;
		this.height = this.paperHeight || this.scroll.clientHeight;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.width = `${this.width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.ratio = ratio;
		this.measureRows();
		if (this.isUp) this.scroll.scrollTop = this.full - this.height - below;
		this.redraw();
	}

	/* As high as the deepest frame under the zoom. */
	measureRows() {
		const { depth, end } = this.tree;
		let deepest = 0;
		for (let n = this.zoom; n < end[this.zoom]; n++) deepest = Math.max(deepest, depth[n]);
		this.deepest = deepest;
		this.full = Math.max(this.height, this.rowsHeight());
		this.spacer.style.height = `${this.full - this.height}px`;
	}

	rowsHeight() {
		return (this.deepest + 1) * ROW;
	}

	setZoom(node) {
		this.zoom = node;
		this.measureRows();
		const top = this.topOf(this.tree.depth[node]);
		if (top < 0 || top > this.height - ROW)
			this.scroll.scrollTop += this.isUp ? top - this.height + 4 * ROW : top - 3 * ROW;
		this.redraw();
	}

	/* ---- places ---- */

	/* Where a row is in the window, from the top of the canvas; and the row there. */
	topOf(row) {
		return (this.isUp ? this.full - (row + 1) * ROW : row * ROW) - this.scroll.scrollTop;
	}

	rowAt(y) {
		const below = y + this.scroll.scrollTop;
		return Math.floor((this.isUp ? this.full - below : below) / ROW);
	}

	isAncestor(node) {
		return node <= this.zoom && this.tree.end[node] > this.zoom;
	}

	/* [left, right] in pixels; outside of the window for frames beside the zoom. */
	span(node) {
		if (this.isAncestor(node)) return [0, this.width];
		const { start, total } = this.tree;
		const scale = this.width / total[this.zoom], left = (start[node] - start[this.zoom]) * scale;
		return [left, left + total[node] * scale];
	}

	/* The part of a row that stands on the zoomed frame: positions in tree.rows. */
	rowRange(row) {
		const { rowFirst, rows, end } = this.tree;
		const find = (from, to, limit) => {
			while (from < to) {
				const middle = (from + to) >> 1;
				if (rows[middle] < limit) from = middle + 1;
				else to = middle;
			}
			return from;
		};
		const first = find(rowFirst[row], rowFirst[row + 1], this.zoom);
		return [first, find(first, rowFirst[row + 1], end[this.zoom])];
	}

	nodeAt(x, y) {
		const { depth, parent, rowCount, rows } = this.tree;
		const row = this.rowAt(y);
		if (row < 0 || row >= rowCount) return -1;
		if (row <= depth[this.zoom]) {
			let node = this.zoom;
			while (depth[node] > row) node = parent[node];
			return node;
		}
		let [from, to] = this.rowRange(row);
		while (from < to) {
			const middle = (from + to) >> 1;
			if (this.span(rows[middle])[1] <= x) from = middle + 1;
			else to = middle;
		}
		if (from === this.rowRange(row)[1]) return -1;
		const [left, right] = this.span(rows[from]);
		return x >= left && x < right ? rows[from] : -1;
	}

	/* [drawn, all] frames of the zoomed subtree. A frame is never wider than its parent. */
	drawnCount() {
		const { end, total } = this.tree, least = total[this.zoom] / this.width;
		let drawn = 0;
		for (let n = this.zoom; n < end[this.zoom];) {
			if (total[n] < least) {
				n = end[n];
			} else {
				drawn++;
				n++;
			}
		}
		return [drawn, end[this.zoom] - this.zoom];
	}

	/* Scrolls so that the frame can be seen. */
	reveal(node) {
		const top = this.topOf(this.tree.depth[node]);
		if (top < 0) this.scroll.scrollTop += top;
		else if (top + ROW > this.height) this.scroll.scrollTop += top + ROW - this.height;
	}

	/* Where a tooltip of the frame belongs, in the window. */
	cornerOf(node) {
		const box = this.canvas.getBoundingClientRect();
		return [box.left + Math.max(0, this.span(node)[0]), box.top + this.topOf(this.tree.depth[node]) + ROW - 10];
	}

	/* ---- drawing ---- */

	redraw() {
		if (this.pending) return;
		this.pending = true;
		requestAnimationFrame(() => {
			this.pending = false;
			this.draw();
		});
	}

	draw() {
		if (!this.tree || !this.width) return;
		const { context, canvas, ratio, height } = this;
		const style = getComputedStyle(canvas);
		this.ink = style.getPropertyValue('--frame-ink');
		this.soft = style.getPropertyValue('--frame-soft');
		this.accent = style.getPropertyValue('--match');
		this.accentInk = style.getPropertyValue('--match-ink');
		this.dust = style.getPropertyValue('--dust');
		this.outline = style.getPropertyValue('--ink');
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, this.width, height);
		context.font = FONT;
		context.textBaseline = 'middle';
		context.direction = 'ltr';
		const ends = [this.rowAt(0), this.rowAt(height)].sort((x, y) => x - y);
		for (let row = Math.max(0, ends[0]); row <= ends[1] && row < this.tree.rowCount; row++)
			this.drawRow(row, this.topOf(row));
		for (const node of [this.hover, this.focus]) this.drawOutline(node, node === this.focus);
	}

	drawRow(row, y) {
		const { depth, parent, rows } = this.tree;
		if (row < depth[this.zoom]) {
			let node = this.zoom;
			while (depth[node] > row) node = parent[node];
			this.drawFrame(node, 0, this.width, y);
			return;
		}
		const [from, to] = this.rowRange(row);
		let dust = 0, dustEnd = -1; /* frames too narrow for themselves, side by side */
		for (let i = from; i < to; i++) {
			const [left, right] = this.span(rows[i]);
			if (right - left >= 1) {
				this.drawFrame(rows[i], left, right, y);
			} else if (dustEnd >= 0 && left - dustEnd < 0.5) {
				dustEnd = right;
			} else {
				this.drawDust(dust, dustEnd, y);
				dust = left;
				dustEnd = right;
			}
		}
		this.drawDust(dust, dustEnd, y);
	}

	drawDust(left, right, y) {
		if (right < 0) return;
		this.context.fillStyle = this.dust;
		this.context.fillRect(left, y + ROW / 2 - 2, Math.max(0.5, right - left), 3);
	}

	drawFrame(node, left, right, y) {
		const { context, matches } = this, key = this.tree.key[node];
		const width = right - left, inner = width > 3 ? width - 1 : width;
		const label = key < 0 ? this.rootLabel : this.labels[key];
		const isMatch = matches && key >= 0 && matches[key];
		context.globalAlpha = matches && !isMatch ? 0.4 :
			this.isAncestor(node) && node !== this.zoom ? 0.6 : 1;
		context.fillStyle = isMatch ? this.accent : this.fillOf ? this.fillOf(node) : label.tone.fill;
		context.fillRect(left, y, inner, ROW - 1);
		if (inner >= LEAST_LABEL)
			this.drawLabel(label, left + PAD, inner - 2 * PAD, y + ROW / 2, isMatch);
		context.globalAlpha = 1;
	}

	/* The name first and whole if it fits; the place only in what is left. */
	drawLabel(label, x, room, y, isMatch) {
		const { context } = this, name = this.fit(label.name, room);
		context.fillStyle = isMatch ? this.accentInk : this.ink;
		context.fillText(name, x, y);
		const used = this.widthOf(name) + 8;
		if (!label.place || name.endsWith('\u2026') || room - used < 36) return;
		context.fillStyle = isMatch ? this.accentInk : this.soft;
		context.fillText(this.fit(label.place, room - used), x + used, y);
	}

	drawOutline(node, isFocus) {
		if (node < 0 || node >= this.tree.count) return;
		const [left, right] = this.span(node), y = this.topOf(this.tree.depth[node]);
		if (right < 0 || left > this.width || (!isFocus && right - left < 1)) return;
		const { context } = this, x = Math.max(left, 0) + 0.5;
		context.strokeStyle = this.outline;
		context.lineWidth = isFocus ? 2 : 1;
		context.strokeRect(x, y + 0.5, Math.max(2, Math.min(right, this.width) - x - 1), ROW - 2);
	}

	/* ---- hands ---- */

	/* The frame beside: the next one in its row that can be seen under the zoom. */
	neighbour(node, step) {
		const { rows, depth } = this.tree;
		if (depth[node] <= depth[this.zoom]) return node;
		const [from, to] = this.rowRange(depth[node]);
		let i = from;
		while (i < to && rows[i] !== node) i++;
		for (i += step; i >= from && i < to; i += step) {
			const [left, right] = this.span(rows[i]);
			if (right - left >= 1) return rows[i];
		}
		return node;
	}

	/* The frame inside: the heaviest, but on the way to the zoom the one that leads there. */
	childOf(node) {
		const { parent, end } = this.tree;
		if (node === this.zoom || !this.isAncestor(node)) return node + 1 < end[node] ? node + 1 : node;
		let child = this.zoom;
		while (parent[child] !== node) child = parent[child];
		return child;
	}

	/* The frame that a key leads to, or -1. */
	stepOf(key, node) {
		const { parent } = this.tree;
		switch (key) {
		case this.isUp ? 'ArrowUp' : 'ArrowDown': return this.childOf(node);
		case this.isUp ? 'ArrowDown' : 'ArrowUp': return Math.max(0, parent[node]);
		case 'ArrowLeft': return this.neighbour(node, -1);
		case 'ArrowRight': return this.neighbour(node, 1);
		case 'Home': return this.zoom;
		default: return -1;
		}
	}

	focusOn(node) {
		this.focus = node;
		this.reveal(node);
		this.redraw();
		this.on.focus(this, node);
	}

	onKey(event) {
		if (event.ctrlKey || event.metaKey || event.altKey || !this.tree) return;
		const node = this.focus < 0 ? this.zoom : this.focus, next = this.stepOf(event.key, node);
		if (event.key === 'Enter' && this.focus >= 0) this.on.open(this, node);
		else if (next >= 0) this.focusOn(this.focus < 0 ? node : next);
		else return;
		event.preventDefault();
	}

	onPoint(event) {
		const box = this.canvas.getBoundingClientRect();
		const node = this.nodeAt(event.clientX - box.left, event.clientY - box.top);
		if (node !== this.hover) {
			this.hover = node;
			this.redraw();
		}
		this.on.point(this, node, event);
		this.canvas.classList.toggle('pointing', node >= 0);
		return node;
	}

	/* A finger has no hover: its first tap shows the frame, the second opens it. */
	onClick(event) {
		const node = this.onPoint(event), isSecond = node === this.focus;
		if (node < 0) return;
		const isFinger = event.pointerType === 'touch';
		this.focus = node;
		this.redraw();
		if (isFinger && !isSecond) this.on.focus(this, node);
		else this.on.open(this, node);
	}

	listen() {
		const { canvas } = this;
		this.scroll.addEventListener('scroll', () => this.redraw());
		canvas.addEventListener('keydown', (event) => this.onKey(event));
		canvas.addEventListener('pointermove', (e) => e.pointerType !== 'touch' && this.onPoint(e));
		canvas.addEventListener('click', (event) => this.onClick(event));
		canvas.addEventListener('pointerleave', (event) => {
			if (event.pointerType === 'touch') return;
			this.hover = -1;
			this.on.point(this, -1, event);
			this.redraw();
		});
		new ResizeObserver(() => {
			const { clientWidth, clientHeight } = this.scroll, ratio = window.devicePixelRatio || 1;
			const isNew = clientWidth !== this.width || ratio !== this.ratio ||
				(clientHeight !== this.height && !this.paperHeight);
			if (this.tree && clientWidth && isNew) this.resize();
		}).observe(this.scroll);
	}

	/* ---- text ---- */

	widthOf(text) {
		let width = this.widths.get(text);
		if (width === undefined) {
			if (this.widths.size > 50000) this.widths.clear();
			this.widths.set(text, width = this.context.measureText(text).width);
		}
		return width;
	}

	fit(text, room) {
		if (text.length > LONGEST_LABEL) text = text.slice(0, LONGEST_LABEL) + '\u2026';
		return fitText(this.context, text, room, this.widthOf(text));
	}
}
