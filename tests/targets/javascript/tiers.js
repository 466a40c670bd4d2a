// SPDX-License-Identifier: Apache-2.0
// tiers.js - classes, generators, closures, exceptions, sort and replace that call back, promises, eval. Ends at SIGTERM.
'use strict';

let stop = false;

class Shape {
	constructor(size) { this.size = size; }
	get area() { return this.size * this.size; }
	*sides() { for (let i = 0; i < 4; i++) yield this.size; }
}

class Box extends Shape {
	constructor(size) { super(size); this.parts = [1, 2, 3].map((part) => part * size); }
	toJSON() { return { size: this.size, parts: this.parts }; }
}

function fibonacci(n) {
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

function throwing(n) {
	try {
		if (n % 2 === 0) throw new Error(`${n} is even`);
		return n;
	} catch (error) {
		return error.message.length;
	}
}

async function waiting(n) {
	await null;
	return fibonacci(n);
}

function boxes(turn) {
	const all = Array.from({ length: 200 }, (_, i) => new Box(i ^ turn));
	all.sort((left, right) => left.area - right.area);
	return JSON.parse(JSON.stringify(all)).length;
}

function strings(turn) {
	const words = 'the quick brown fox'.replace(/(\w+) (\w+)/g, (_, first, second) => second + throwing(turn) + first);
	const counts = new Map();
	for (let i = 0; i < 300; i++) counts.set(words[i % words.length], (counts.get(words[i % words.length]) || 0) + i);
	return [...counts.values()].reduce((sum, value) => sum + value, 0);
}

function evaluated(turn) {
	return eval(`(function made${turn % 50}(n) { return fibonacci(n) + 1; })(9)`);
}

function sides(turn) {
	let sum = 0;
	for (let i = 0; i < 20; i++) for (const side of new Box(turn).sides()) sum += side;
	return sum;
}

async function turns() {
	for (let turn = 0; !stop; turn++) {
		boxes(turn);
		strings(turn);
		evaluated(turn);
		sides(turn);
		await Promise.all([waiting(10), waiting(11)]);
		if (turn % 8 === 0) await new Promise(setImmediate);
	}
	console.log('{}');
	process.exit(0);
}

process.on('SIGTERM', () => { stop = true; });
console.log(JSON.stringify({ pid: process.pid }));
turns();
