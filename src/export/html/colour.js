/* SPDX-License-Identifier: Apache-2.0
 * colour.js - a frame's hue is its language; what its package is tints it.  Where nobody says the
 * language, as in files of other profilers, the package alone is the hue.
 *
 * Both are the same in every page: nothing here depends on the profile but the names themselves.
 * A way to colour is a row of COLOURINGS. */

const FRAME_C = 4, FRAME_INLINED = 32; /* sample/frame.h */

const LANGUAGES = {
	ruby:   { label: 'Ruby',   hue: 350, c: { label: "Ruby's C functions", hue: 26 } },
	python: { label: 'Python', hue: 142, c: { label: "Python's C functions", hue: 178 } },
	native: { label: 'Native', hue: 212 },
	kernel: { label: 'Kernel', hue: 268 },
	event:  { label: 'Events', hue: 318 },
	go:     { label: 'Go', hue: 90 },
};
const MARK = { label: 'Marks', grey: true };
const UNKNOWN = { label: 'Other code', hue: 48, isMixed: true };

/* What a frame says that is no code; sample/frame.h. */
const MARKS = {
	'[moving]': 'the frames here changed while they were read',
	'(starting)': 'the thread or its VM had no stack yet',
	'(garbage collection)': 'on top of the stack that caused it',
	'[native]': 'a thread that no runtime knows',
	'[truncated]': 'outer frames could not be read, or were too many',
	'[unreadable]': 'nothing of the stack could be read',
	'(waiting for the GVL)': 'Ruby\'s lock is held by another thread',
	'(waiting for the GIL)': 'Python\'s lock is held by another thread',
};

/* ---- what a frame is ---- */

/* One object for each kind, so that they can be compared. `id` stands in links. */
const kinds = new Map();

/* A mark has no language and no path, and says something that only marks say. */
function isMark(language, path, name) {
	return !language && !path && Object.hasOwn(MARKS, name);
}

function kindOf(language, flags, mark = false) {
	const id = mark ? 'marks' : (language || 'other') + (flags & FRAME_C ? '-c' : '');
	if (!kinds.has(id)) {
		const known = mark ? MARK : !language ? UNKNOWN :
			Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] : { label: language, hue: 90 };
		const kind = !(flags & FRAME_C) ? known :
			known.c || { label: `${known.label}'s C functions`, hue: 60 };
		kinds.set(id, { ...kind, id, isC: Boolean(flags & FRAME_C) });
	}
	return kinds.get(id);
}

/* Where installed code says whose it is; the first that fits.  Native code is its library's. */
const PACKAGES = [
	[/.*\/bundler\/gems\/([^/]+)-[0-9a-f]{7,}\//, (m) => m[1]],
	[/.*\/gems\/([^/]+?)-\d[^/]*\//, (m) => m[1]],
	[/.*\/(?:site|dist)-packages\/([^/]+?)(?:\.py)?(?:\/|$)/, (m) => m[1]],
	[/^<internal:|\/(?:lib|lib64|share)\/ruby\//, () => 'Ruby itself'],
	[/^<frozen |\/lib(?:64)?\/python\d/, () => 'Python itself'],
];

/* What stands in front of a name without a file: C++ and Rust say std::, Java java/util/ or java.util.,
 * Go a path and a dot; [libc.so.6] and libc`read name a library.  "": nothing does. */
function packageOfName(name) {
	const library = /^\[([^\]/]*\/)*([^\]/]*\.so\b[^\]]*)\]$/.exec(name)?.[2] ?? /^([\w.+-]+)[`!]./.exec(name)?.[1];
	if (library) return libraryOf(library);
	const word = /^[^\s<({\[]*/.exec(name.replace(/^</, ''))[0], scope = word.indexOf('::');
	if (scope > 0) return word.slice(0, scope);
	const parts = word.split('/'), dots = parts.pop().split('.');
	if (parts.length) return parts.slice(0, parts[0].includes('.') ? 3 : 2).filter(Boolean).join('/');
	return dots.length > 1 && dots.every(Boolean) ? dots.slice(0, dots.length > 2 ? 2 : 1).join('.') : '';
}

function libraryOf(path) {
	return baseName(path).replace(/[.-][\d.]*\.?so\b.*|\.so\b.*/, '');
}

/* `path`: of the source; of the image when it is native. */
function packageOf(path, kind, name) {
	if (kind.id === 'kernel' || kind.grey) return '';
	if (!path && kind.isMixed) return packageOfName(name);
	if (!path) return kind.id === 'ruby-c' ? 'Ruby itself' : kind.id === 'python-c' ? 'Python itself' : '';
	if (kind.id === 'native') return libraryOf(path);
	for (const [pattern, name] of PACKAGES) {
		const match = pattern.exec(path);
		if (match) return name(match);
	}
	const parts = path.split('/'); /* the program's own: its folder */
	return parts.length > 1 ? `${parts[parts.length - 2]}/` : '';
}

/* FNV-1a: any spread will do, but it must never change. */
function hashOf(text) {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return (hash ^ (hash >>> 15)) >>> 0;
}

/* ---- what it looks like ---- */

/* Two shades of hue and five of lightness: neighbours are told apart, a language stays itself. */
function byLanguage(tone, dark) {
	const { kind, name, hash } = tone;
	if (kind.isMixed && name) return byPackage(tone, dark);
	if (kind.grey) return dark ? 'hsl(40 4% 36%)' : 'hsl(40 8% 84%)';
	const hue = kind.hue + ((hash >>> 8) % 3 - 1) * 7, shade = hash % 5;
	return dark ? `hsl(${hue} ${34 + 2 * shade}% ${29 + 2.6 * shade}%)` :
		`hsl(${hue} ${56 + 4 * shade}% ${76 + 1.9 * shade}%)`;
}

function byPackage(tone, dark) {
	const { name, hash } = tone;
	if (!name) return byLanguage(tone, dark);
	return dark ? `hsl(${hash % 360} ${30 + (hash >>> 9) % 14}% 34%)` :
		`hsl(${hash % 360} ${58 + (hash >>> 9) % 24}% 81%)`;
}

const COLOURINGS = {
	language: { label: 'language and package', fill: byLanguage },
	package: { label: 'package', fill: byPackage },
};

/* Tones: one for each language and package; a label has one, and its `fill` is what is drawn. */
class Tones {
	constructor() {
		this.all = [];
		this.byName = new Map();
	}

	of(kind, name) {
		const id = `${kind.id}\n${name}`;
		if (!this.byName.has(id)) {
			const tone = { number: this.all.length, kind, name, hash: hashOf(name) };
			this.byName.set(id, tone);
			this.all.push(tone);
		}
		return this.byName.get(id);
	}

	paint(colouring, dark) {
		for (const tone of this.all) tone.fill = COLOURINGS[colouring].fill(tone, dark);
	}
}

/* The solid colour of a kind, for the legend and the tables. */
function swatchOf(kind, dark) {
	return `hsl(${kind.hue || 40} ${kind.grey ? 4 : dark ? 45 : 65}% ${dark ? 52 : 62}%)`;
}
