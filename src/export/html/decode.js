/* SPDX-License-Identifier: Apache-2.0
 * decode.js - the data block as typed arrays.  The format is described in html_data.c. */

/* ---- bytes ---- */

function bytesOfBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text); /* browsers from 2025 on */
	const raw = atob(text), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Reader {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	/* Not by shifts: they end at 32 bits, and weights are nanoseconds. */
	number() {
		let value = 0, scale = 1, byte;
		do {
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte > 127);
		return value;
	}

	take(length) {
		return this.bytes.subarray(this.at, this.at += length);
	}

	column(count, kind = Uint32Array) {
		const column = new kind(count), bytes = this.bytes;
		for (let i = 0; i < count; i++) {
			const byte = bytes[this.at];
			if (byte < 128) {
				column[i] = byte;
				this.at++;
			} else {
				column[i] = this.number();
			}
		}
		return column;
	}
}

/* ---- tables ---- */

/* Node 0 is the root.  `end` is one past the last node of a subtree. */
function readNodes(reader) {
	const count = reader.number() + 1;
	const pops = reader.column(count - 1), places = reader.column(count - 1);
	const parent = new Int32Array(count), location = new Uint32Array(count);
	const end = new Uint32Array(count);
	let open = 0; /* the last node whose subtree has not ended */
	parent[0] = -1;
	for (let i = 1; i < count; i++) {
		for (let n = pops[i - 1]; n > 0; n--) {
			end[open] = i;
			open = parent[open];
		}
		parent[i] = open;
		location[i] = places[i - 1];
		open = i;
	}
	for (; open >= 0; open = parent[open]) end[open] = count;
	return { count, parent, location, end };
}

function readThreads(reader) {
	const processes = reader.number();
	const pid = reader.column(processes), processName = reader.column(processes);
	const threads = reader.number();
	const process = reader.column(threads), tid = reader.column(threads);
	const name = reader.column(threads), entries = reader.column(threads);
	return { processes, pid, processName, threads, process, tid, name, entries };
}

/* first[t] .. first[t + 1] are the entries of thread t. */
function readEntries(reader, threads) {
	const count = reader.number();
	const node = reader.column(count), samples = reader.column(count, Float64Array);
	const weight = reader.column(count, Float64Array);
	const first = new Uint32Array(threads.threads + 1);
	for (let t = 0, i = 0; t < threads.threads; t++) {
		first[t] = i;
		const last = i + threads.entries[t];
		for (let before = 0; i < last; i++) node[i] = before += node[i];
		first[t + 1] = last;
	}
	return { count, node, samples, weight, first };
}

/* When: first[e] .. first[e + 1] are the cells of entry e. NULL: nobody wrote it down. */
function readMoments(reader, entries) {
	const slotNs = reader.number(), slots = reader.number();
	if (!slots) return null;
	const first = new Uint32Array(entries.count + 1), cells = reader.column(entries.count);
	for (let e = 0; e < entries.count; e++) first[e + 1] = first[e] + cells[e];
	const count = first[entries.count];
	const slot = reader.column(count), samples = new Uint32Array(count).fill(1);
	for (let e = 0, i = 0; e < entries.count; e++)
		for (let before = 0; i < first[e + 1]; i++) {
			samples[i] += slot[i] & 1;
			slot[i] = before += slot[i] >>> 1;
		}
	for (let i = 0; i < count; i++) if (samples[i] > 1) samples[i] += reader.number();
	return { slotNs, slots, first, slot, samples };
}

function readSources(reader) {
	const count = reader.number();
	return { count, path: reader.column(count), bytes: reader.column(count) };
}

/* What the one before has: by entry; verdicts by node; verdicts and noise by location. NULL: there is none. */
function readChanges(reader, entries, nodes, locations) {
	if (!reader.number()) return null;
	const row = () => ({
		verdict: reader.column(locations.count, Uint8Array),
		noise: reader.column(locations.count, Float64Array).map((millionths) => millionths / 1e6),
	});
	const samples = reader.column(entries.count, Float64Array), weight = reader.column(entries.count, Float64Array);
	const node = new Uint8Array(nodes.count);
	node.set(reader.column(nodes.count - 1, Uint8Array), 1);
	return { samples, weight, node, self: row(), total: row() };
}

async function decode(base64) {
	const reader = new Reader(await inflate(bytesOfBase64(base64)));
	const functionCount = reader.number();
	const functions = {
		count: functionCount,
		name: reader.column(functionCount),
		path: reader.column(functionCount),
		image: reader.column(functionCount),
		language: reader.column(functionCount),
		flags: reader.column(functionCount),
		line: reader.column(functionCount),
	};
	const locationCount = reader.number();
	const locations = {
		count: locationCount,
		function: reader.column(locationCount),
		line: reader.column(locationCount),
	};
	const nodes = readNodes(reader);
	const threads = readThreads(reader);
	const entries = readEntries(reader, threads);
	const moments = readMoments(reader, entries), sources = readSources(reader);
	const changes = readChanges(reader, entries, nodes, locations);
	const length = reader.number(), decoder = new TextDecoder();
	const texts = decoder.decode(reader.take(length)).split('\n');
	sources.text = Array.from(sources.bytes, (bytes) => reader.take(bytes)).map((b) => decoder.decode(b));
	return { functions, locations, nodes, threads, entries, moments, sources, changes, texts };
}
