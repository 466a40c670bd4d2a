// SPDX-License-Identifier: Apache-2.0
// check.mjs MAKE_PAGE NPM_DIR CHROMIUM - what the report page shows and does.
//
// Each check opens a page that make_page.c made from folded lines, in a browser that has no
// network.  A page that logs anything, asks for anything or throws fails its check.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';

const [makePage, npm, chromium] = process.argv.slice(2);
const required = createRequire(path.join(npm, 'x.js'))('puppeteer-core');
const puppeteer = required.default ?? required;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sonde-web-'));

// ---- pages ----

let pages = 0;

function pageOf(folded, title) {
	const file = path.join(folder, `${++pages}.html`);
	const made = spawnSync(makePage, title === undefined ? [file] : [file, title], { input: folded });
	assert.equal(made.status, 0, String(made.stderr));
	return file;
}

const SMALL = `
thread main (1);<main> (/app/run.rb:1);Foo#work (/app/foo.rb:10);Array#map [c];Foo#leaf (/app/foo.rb:20) 40
thread main (1);<main> (/app/run.rb:1);Foo#work (/app/foo.rb:11);Array#map [c];memcpy [native] 20
thread main (1);<main> (/app/run.rb:2);Bar#again (/app/bar.rb:5);Bar#again (/app/bar.rb:5);Bar#again (/app/bar.rb:6) 10
thread worker 1 (2);<main> (/app/run.rb:3);Foo#leaf (/app/foo.rb:21);vfs_read [kernel] 20
thread worker 1 (2);<main> (/app/run.rb:3);[moving] 10
`;
const PWN = '</script><script>window.pwned=1</script>';

// Everything that the canvas writes, by the animation frame that wrote it last.
function recordTexts() {
	window.drawn = [];
	const fillText = CanvasRenderingContext2D.prototype.fillText;
	const clearRect = CanvasRenderingContext2D.prototype.clearRect;
	CanvasRenderingContext2D.prototype.clearRect = function (...args) {
		window.drawn = [];
		return clearRect.apply(this, args);
	};
	CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
		window.drawn.push({ text, x, y });
		return fillText.call(this, text, x, y);
	};
}

async function open(browser, file, { width = 1280, height = 800, scheme = 'light', hash = '' } = {}) {
	const page = await browser.newPage();
	page.faults = [];
	page.on('console', (message) => page.faults.push(`console: ${message.text()}`));
	page.on('pageerror', (error) => page.faults.push(`error: ${error.message}`));
	const url = pathToFileURL(file).href;
	await page.setRequestInterception(true);
	page.on('request', (request) => {
		if (request.url().split('#')[0] === url || request.url() === 'data:,') {
			request.continue();
		} else {
			page.faults.push(`request: ${request.url()}`);
			request.abort();
		}
	});
	await page.setViewport({ width, height });
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
	await page.evaluateOnNewDocument(recordTexts);
	await page.goto(url + hash);
	await page.waitForSelector('html[data-ready]', { timeout: 60000 });
	await settle(page);
	return page;
}

// Handlers have run and what they asked for is drawn.
function settle(page) {
	return page.evaluate(() => new Promise((done) =>
		setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 0)));
}

async function press(page, ...keys) {
	for (const key of keys) await page.keyboard.press(key);
	await settle(page);
}

const textOf = (page, selector) => page.$eval(selector, (element) => element.textContent);
const drawnTexts = (page) => page.evaluate(() => window.drawn.map(({ text }) => text));
const hashOf = (page) => page.evaluate(() => location.hash);

// Where the canvas wrote a text, in the window.
async function placeOf(page, wanted) {
	const place = await page.evaluate((text) => {
		const found = window.drawn.find((item) => item.text === text);
		const box = document.getElementById('canvas').getBoundingClientRect();
		return found && { x: box.left + found.x + 2, y: box.top + found.y };
	}, wanted);
	assert.ok(place, `${wanted} is drawn`);
	return place;
}

async function clickFrame(page, text) {
	const { x, y } = await placeOf(page, text);
	await page.mouse.click(x, y);
	await settle(page);
}

async function search(page, text) {
	await page.keyboard.press('/');
	await page.keyboard.type(text);
	await settle(page);
}

// ---- checks ----

const checks = [];
const check = (name, run) => checks.push([name, run]);

