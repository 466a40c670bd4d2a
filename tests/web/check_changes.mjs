// SPDX-License-Identifier: Apache-2.0
// check_changes.mjs - two recordings compared: what changed has a colour, the noise has none.
import assert from 'node:assert/strict';
import {
	choose, click, clickFrame, drawnTexts, hashOf, isHidden, open, placeOf, press, search, settle, textOf,
} from './browser.mjs';
import { check, COMPARED, PWN, pageOf } from './pages.mjs';

// Red less blue of the frame that has this name, beside its text.
async function redness(page, name, id = 'canvas') {
	const { x, y } = await placeOf(page, name, id);
	return page.evaluate((x, y, id) => {
		const canvas = document.getElementById(id), box = canvas.getBoundingClientRect();
		const ratio = canvas.width / box.width;
		const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
		pixel.drawImage(canvas, Math.round((x - box.left - 4) * ratio), Math.round((y - box.top + 8) * ratio), 1, 1,
			0, 0, 1, 1);
		const [red, , blue] = pixel.getImageData(0, 0, 1, 1).data;
		return red - blue;
	}, x, y, id);
}

const rowsOf = (page) => page.$$eval('#rows tr', (all) => all.map((row) =>
	[...row.cells].slice(0, 3).map((cell) => cell.textContent)));

