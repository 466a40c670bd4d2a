/* SPDX-License-Identifier: Apache-2.0
 * strip.js - the activity of each thread over time; a drag selects a span of it.
 *
 * A row is a thread, the busiest first; its height is its share of the busiest moment of any.
 * Slots are the profile's; a bar shows the mean of those under it.  It is wide enough for some samples
 * of the busiest thread: a bar for each single one would show the sampling, not the thread. */

const SAMPLES_OF_BAR = 5, LEAST_BARS = 24;
const STRIP_ROW = 19, STRIP_AXIS = 17, STRIP_FONT = FONT.replace('12px', '11px');

/* By thread: what it measures in each slot. */
function activityOf({ entries, moments, threads }, measure) {
	const rows = Array.from({ length: threads.threads }, () => new Float64Array(moments.slots));
	const { first, slot, samples } = moments;
	for (let t = 0; t < threads.threads; t++)
		for (let e = entries.first[t]; e < entries.first[t + 1]; e++) {
			const each = measure === 'weight' ? entries.weight[e] / entries.samples[e] : 1;
			for (let i = first[e]; i < first[e + 1]; i++) rows[t][slot[i]] += each * samples[i];
		}
	return rows;
}

const CLOCK_STEPS = [60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200];

/* At most `most` steps of seconds: 1, 2 or 5 times a power of ten, or what clocks have; days then. */
function niceStep(whole, most) {
	const least = whole / most, power = 10 ** Math.floor(Math.log10(least));
	if (whole >= 300 && least > 30)
		return CLOCK_STEPS.find((n) => n >= least) ?? 86400 * Math.ceil(least / 86400);
	return power * [1, 2, 5, 10].find((n) => n * power >= least * 0.999999);
}

class Strip {
	/* on.span([from, to] or null), on.thread(t), on.say(text) */
	constructor(canvas, moments, on) {
		Object.assign(this, { canvas, moments, on, rows: [], span: null, drag: null });
		this.context = canvas.getContext('2d');
		this.cursor = 0;
		this.row = 0;
		this.isFocused = false;
		this.pending = false;
		this.listen();
	}

	/* rows: [{thread, name, values: by slot, samples: in all, isChosen}] */
	show(rows, span) {
		this.rows = rows;
		this.span = span;
		this.row = Math.min(this.row, Math.max(0, rows.length - 1));
		this.resize();
	}

	resize() {
		const ratio = window.devicePixelRatio || 1, width = this.canvas.parentElement.clientWidth;
		const height = this.rows.length * STRIP_ROW + STRIP_AXIS;
		if (!width) return;
		this.width = width;
		this.left = Math.min(150, Math.round(width * 0.24));
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.canvas.style.width = `${width}px`;
		this.canvas.style.height = `${height}px`;
		this.ratio = ratio;
		this.measure();
		this.redraw();
	}

	/* The bars of each row, and the highest of all. */
	measure() {
		const { slots } = this.moments, most = this.rows.reduce((n, row) => Math.max(n, row.samples), 0);
		const bars = Math.round(Math.min(slots, this.width - this.left, Math.max(LEAST_BARS, most / SAMPLES_OF_BAR)));
		this.peak = 0;
		for (const row of this.rows) {
			row.bars = new Float64Array(Math.max(1, bars));
			for (let b = 0; b < row.bars.length; b++) {
				const from = Math.floor(b * slots / row.bars.length);
				const to = Math.floor((b + 1) * slots / row.bars.length);
				for (let s = from; s < to; s++) row.bars[b] += row.values[s] / (to - from);
				this.peak = Math.max(this.peak, row.bars[b]);
			}
		}
	}

	/* ---- places ---- */

	slotAt(x) {
		const slot = (x - this.left) / (this.width - this.left) * this.moments.slots;
		return Math.max(0, Math.min(this.moments.slots, slot));
	}

	xOf(slot) {
		return this.left + slot / this.moments.slots * (this.width - this.left);
	}