check('names are drawn, facts are said, nothing is hidden', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	const texts = await drawnTexts(page);
	for (const name of ['all', '<main>', 'Foo#work', 'Array#map', 'memcpy', 'Bar#again', 'Foo#leaf',
		'vfs_read', '[moving]'])
		assert.ok(texts.includes(name), `${name} is drawn`);
	assert.ok(texts.includes('foo.rb'));
	assert.equal(await textOf(page, '#title'), 'ruby app.rb (pid 42)');
	assert.match(await textOf(page, '#quality'), /100 samplesof 2 threads in 1 process/);
	assert.match(await textOf(page, '#quality'), /99\.0 Hzachieved of 99 Hz asked for0 lost/);
	assert.match(await textOf(page, '#status'),
		/^100 % is 1\.00 s of CPU time \(100 samples\) of all 2 threads\. 12 of 12 frames drawn\.$/);
	assert.match(await textOf(page, '#legend'), /Ruby50\.0 %/);
	return page;
});

check('hostile names are text', async (browser) => {
	const rows = [PWN, '"><img src=x onerror=window.pwned=1>', 'a\\x3bb', 'new\\nline', 'nul\\x00byte',
		'bad\\xff\\xc3', '\u05e9\u05dc\u05d5\u05dd', '\\xe2\\x80\\xaeoverride', 'javascript:window.pwned=1',
		'__proto__', 'constructor', 'n'.repeat(5000)];
	const folded = rows.map((name, i) => `thread ${PWN} (${i + 1});${name} (${PWN}:${i + 1}) 5`);
	const page = await open(browser, pageOf(folded.join('\n'), `${PWN}\x1b[2J`));
	assert.ok((await textOf(page, '#title')).includes(PWN));
	assert.ok((await page.title()).includes(PWN));
	assert.match(await textOf(page, '#quality'), /3 lostof 63 looks \(3: deadline passed/);
	const start = (await drawnTexts(page)).filter((text) => text.startsWith('</script'));
	assert.ok(start.length, 'the hostile name is drawn');
	for (const view of ['2', '3', '1']) await press(page, view);
	await press(page, '2');
	const table = await textOf(page, '#rows');
	for (const shown of [PWN, 'new\\nline', 'nul\\x00byte', 'bad\\xff\\xc3', '\\xe2\\x80\\xaeoverride',
		'\u05e9\u05dc\u05d5\u05dd', '__proto__'])
		assert.ok(table.includes(shown), `${shown} is in the table`);
	assert.match(table, /5,000 characters/);
	await press(page, '1');
	await search(page, PWN);
	assert.match(await textOf(page, '#status'), /Found 12 functions, 100\.0 % of CPU time/);
	await press(page, 'Enter');
	assert.equal(await page.evaluate(() => window.pwned), undefined);
	assert.equal(await page.evaluate(() => document.scripts.length), 2); // facts and program
	assert.equal(await page.evaluate(() => document.images.length), 0);
	return page;
});

check('a search counts functions, and time once', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	await search(page, 'foo#');
	// Foo#leaf stands under Foo#work in 40 samples: 40 + 20 + 20 of 100, not 120.
	assert.match(await textOf(page, '#status'), /Found 2 functions, 80\.0 % of CPU time\./);
	assert.match(await hashOf(page), /query=foo%23/);
	await press(page, 'Escape');
	assert.equal(await hashOf(page), '#all');
	await press(page, 'Escape');
	await search(page, 'again');
	assert.match(await textOf(page, '#status'), /Found 1 function, 10\.0 % of CPU time\./);
	await press(page, 'Escape', 'Escape');
	await search(page, 'bar.rb');
	assert.match(await textOf(page, '#status'), /Found 1 function, 10\.0 %/);
	await press(page, 'Escape', 'Escape');
	await search(page, 'no such thing');
	assert.match(await textOf(page, '#status'), /Found 0 functions, 0 %/);
	assert.equal(await page.$eval('#next', (button) => button.disabled), true);
	return page;
});

