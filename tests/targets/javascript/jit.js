// SPDX-License-Identifier: Apache-2.0
// jit.js - outer > middle > inner, in code that is made at run time. Ends at SIGTERM.
'use strict';

let stop = false;

function inner(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) sum += Math.sqrt(i);
	return sum;
}

function middle(n) {
	return inner(n) + 1;
}

function outer(n) {
	return middle(n) + 1;
}

function turn() {
	const end = Date.now() + 20;
	while (Date.now() < end) outer(1e5);
	if (!stop) {
		setImmediate(turn);
		return;
	}
	console.log('{}');
	process.exit(0);
}

process.on('SIGTERM', () => { stop = true; });
for (let i = 0; i < 300; i++) outer(1e4); // until it is compiled
console.log(JSON.stringify({ pid: process.pid }));
turn();
