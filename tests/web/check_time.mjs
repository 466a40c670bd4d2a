// SPDX-License-Identifier: Apache-2.0
// check_time.mjs - the strip of activity, and the span that is chosen on it.
import assert from 'node:assert/strict';
import { click, clickFrame, drawnTexts, hashOf, isHidden, open, press, search, settle, tabTo, textOf } from './browser.mjs';
import { check, SMALL, TIMED, pageOf } from './pages.mjs';

const SPAN = /^100 % is 400 ms of CPU time \(40 samples\) of all 2 threads from 0\.400 s to 0\.601 s\./;

// Where a slot is on the strip, in the window.
async function slotPlace(page, slot) {
	return page.evaluate((slot) => {
		const canvas = document.getElementById('strip'), box = canvas.getBoundingClientRect();
		const left = Math.min(150, Math.round(box.width * 0.24));
		return { x: box.left + left + (slot + 0.5) / 954 * (box.width - left), y: box.top + 25 };
	}, slot);
}

async function drag(page, from, to) {
	const start = await slotPlace(page, from), stop = await slotPlace(page, to);
	await page.mouse.move(start.x, start.y);
	await page.mouse.down();
	await page.mouse.move((start.x + stop.x) / 2, start.y);
	await page.mouse.move(stop.x, stop.y);
	await page.mouse.up();
	await settle(page);
}

check('a span of time is a denominator of its own', async (browser) => {
	const page = await open(browser, pageOf(TIMED));
	assert.match(await textOf(page, '#status'), /^100 % is 1\.00 s of CPU time \(100 samples\) of all 2 threads\./);
	assert.ok((await drawnTexts(page, 'strip')).includes('main (1)'));
	await drag(page, 381, 572);
	assert.equal(await hashOf(page), '#span=381-573');
	assert.match(await textOf(page, '#status'), SPAN);
	const names = await drawnTexts(page);
	assert.ok(names.includes('memcpy') && names.includes('vfs_read') && !names.includes('[moving]'));
	await search(page, 'memcpy');
	assert.match(await textOf(page, '#status'), /Found 1 function, 50\.0 % of CPU time/);
	await press(page, 'Escape', 'Escape', '2');
	const rows = await page.$$eval('#rows tr', (all) => all.map((row) => row.cells[2].textContent));
	assert.deepEqual(rows.toSorted(), ['<main>', 'Array#map', 'Foo#leaf', 'Foo#work', 'memcpy', 'vfs_read']);
	await press(page, '1');
	await click(page, '#whole-time');
	assert.equal(await hashOf(page), '#all');
	await page.goBack();
	await settle(page);
	assert.match(await textOf(page, '#status'), SPAN);
	await press(page, 'Escape');
	assert.equal(await hashOf(page), '#all');
	return page;
});

check('the samples of a span add up: parts of the time make the whole', async (browser) => {
	const page = await open(browser, pageOf(TIMED), { hash: '#measure=samples&span=0-477' });
	assert.match(await textOf(page, '#status'), /^100 % is 50 samples/);
	await page.goto((await page.url()).split('#')[0] + '#measure=samples&span=477-954');
	await settle(page);
	assert.match(await textOf(page, '#status'), /^100 % is 50 samples .* from 0\.500 s to 1\.000 s/);
	for (const odd of ['5-5', '9-3', '-1-4', 'x', '0-99999999', '2000-3000']) {
		await page.goto((await page.url()).split('#')[0] + `#measure=samples&span=${odd}`);
		await settle(page);
		assert.match(await textOf(page, '#status'), /^100 % is 100 samples/, odd);
	}
	return page;
});

check('the strip by keyboard: a span, a thread', async (browser) => {
	const page = await open(browser, pageOf(TIMED));
	await tabTo(page, 'strip');
	await press(page, 'End', 'ArrowLeft');
	assert.match(await textOf(page, '#readout'), /^0\.990 s/);
	await page.keyboard.down('Shift');
	for (let i = 0; i < 3; i++) await press(page, 'ArrowLeft');
	await page.keyboard.up('Shift');
	assert.equal(await hashOf(page), '#span=914-944');
	assert.match(await textOf(page, '#readout'), /^Only 0\.958 s to 0\.990 s\./);
	await press(page, 'Escape', 'ArrowDown');
	assert.match(await textOf(page, '#readout'), /^worker 1 \(2\)/);
	await press(page, 'Enter');
	assert.match(await textOf(page, '#status'), /of thread worker 1 \(2\)/);
	await press(page, 'Enter');
	assert.equal(await hashOf(page), '#all');
	return page;
});

check('a click lets a span go; a name chooses its thread', async (browser) => {
	const page = await open(browser, pageOf(TIMED), { hash: '#span=100-300' });
	const place = await slotPlace(page, 700);
	await page.mouse.click(place.x, place.y);
	await settle(page);
	assert.equal(await hashOf(page), '#all');
	await clickFrame(page, 'worker 1 (2)', 'strip');
	assert.equal(await hashOf(page), '#thread=t1');
	return page;
});

check('the strip is as long as the recording', async (browser) => {
	const page = await open(browser, pageOf(`${TIMED}\n# at 1999`)); // and nothing was seen then
	assert.deepEqual((await drawnTexts(page, 'strip')).filter((text) => text.endsWith(' s')).at(-1), '2 s');
	await drag(page, 477, 2000);
	assert.match(await textOf(page, '#status'), / from 1\.00 s to 2\.00 s\./);
	return page;
});

check('the strip is as long as the recording, also when only its start was busy', async (browser) => {
	const page = await open(browser, pageOf(`${TIMED}\n# at 86399999`));
	assert.deepEqual((await drawnTexts(page, 'strip')).filter((text) => /^\d+:\d\d:\d\d$/.test(text)).at(-1), '24:00:00');
	assert.match(await textOf(page, '#status'), /^100 % is 1\.00 s .* \(100 samples\)/);
	await drag(page, 477, 900);
	assert.match(await textOf(page, '#status'), /^100 % is 0 s .* from 12:0\d:\d\d to 22:[34]\d:\d\d\./);
	return page;
});

check('a profile without times has no strip', async (browser) => {
	const page = await open(browser, pageOf(SMALL), { hash: '#span=1-2' });
	assert.ok(await isHidden(page, '#time'));
	assert.match(await textOf(page, '#status'), /^100 % is 1\.00 s/);
	return page;
});