for (const scheme of ['light', 'dark'])
	check(`two compared: more is red, less is blue, noise is grey (${scheme})`, async (browser) => {
		const page = await open(browser, pageOf(COMPARED), { scheme });
		for (const name of ['work', 'added']) assert.ok(await redness(page, name) > 25, `${name} is red`);
		for (const name of ['idle', 'old']) assert.ok(await redness(page, name) < -25, `${name} is blue`);
		for (const name of ['all', '<main>', 'steady'])
			assert.ok(Math.abs(await redness(page, name)) < 12, `${name} is grey`);
		assert.match(await textOf(page, '#title'), /^a\.sonde \u2192 b\.sonde$/);
		assert.match(await textOf(page, '#quality'), /^4 functions changedof 7/);
		assert.match(await textOf(page, '#status'),
			/^100 % is each recording's own whole: 100 s of CPU time \(10,000 samples\) before, 100 s of .* after/);
		assert.match(await textOf(page, '#legend'), /more.*new.*less.*gone.*within the noise/);
		for (const hidden of ['#tab-lines', '#tab-source', '#thread', '#time', '#merge'])
			assert.ok(await isHidden(page, hidden), `no ${hidden}`);
		await choose(page, '#colour', 'language');
		assert.ok(await redness(page, 'steady') > 20, 'a colour for Ruby');
		return page;
	});

check('two compared: as wide as before, after, both', async (browser) => {
	const page = await open(browser, pageOf(COMPARED)), has = async (name) => (await drawnTexts(page)).includes(name);
	assert.ok(await has('added') && await has('old'));
	await choose(page, '#measure', 'before');
	assert.ok(!await has('added') && await has('old'));
	assert.match(await textOf(page, '#status'), /as wide as its share before/);
	await choose(page, '#measure', 'after');
	assert.ok(await has('added') && !await has('old'));
	await clickFrame(page, 'work');
	assert.match(await textOf(page, '#frame'), /total 10\.0 % before, 20\.0 % after: \+10\.0 points.*self 0 % before, 0 % after/);
	await press(page, 'Escape');
	await choose(page, '#measure', 'both');
	await clickFrame(page, 'steady');
	assert.match(await textOf(page, '#frame'), /30\.0 % before, 30\.1 % after: \+0\.10 points, within the noise/);
	await press(page, 'Escape');
	await clickFrame(page, 'old');
	assert.match(await textOf(page, '#frame'), /total 10\.0 % before, 0 % after: gone/);
	return page;
});

check('two compared: tables have what changed first', async (browser) => {
	const page = await open(browser, pageOf(COMPARED));
	await press(page, '2');
	await click(page, '#by-total');
	const rows = await rowsOf(page);
	assert.deepEqual(new Set(rows.slice(0, 4).map((row) => row[2])), new Set(['work', 'added', 'idle', 'old']));
	assert.deepEqual(rows.find((row) => row[2] === 'idle'), ['', '\u221210.150.0 % \u2192 39.9 %', 'idle']);
	assert.deepEqual(rows.find((row) => row[2] === '<main>').slice(1), ['0100.0 % \u2192 100.0 %', '<main>']);
	assert.ok(rows.findIndex((row) => row[2] === 'steady') >= 5);
	await search(page, 'wor');
	assert.deepEqual((await rowsOf(page)).map((row) => row[2]), ['work']);
	await press(page, 'Tab', '3'); // there are no lines
	assert.match(await hashOf(page), /view=lines|view=functions/);
	assert.deepEqual((await rowsOf(page)).map((row) => row[2]), ['work']);
	return page;
});

check('two compared: the sandwich has what is new and what is gone', async (browser) => {
	const page = await open(browser, pageOf(COMPARED));
	await clickFrame(page, 'idle');
	await page.evaluate(() => [...document.querySelectorAll('#frame button')].find((button) =>
		button.textContent.startsWith('Callers')).click());
	await settle(page);
	assert.match(await textOf(page, '#sandwich-note'), /^idle: self .*; total 50\.0 % before, 39\.9 % after: \u221210\.1 points/);
	assert.ok(await redness(page, 'idle', 'callers-canvas') < -25);
	await clickFrame(page, 'helper', 'callees-canvas');
	assert.match(await textOf(page, '#sandwich-note'), /^helper: self 60\.0 % before, 59\.9 % after.*within the noise/);
	assert.ok(await redness(page, 'work', 'callers-canvas') > 25);
	assert.ok(await redness(page, 'idle', 'callers-canvas') < -25);
	assert.ok(Math.abs(await redness(page, 'helper', 'callees-canvas')) < 12);
	return page;
});

check('two compared: what is copied has two columns', async (browser) => {
	const page = await open(browser, pageOf(COMPARED));
	await page.evaluate(() => { navigator.clipboard.writeText = (text) => { window.copied = text; }; });
	await click(page, '#options summary');
	await click(page, '#copy');
	assert.deepEqual((await page.evaluate(() => window.copied)).trimEnd().split('\n').toSorted(), [
		'<main> (/app/run.rb);added (/app/foo.rb) 0 10000000',
		'<main> (/app/run.rb);idle (/app/foo.rb);helper (/app/foo.rb) 50000000 39900000',
		'<main> (/app/run.rb);old (/app/foo.rb) 10000000 0',
		'<main> (/app/run.rb);steady (/app/foo.rb) 30000000 30100000',
		'<main> (/app/run.rb);work (/app/foo.rb);helper (/app/foo.rb) 10000000 20000000',
	]);
	return page;
});

check('two compared: hostile names, 400 pixels', async (browser) => {
	const folded = `${PWN} (${PWN}:1) 500\n# after\n${PWN} (${PWN}:2) 700\n"><img src=x onerror=window.pwned=1> [c] 300`;
	const page = await open(browser, pageOf(folded, PWN), { width: 400 });
	for (const view of ['1', '2', '4']) {
		await press(page, view);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400, `view ${view}`);
	}
	assert.ok((await textOf(page, '#counts')).includes(PWN));
	assert.equal(await page.evaluate(() => window.pwned), undefined);
	assert.equal(await page.evaluate(() => document.images.length), 0);
	await page.goto(`${(await page.url()).split('#')[0]}#thread=t5&span=1-2&hide=ruby&view=source&measure=zzz&colour=x`);
	await settle(page);
	assert.match(await textOf(page, '#status'), /100 % is each/);
	return page;
});

check('two that are equal: nothing changed, and empty ones are said to be', async (browser) => {
	const same = 'f (a.rb:1);g (a.rb:2) 400\n';
	let page = await open(browser, pageOf(`${same}# after\n${same}`));
	assert.match(await textOf(page, '#quality'), /^0 functions changed/);
	assert.ok(Math.abs(await redness(page, 'g')) < 12);
	await page.close();
	page = await open(browser, pageOf(`# after\n${same}`));
	for (const view of ['2', '4', '1']) await press(page, view);
	return page;
});
