/* SPDX-License-Identifier: Apache-2.0
 * flame.js - the flame graph, drawn from the root down on a canvas as large as the window.
 *
 * The canvas stays where it is while its container scrolls (a graph may be 200,000 pixels
 * high; a canvas may not).  Frames narrower than a pixel are not drawn one by one: a thin bar
 * stands where they are, and drawnCount() says how many were. */

const ROW = 20, PAD = 5, LEAST_LABEL = 22, LONGEST_LABEL = 300;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

class Flame {
	/* labels: by key {name, place, kind, shade} */
	constructor(canvas, scroll, spacer) {
		Object.assign(this, { canvas, scroll, spacer, tree: null, labels: [], matches: null });
		this.context = canvas.getContext('2d');
		this.zoom = 0;
		this.focus = this.hover = -1;
		this.widths = new Map();
		this.dark = false;
		this.pending = false;
		scroll.addEventListener('scroll', () => this.redraw());
	}

	show(tree, labels) {
		this.tree = tree;
		this.labels = labels;
		this.zoom = 0;
		this.focus = this.hover = -1;
		this.matches = null;
		this.resize();
	}

	resize() {
		const ratio = window.devicePixelRatio || 1;
		this.width = this.scroll.clientWidth;
		this.height = this.scroll.clientHeight;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.canvas.style.width = `${this.width}px`;
		this.canvas.style.height = `${this.height}px`;
		this.ratio = ratio;
		this.measureRows();
		this.redraw();
	}

	/* As high as the deepest frame under the zoom. */
	measureRows() {
		const { depth, end } = this.tree;
		let deepest = 0;
		for (let n = this.zoom; n < end[this.zoom]; n++) deepest = Math.max(deepest, depth[n]);
		this.spacer.style.height = `${Math.max(0, (deepest + 1) * ROW - this.height)}px`;
	}

	setZoom(node) {
		this.zoom = node;
		this.measureRows();
		const top = this.tree.depth[node] * ROW;
		if (top < this.scroll.scrollTop || top > this.scroll.scrollTop + this.height - ROW)
			this.scroll.scrollTop = Math.max(0, top - 3 * ROW);
		this.redraw();
	}

	/* ---- places ---- */

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
		const row = Math.floor((y + this.scroll.scrollTop) / ROW);
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
		const top = this.tree.depth[node] * ROW, { scrollTop } = this.scroll;
		if (top < scrollTop) this.scroll.scrollTop = top;
		else if (top + ROW > scrollTop + this.height) this.scroll.scrollTop = top + ROW - this.height;
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
		const { context, canvas, ratio, height } = this, { scrollTop } = this.scroll;
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
		const last = Math.min(this.tree.rowCount, Math.ceil((scrollTop + height) / ROW));
		for (let row = Math.floor(scrollTop / ROW); row < last; row++)
			this.drawRow(row, row * ROW - scrollTop);
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
		const label = key < 0 ? this.root : this.labels[key];
		const isMatch = matches && key >= 0 && matches[key];
		context.globalAlpha = matches && !isMatch ? 0.4 :
			this.isAncestor(node) && node !== this.zoom ? 0.6 : 1;
		context.fillStyle = isMatch ? this.accent : fillOf(label.kind, label.shade, this.dark);
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
		const [left, right] = this.span(node), y = this.tree.depth[node] * ROW - this.scroll.scrollTop;
		if (right < 0 || left > this.width || (!isFocus && right - left < 1)) return;
		const { context } = this, x = Math.max(left, 0) + 0.5;
		context.strokeStyle = this.outline;
		context.lineWidth = isFocus ? 2 : 1;
		context.strokeRect(x, y + 0.5, Math.max(2, Math.min(right, this.width) - x - 1), ROW - 2);
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

	/* Cut at its end, with an ellipsis; "" when not even a letter fits. */
	fit(text, room) {
		if (text.length > LONGEST_LABEL) text = text.slice(0, LONGEST_LABEL) + '\u2026';
		const width = this.widthOf(text);
		if (width <= room) return text;
		for (let n = Math.floor(text.length * room / width); n > 0; n--) {
			if ((text.charCodeAt(n - 1) & 0xfc00) === 0xd800) continue; /* half a character */
			const cut = text.slice(0, n) + '\u2026';
			if (this.context.measureText(cut).width <= room) return cut;
		}
		return '';
	}
}