check('a click zooms; Esc and Back undo it', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	await clickFrame(page, 'Foo#work');
	const zoomed = await hashOf(page);
	assert.match(zoomed, /zoom=/);
	assert.ok(!(await drawnTexts(page)).includes('Bar#again'));
	assert.match(await textOf(page, '#status'), /4 of 4 frames drawn/);
	await clickFrame(page, 'memcpy');
	assert.ok((await drawnTexts(page)).includes('<main>'), 'ancestors stay');
	assert.ok(!(await drawnTexts(page)).includes('Foo#leaf'));
	await press(page, 'Escape');
	assert.equal(await hashOf(page), zoomed);
	await press(page, 'Escape');
	assert.ok((await drawnTexts(page)).includes('Bar#again'));
	await clickFrame(page, 'Bar#again');
	assert.ok(!(await drawnTexts(page)).includes('Foo#work'));
	await page.goBack();
	await settle(page);
	assert.ok((await drawnTexts(page)).includes('Foo#work'));
	await clickFrame(page, 'Foo#work');
	await clickFrame(page, 'all');
	assert.ok((await drawnTexts(page)).includes('Bar#again'));
	return page;
});

check('a link shows what its sender saw', async (browser) => {
	const file = pageOf(SMALL), first = await open(browser, file);
	await clickFrame(first, 'Foo#work');
	const hash = await hashOf(first);
	await first.close();
	const page = await open(browser, file, { hash });
	assert.ok(!(await drawnTexts(page)).includes('Bar#again'));
	assert.deepEqual(page.faults, []);
	await page.close();
	return open(browser, file, { hash: '#zoom=99999999&view=nonsense&thread=t77&merge=__proto__&by=x' });
});

check('the keyboard reaches and walks the graph', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	for (let i = 0; i < 30 && (await page.evaluate(() => document.activeElement.id)) !== 'canvas'; i++)
		await page.keyboard.press('Tab');
	assert.equal(await page.evaluate(() => document.activeElement.id), 'canvas');
	await press(page, 'ArrowDown');
	assert.match(await textOf(page, '#readout'), /^all, total 100\.0 %/);
	await press(page, 'ArrowDown', 'ArrowDown');
	assert.match(await textOf(page, '#readout'), /^Foo#work, \/app\/foo\.rb, total 60\.0 %, 600 ms, self 0 %/);
	await press(page, 'ArrowRight');
	assert.match(await textOf(page, '#readout'), /^Foo#leaf/);
	await press(page, 'ArrowLeft', 'ArrowUp');
	assert.match(await textOf(page, '#readout'), /^<main>/);
	await press(page, 'ArrowDown', 'Enter');
	assert.ok(!(await drawnTexts(page)).includes('Bar#again'));
	assert.equal(await page.$eval('#tip', (tip) => tip.hidden), true);
	await press(page, 'Escape', '/');
	assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
	await page.keyboard.type('memcpy');
	await press(page, 'Enter');
	assert.match(await textOf(page, '#readout'), /^memcpy/);
	return page;
});

check('a thread is its own denominator', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	const options = await page.$$eval('#thread option', (all) => all.map((o) => o.textContent));
	assert.deepEqual(options, ['all 2', 'main (1): 70.0 %', 'worker 1 (2): 30.0 %']);
	await page.select('#thread', 't1');
	await settle(page);
	assert.match(await textOf(page, '#status'), /^100 % is 300 ms of CPU time \(30 samples\) of thread worker 1 \(2\)/);
	assert.ok(!(await drawnTexts(page)).includes('Foo#work'));
	await page.select('#measure', 'samples');
	await settle(page);
	assert.match(await textOf(page, '#status'), /^100 % is 30 samples of thread/);
	await search(page, 'vfs');
	assert.match(await textOf(page, '#status'), /Found 1 function, 66\.7 % of samples/);
	return page;
});

check('tables: hottest functions and lines, recursion once', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	await press(page, '2');
	const rows = () => page.$$eval('#rows tr', (all) => all.map((row) =>
		[...row.cells].map((cell, i) => i < 2 ? cell.querySelector('span').textContent : cell.textContent)));
	let table = await rows();
	assert.deepEqual(table[0], ['40.0 %', '60.0 %', 'Foo#leaf', '/app/foo.rb']);
	assert.deepEqual(table.find((row) => row[2] === 'Bar#again'), ['10.0 %', '10.0 %', 'Bar#again', '/app/bar.rb']);
	await page.click('#by-total');
	await settle(page);
	table = await rows();
	assert.deepEqual(table[0], ['0 %', '100.0 %', '<main>', '/app/run.rb']);
	assert.ok(table.every((row) => Number.parseFloat(row[1]) <= 100));
	await press(page, '3');
	table = await rows();
	assert.deepEqual(table.filter((row) => row[3].startsWith('/app/run.rb')).map((row) => row[1]),
		['60.0 %', '30.0 %', '10.0 %']);
	await page.click('#rows tr:nth-child(1) button');
	await settle(page);
	assert.match(await textOf(page, '#status'), /Found 1 function/);
	assert.ok((await drawnTexts(page)).length > 0);
	return page;
});

