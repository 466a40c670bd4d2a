/* SPDX-License-Identifier: Apache-2.0
 * colour.js - a frame's colour is its language; its shade is its file.
 *
 * Both are the same in every page: nothing here depends on the profile but the name itself. */

const FRAME_C = 4; /* sample/frame.h */

const LANGUAGES = {
	ruby:   { label: 'Ruby',   hue: 350, c: { label: "Ruby's C functions", hue: 26 } },
	python: { label: 'Python', hue: 142, c: { label: "Python's C functions", hue: 178 } },
	native: { label: 'Native', hue: 212 },
	kernel: { label: 'Kernel', hue: 268 },
	'':     { label: 'Marks', grey: true },
};

/* What a frame says that is no code; sample/frame.h. */
const MARKS = {
	'[moving]': 'the frames here changed while they were read',
	'(starting)': 'the thread or its VM had no stack yet',
	'(garbage collection)': 'on top of the stack that caused it',
	'[native]': 'a thread that no runtime knows',
	'[truncated]': 'outer frames could not be read, or were too many',
	'[unreadable]': 'nothing of the stack could be read',
};

function kindOf(language, flags) {
	const known = Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] :
		{ label: language, hue: 90 };
	if (!(flags & FRAME_C)) return known;
	return known.c || { label: `${known.label}'s C functions`, hue: 60 };
}

/* FNV-1a: any spread will do, but it must never change. */
function hashOf(text) {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return hash >>> 0;
}

/* 0 .. 4: neighbours from different files are told apart, a file stays one shade. */
const SHADES = 5;

function fillOf(kind, shade, dark) {
	const saturation = kind.grey ? 4 : dark ? 34 : 78;
	const lightness = dark ? 30 + 3 * shade : 78 + 2.6 * shade;
	return `hsl(${kind.hue || 40} ${saturation}% ${lightness}%)`;
}

/* The solid colour of a kind, for the legend and the tables. */
function swatchOf(kind, dark) {
	return `hsl(${kind.hue || 40} ${kind.grey ? 4 : dark ? 45 : 65}% ${dark ? 52 : 62}%)`;
}
