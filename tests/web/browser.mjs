// SPDX-License-Identifier: Apache-2.0
// browser.mjs - the report page in a headless chromium without a network, and hands for it.
//
// Nothing here waits for time: pages say when they are drawn, and settle() waits for what a key
// or a click set off.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export function launch(npm, chromium) {
	const required = createRequire(path.join(npm, 'x.js'))('puppeteer-core');
	return (required.default ?? required).launch({
		executablePath: chromium,
		args: ['--no-sandbox', '--disable-background-networking', '--host-resolver-rules=MAP * ~NOTFOUND'],
	});
}

// What must not happen is in page.faults. (A page that is measured is not intercepted: that costs.)
export function watch(page) {
	page.faults = [];
	page.on('console', (message) => page.faults.push(`console: ${message.text()}`));
	page.on('pageerror', (error) => page.faults.push(`error: ${error.message}`));
}

// Everything that a canvas writes, by the animation frame that wrote it last.
function recordTexts() {
	window.drawn = [];
	const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
	CanvasRenderingContext2D.prototype.clearRect = function (...args) {
		window.drawn = window.drawn.filter(({ canvas }) => canvas !== this.canvas);
		return clearRect.apply(this, args);
	};
	CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
		window.drawn.push({ canvas: this.canvas, text, x, y });
		return fillText.call(this, text, x, y);
	};
}

export async function open(browser, file, options = {}) {
	const { width = 1280, height = 800, scheme = 'light', hash = '', touch = false } = options;
	const page = await browser.newPage(), url = pathToFileURL(file).href;
	watch(page);
	await page.setRequestInterception(true);
	page.on('request', (request) => {
		if (request.url().split('#')[0] === url || request.url() === 'data:,') {
			request.continue();
		} else {
			page.faults.push(`request: ${request.url()}`);
			request.abort();
		}
	});
	await page.setViewport({ width, height, hasTouch: touch });
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
	await page.evaluateOnNewDocument(recordTexts);
	await page.goto(url + hash);
	await page.waitForSelector('html[data-ready]', { timeout: 60000 });
	await settle(page);
	return page;
}

// Handlers have run, the page shows what its address says (the browser tells it when it likes to),
// and that is drawn.
export async function settle(page) {
	await page.waitForFunction(() => document.documentElement.dataset.shown === (location.hash || '#all'),
		{ timeout: 20000 });
	await page.evaluate(() => new Promise((done) =>
		setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 0)));
}

export async function press(page, ...keys) {
	for (const key of keys) await page.keyboard.press(key);
	await settle(page);
}

export async function click(page, selector) {
	await page.click(selector);
	await settle(page);
}

export async function choose(page, selector, value) {
	await page.select(selector, value);
	await settle(page);
}

export async function search(page, text) {
	await page.keyboard.press('/');
	await page.keyboard.type(text);
	await settle(page);
}

export const textOf = (page, selector) => page.$eval(selector, (element) => element.textContent);
export const hashOf = (page) => page.evaluate(() => location.hash);
// The browser goes back when it likes to.
export async function hashIs(page, wanted) {
	await page.waitForFunction((hash) => location.hash === hash, { timeout: 5000 }, wanted);
	await settle(page);
}

export const isHidden = (page, selector) => page.$eval(selector, (element) => !element.checkVisibility());
export const drawnTexts = (page, id = 'canvas') => page.evaluate((id) =>
	window.drawn.filter(({ canvas }) => canvas.id === id).map(({ text }) => text), id);

// Where a canvas wrote a text, in the window.
export async function placeOf(page, wanted, id = 'canvas') {
	const place = await page.evaluate((text, id) => {
		const found = window.drawn.find((item) => item.canvas.id === id && item.text === text);
		const box = document.getElementById(id).getBoundingClientRect();
		return found && { x: box.left + found.x + 2, y: box.top + found.y };
	}, wanted, id);
	assert.ok(place, `${wanted} is drawn`);
	return place;
}

export async function clickFrame(page, text, id) {
	const { x, y } = await placeOf(page, text, id);
	await page.mouse.click(x, y);
	await settle(page);
}

// Tab, until it is there.
export async function tabTo(page, id) {
	const active = () => page.evaluate(() => document.activeElement.id);
	for (let i = 0; i < 60 && (await active()) !== id; i++) await page.keyboard.press('Tab');
	assert.equal(await active(), id);
}
