/* SPDX-License-Identifier: Apache-2.0
 * state.js - what the reader chose.  It is in the address behind '#', so that a link shows what its
 * sender saw and the browser's back button undoes a step.
 *
 * Only state -> page: a handler changes the address, apply() does the rest.  Numbers in it are the
 * file's own, so they mean the same whatever else is chosen. */

const facts = JSON.parse(byId('facts').textContent);
let profile = null;

const VIEWS = ['flame', 'functions', 'lines', 'sandwich', 'source'];
const DEFAULTS = {
	view: 'flame', thread: 'all', measure: '', merge: 'function', root: 'top', colour: 'language',
	query: '', zoom: 0, by: 'self', span: '', hide: '', function: '', file: '', line: 0,
};
const state = { ...DEFAULTS };

/* ---- the address ---- */

function address(changes) {
	const next = { ...state, ...changes }, words = new URLSearchParams();
	for (const [key, value] of Object.entries(DEFAULTS))
		if (next[key] !== value) words.set(key, next[key]);
	return `#${words.size ? words : 'all'}`; /* an empty one would scroll to the top */
}

function addressNow() {
	return location.hash || '#all';
}

/* A step that the back button undoes.  The state changes at once, for the next key; the page when
 * the browser says that the address did, or when a key needs it (follow()). */
function go(changes) {
	const next = address(changes), before = addressNow();
	Object.assign(state, changes);
	if (isPutOff(() => go(changes)) || next === before) return;
	location.hash = next;
	history.replaceState({ before }, '');
}

/* One that it does not: typing. */
function refine(changes) {
	const next = address(changes), step = history.state;
	Object.assign(state, changes);
	if (isPutOff(() => refine(changes)) || next === addressNow()) return;
	location.replace(next);
	history.replaceState(step, '');
}

/* The browser goes back when it likes to, and what an address is changed to before that is gone:
 * {from: the address that is left, actions: what was asked for meanwhile}, or null. */
let wayBack = null;

/* Undoes a step, which made these changes, if it is the last one: then Back does not do it again.
 * Any other in place. */
function undo(changes) {
	const there = address(changes);
	if (there === addressNow() || history.state?.before !== there) return refine(changes);
	Object.assign(state, changes);
	wayBack = { from: addressNow(), actions: [] };
	history.back();
}

/* Is it for later, since the browser is on its way back? */
function isPutOff(action) {
	if (wayBack) wayBack.actions.push(action);
	return Boolean(wayBack);
}

function arrive() {
	if (!wayBack || addressNow() === wayBack.from) return;
	const { actions } = wayBack;
	wayBack = null;
	for (const action of actions) action();
}

function readAddress() {
	const words = new URLSearchParams(location.hash.slice(1));
	const among = (key, known) => { if (!known.includes(state[key])) state[key] = DEFAULTS[key]; };
	for (const [key, value] of Object.entries(DEFAULTS)) state[key] = words.get(key) ?? value;
	for (const key of ['zoom', 'line']) state[key] = Number.parseInt(state[key], 10) || 0;
	among('view', VIEWS);
	among('merge', ['function', 'line']);
	among('root', ['top', 'bottom']);
	among('by', ['self', 'total']);
	among('colour', Object.keys(COLOURINGS));
	if (state.view === 'source' && !profile.sources.count) state.view = 'flame';
	if (profile.changes) {
		/* What is a change was found out for all of both recordings, not for parts. */
		Object.assign(state, { thread: 'all', span: '', hide: '' });
		if (!facts.diff.lines) {
			state.merge = 'function';
			if (state.view === 'lines') state.view = 'functions';
		}
	}
}

/* ---- what is chosen ---- */

function numberIn(text, count) {
	const number = /^\d{1,9}$/.test(text) ? Number(text) : count;
	return number < count ? number : -1;
}

function measureNow() {
	if (profile.changes) return Object.hasOwn(WIDTHS, state.measure) ? state.measure : 'both';
	if (state.measure === 'samples' || state.measure === 'weight') return state.measure;
	return profile.hasWeights ? 'weight' : 'samples';
}

function threadsNow() {
	const { threads } = profile, all = [...Array(threads.threads).keys()];
	const process = numberIn(state.thread.slice(1), threads.processes);
	const thread = numberIn(state.thread.slice(1), threads.threads);
	if (state.thread[0] === 'p' && process >= 0) return all.filter((t) => threads.process[t] === process);
	if (state.thread[0] === 't' && thread >= 0) return [thread];
	return all;
}

/* [from, to] in slots, or null. */
function spanNow() {
	const { moments } = profile, match = /^(\d{1,9})-(\d{1,9})$/.exec(state.span);
	if (!match || !moments) return null;
	const [from, to] = [Number(match[1]), Math.min(Number(match[2]), moments.slots)];
	return from < to ? [from, to] : null;
}

/* Kinds that the reader does not want to see, and whether each location is of one. */
function hiddenKinds() {
	return new Set(state.hide ? state.hide.split(',') : []);
}

function hiddenNow() {
	const hidden = hiddenKinds(), { locations, labels } = profile;
	if (![...hidden].some((id) => kinds.has(id))) return null;
	return Uint8Array.from(locations.function, (f) => hidden.has(labels[f].tone.kind.id) ? 1 : 0);
}

/* The function in the middle of the sandwich, or -1. */
function functionNow() {
	return numberIn(state.function, profile.functions.count);
}

/* ---- in words ---- */

function amountText(value) {
	if (profile.changes) return '';
	return measureNow() === 'weight' ? timeText(value) : amountOfCount(Math.round(value));
}

function threadText(t) {
	const { threads, texts } = profile;
	return `${shorten(texts[threads.name[t]], 60) || 'thread'} (${threads.tid[t]})`;
}

function processText(p) {
	const { threads, texts } = profile;
	return `${shorten(texts[threads.processName[p]], 60) || 'process'} (${threads.pid[p]})`;
}

function spanText([from, to]) {
	const { slots, slotNs } = profile.moments, text = (slot) => momentText(slot * slotNs, slots * slotNs);
	return `${text(from)} to ${text(to)}`;
}

/* Files of other profilers may have no threads: one without number and name has all. */
function hasThreads() {
	const { tid, name, threads } = profile.threads;
	return threads !== 1 || Boolean(tid[0] || profile.texts[name[0]]);
}

function chosenText() {
	const { threads } = profile, word = state.thread[0], chosen = threadsNow(), span = spanNow();
	const when = span ? ` from ${spanText(span)}` : '';
	if (word === 'p' && chosen.length < threads.threads)
		return `process ${processText(threads.process[chosen[0]])}${when}`;
	return `${chosen.length === 1 ? `thread ${threadText(chosen[0])}` :
		`all ${plural(chosen.length, 'thread')}`}${when}`;
}