	timeOf(slot) {
		return momentText(slot * this.moments.slotNs, this.moments.slots * this.moments.slotNs);
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
		const { context, canvas, ratio } = this, style = getComputedStyle(canvas);
		const colour = (name) => style.getPropertyValue(name);
		if (!this.width) return;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, this.width, canvas.height);
		context.font = STRIP_FONT;
		context.textBaseline = 'middle';
		this.rows.forEach((row, i) => this.drawRow(row, i, colour));
		this.drawAxis(colour);
		this.drawSpan(colour);
	}

	drawRow(row, i, colour) {
		const { context } = this, base = STRIP_AXIS + (i + 1) * STRIP_ROW - 1;
		context.fillStyle = colour(row.isChosen ? '--ink' : '--soft');
		context.globalAlpha = row.isChosen ? 1 : 0.6;
		context.fillText(fitText(context, row.name, this.left - 12), 0, base - STRIP_ROW / 2 + 1);
		context.fillStyle = colour('--line');
		context.fillRect(this.left, base, this.width - this.left, 1);
		context.fillStyle = colour(row.isChosen ? '--activity' : '--dust');
		const scale = this.peak ? (STRIP_ROW - 4) / this.peak : 0;
		const width = (this.width - this.left) / row.bars.length;
		for (let b = 0; b < row.bars.length; b++) {
			const height = row.bars[b] * scale, left = Math.round(this.left + b * width);
			if (height) context.fillRect(left, base - height, Math.round(this.left + (b + 1) * width) - left, height);
		}
		context.globalAlpha = 1;
	}

	drawAxis(colour) {
		const { context } = this, { slots, slotNs } = this.moments, whole = slots * slotNs / 1e9;
		const step = niceStep(whole, Math.max(2, (this.width - this.left) / 90));
		context.fillStyle = colour('--soft');
		for (let n = 0; n * step <= whole; n++) {
			const x = this.xOf(n * step * 1e9 / slotNs), text = whole < 300 ?
				`${Number((n * step).toPrecision(6))} s` : momentText(n * step * 1e9, whole * 1e9);
			const width = context.measureText(text).width;
			context.fillRect(x, STRIP_AXIS - 6, 1, 5);
			context.fillText(text, x + 4 + width < this.width ? x + 4 : x - 4 - width, STRIP_AXIS / 2 - 1);
		}
	}

	drawSpan(colour) {
		const { context } = this, height = this.rows.length * STRIP_ROW, span = this.drag || this.span;
		const top = STRIP_AXIS;
		if (span) {
			const [from, to] = [this.xOf(span[0]), this.xOf(span[1])];
			context.fillStyle = colour('--paper');
			context.globalAlpha = 0.72;
			context.fillRect(this.left, top, from - this.left, height - 1);
			context.fillRect(to, top, this.width - to, height - 1);
			context.globalAlpha = 1;
			context.fillStyle = colour('--accent');
			context.fillRect(from - 1, top - 5, 2, height + 5);
			context.fillRect(to - 1, top - 5, 2, height + 5);
		}
		if (!this.isFocused) return;
		context.fillStyle = colour('--ink');
		context.fillRect(this.xOf(this.cursor), top - 5, 1, height + 5);
		context.strokeStyle = colour('--ink');
		context.strokeRect(0.5, top + this.row * STRIP_ROW + 1.5, this.left - 8, STRIP_ROW - 2);
	}

	/* ---- hands ---- */

	/* Whole slots, at least one. */
	spanOf(a, b) {
		const from = Math.floor(Math.min(a, b)), to = Math.max(from + 1, Math.ceil(Math.max(a, b)));
		return [Math.min(from, this.moments.slots - 1), Math.min(to, this.moments.slots)];
	}

	place(event) {
		const box = this.canvas.getBoundingClientRect();
		return [event.clientX - box.left, event.clientY - box.top];
	}

	onDown(event) {
		const [x, y] = this.place(event), row = Math.floor((y - STRIP_AXIS) / STRIP_ROW);
		if (event.button) return;
		if (x < this.left) {
			if (this.rows[row]) this.on.thread(this.rows[row].thread);
			return;
		}
		this.canvas.setPointerCapture(event.pointerId);
		this.start = x;
	}

	onMove(event) {
		if (this.start === undefined) return;
		const [x] = this.place(event);
		if (!this.drag && Math.abs(x - this.start) < 4) return;
		this.drag = this.spanOf(this.slotAt(this.start), this.slotAt(x));
		this.on.say(this.spanText(this.drag));
		this.redraw();
	}

	/* A click without a drag is how one lets go of a span. */
	onUp(isDone) {
		const { drag, start } = this;
		this.start = undefined;
		this.drag = null;
		if (start === undefined) return;
		if (isDone) this.on.span(drag);
		this.redraw();
	}

	spanText([from, to]) {
		return `${this.timeOf(from)} to ${this.timeOf(to)}`;
	}

	/* The cursor moves by a hundredth of all time; with Shift the span goes with it. */
	moveCursor(to, isSpan) {
		const before = this.cursor;
		this.cursor = Math.max(0, Math.min(this.moments.slots, to));
		if (!isSpan) {
			this.anchor = undefined;
			this.on.say(this.timeOf(this.cursor));
		} else {
			this.anchor ??= before;
			this.on.span(this.anchor === this.cursor ? null : this.spanOf(this.anchor, this.cursor));
		}
	}

	onKey(event) {
		const { slots } = this.moments, step = Math.max(1, Math.round(slots / 100));
		const moves = { ArrowLeft: this.cursor - step, ArrowRight: this.cursor + step, Home: 0, End: slots };
		if (event.ctrlKey || event.metaKey || event.altKey || !this.rows.length) return;
		if (Object.hasOwn(moves, event.key)) {
			this.moveCursor(moves[event.key], event.shiftKey);
		} else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
			const count = this.rows.length;
			this.row = (this.row + (event.key === 'ArrowUp' ? count - 1 : 1)) % count;
			this.on.say(this.rows[this.row].name);
		} else if (event.key === 'Enter') {
			this.on.thread(this.rows[this.row].thread);
		} else {
			return;
		}
		this.redraw();
		event.preventDefault();
	}

	listen() {
		const { canvas } = this;
		canvas.addEventListener('pointerdown', (event) => this.onDown(event));
		canvas.addEventListener('pointermove', (event) => this.onMove(event));
		canvas.addEventListener('pointerup', () => this.onUp(true));
		canvas.addEventListener('pointercancel', () => this.onUp(false));
		canvas.addEventListener('keydown', (event) => this.onKey(event));
		for (const [name, isFocused] of [['focus', true], ['blur', false]])
			canvas.addEventListener(name, () => {
				this.isFocused = isFocused && canvas.matches(':focus-visible');
				this.redraw();
			});
		new ResizeObserver(() => canvas.parentElement.clientWidth !== this.width && this.resize())
			.observe(canvas.parentElement);
	}
}