check('a frame can be a line', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	assert.equal((await drawnTexts(page)).filter((text) => text === 'Foo#work').length, 1);
	await page.select('#merge', 'line');
	await settle(page);
	const texts = await drawnTexts(page);
	assert.equal(texts.filter((text) => text === 'Foo#work').length, 2);
	assert.ok(texts.includes('foo.rb:10') && texts.includes('foo.rb:11'));
	return page;
});

check('400 pixels: nothing sticks out, the tooltip is at the bottom', async (browser) => {
	const page = await open(browser, pageOf(SMALL), { width: 400 });
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
	await page.evaluate(() => document.getElementById('canvas').scrollIntoView());
	const { x, y } = await placeOf(page, 'Foo#work');
	await page.mouse.move(x, y);
	await settle(page);
	const tip = await page.$eval('#tip', (element) => element.getBoundingClientRect().toJSON());
	assert.equal(tip.left, 0);
	assert.equal(Math.round(tip.bottom), 800);
	for (const view of ['2', '3']) {
		await press(page, view);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
	}
	return page;
});

check('dark by system and by hand', async (browser) => {
	const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const page = await open(browser, pageOf(SMALL), { scheme: 'dark' });
	const dark = await paper(page);
	await page.click('#theme');
	await settle(page);
	const light = await paper(page);
	assert.notEqual(dark, light);
	await page.click('#theme');
	await settle(page);
	assert.equal(await paper(page), dark);
	return page;
});

check('10,000 frames deep', async (browser) => {
	const deep = Array.from({ length: 10000 }, (_, i) => `down${i} (/a.rb:${i + 1})`).join(';');
	const page = await open(browser, pageOf(`${deep} 3\n`));
	assert.match(await textOf(page, '#status'), /10,001 of 10,001 frames drawn/);
	await page.$eval('#scroll', (scroll) => { scroll.scrollTop = scroll.scrollHeight; });
	await settle(page);
	assert.ok((await drawnTexts(page)).includes('down9999'));
	await clickFrame(page, 'down9999');
	await press(page, '2');
	assert.match(await textOf(page, '#more'), /300 of 10,000 rows/);
	return page;
});

check('many stacks: all of them are there', async (browser) => {
	let seed = 1;
	const next = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
	const lines = [];
	for (let i = 0; i < 5000; i++) {
		const frames = Array.from({ length: 3 + next(30) }, (_, d) => `f${next(40)} (/x${d % 9}.rb:${next(9) + 1})`);
		lines.push(`thread t${i % 8} (${i % 8 + 1});${frames.join(';')} ${1 + next(50)}`);
	}
	const page = await open(browser, pageOf(lines.join('\n')), { hash: '#merge=line' });
	const distinct = new Set();
	for (const line of lines) {
		const frames = line.slice(line.indexOf(';') + 1, line.lastIndexOf(' ')).split(';');
		for (let n = 1; n <= frames.length; n++) distinct.add(frames.slice(0, n).join(';'));
	}
	const all = new Intl.NumberFormat('en-US').format(distinct.size + 1);
	assert.match(await textOf(page, '#status'), new RegExp(`of ${all} frames drawn; the others`));
	return page;
});

check('an empty profile is a page', async (browser) => {
	const page = await open(browser, pageOf(''));
	assert.match(await textOf(page, '#status'), /^100 % is 0 samples of all 0 threads/);
	for (const view of ['2', '3', '1']) await press(page, view);
	return page;
});

// ---- the run, in TAP ----

const browser = await puppeteer.launch({
	executablePath: chromium,
	args: ['--no-sandbox', '--disable-background-networking', '--host-resolver-rules=MAP * ~NOTFOUND'],
});
let failed = 0;
console.log(`1..${checks.length}`);
for (const [i, [name, run]] of checks.entries()) {
	try {
		const page = await run(browser);
		assert.deepEqual(page.faults, []);
		await page.close();
		console.log(`ok ${i + 1} - ${name}`);
	} catch (error) {
		failed++;
		console.log(`not ok ${i + 1} - ${name}`);
		console.log(String(error.stack).replace(/^/gm, '# '));
	}
}
await browser.close();
fs.rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);
