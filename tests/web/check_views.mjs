// SPDX-License-Identifier: Apache-2.0
// check_views.mjs - the other views: tables, sandwich, source.
import assert from 'node:assert/strict';
import {
	choose, click, clickFrame, drawnTexts, hashOf, isHidden,
	open, press, search, settle, tabTo, textOf,
} from './browser.mjs';
import { check, PWN, SMALL, SOURCED, pageOf } from './pages.mjs';

check('tables: hottest functions and lines, recursion once', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	await press(page, '2');
	const rows = () => page.$$eval('#rows tr', (all) => all.map((row) =>
		[...row.cells].map((cell, i) => i === 2 ? cell.textContent : cell.querySelector('span').textContent)));
	let table = await rows();
	assert.deepEqual(table[0], ['40.0 %', '60.0 %', 'Foo#leaf', '/app/foo.rb']);
	assert.deepEqual(table.find((row) => row[2] === 'Bar#again'), ['10.0 %', '10.0 %', 'Bar#again', '/app/bar.rb']);
	await click(page, '#by-total');
	table = await rows();
	assert.deepEqual(table[0], ['0 %', '100.0 %', '<main>', '/app/run.rb']);
	assert.ok(table.every((row) => Number.parseFloat(row[1]) <= 100));
	await press(page, '3');
	table = await rows();
	assert.deepEqual(table.filter((row) => row[3].startsWith('/app/run.rb')).map((row) => row[1]),
		['60.0 %', '30.0 %', '10.0 %']);
	await click(page, '#rows tr:nth-child(1) button');
	assert.match(await textOf(page, '#status'), /Found 1 function/);
	assert.ok((await drawnTexts(page)).length > 0);
	return page;
});

check('sandwich: callers and callees of one function, recursion once', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	await press(page, '2');
	await page.evaluate(() => [...document.querySelectorAll('#rows tr')].find((row) =>
		row.cells[2].textContent === 'Foo#leaf').querySelector('.actions button').click());
	await settle(page);
	assert.match(await textOf(page, '#sandwich-note'), /^Foo#leaf: self 40\.0 %, total 60\.0 %/);
	const above = await drawnTexts(page, 'callers-canvas'), below = await drawnTexts(page, 'callees-canvas');
	for (const name of ['Foo#leaf', 'Array#map', 'Foo#work', '<main>'])
		assert.ok(above.includes(name), `${name} calls it`);
	assert.equal(above.filter((text) => text === '<main>').length, 2); // by way of map, and directly
	assert.deepEqual(below.filter((text) => !text.includes('.rb')), ['Foo#leaf', 'vfs_read']);
	assert.match(await textOf(page, '#status'), / 7 of 7 frames drawn/);
	await clickFrame(page, 'Array#map', 'callers-canvas');
	assert.match(await textOf(page, '#sandwich-note'), /^Array#map: self 0 %, total 60\.0 %/);
	await page.goBack();
	await settle(page);
	assert.match(await textOf(page, '#sandwich-note'), /^Foo#leaf/);
	await press(page, '1');
	await page.goto((await page.url()).split('#')[0] + '#view=sandwich&function=99999');
	await settle(page);
	assert.match(await textOf(page, '#sandwich-note'), /^Foo#leaf/); // the hottest
	return page;
});

check('sandwich of a function that calls itself stays below 100 %', async (browser) => {
	const page = await open(browser, pageOf(SMALL)), rows = () => drawnTexts(page, 'callees-canvas');
	await search(page, 'again');
	await press(page, 'Enter');
	await page.evaluate(() => [...document.querySelectorAll('#frame button')].find((button) =>
		button.textContent === 'Callers, callees').click());
	await settle(page);
	assert.match(await textOf(page, '#sandwich-note'), /^Bar#again: self 10\.0 %, total 10\.0 %/);
	assert.equal((await rows()).filter((text) => text === 'Bar#again').length, 3);
	await tabTo(page, 'callees-canvas');
	await press(page, 'Home', 'ArrowDown');
	assert.match(await textOf(page, '#readout'), /^Bar#again, .*total 10\.0 %, 100 ms, self 0 %/);
	return page;
});

check('source lines have their weights', async (browser) => {
	const page = await open(browser, pageOf(SOURCED));
	await press(page, '5');
	const lineOf = (number) => page.$eval(`#source-lines tr[data-line="${number}"]`, (row) =>
		[...row.cells].map((cell) => cell.textContent));
	assert.deepEqual(await lineOf(10), ['', '40.0 %', '10', '\tlist.map { |x| leaf(x) }']);
	assert.deepEqual(await lineOf(11), ['', '20.0 %', '11', `\t"a\\\\n" + ${PWN}`]);
	assert.deepEqual(await lineOf(20), ['40.0 %', '40.0 %', '20', '\tx * 2']);
	assert.deepEqual(await lineOf(1), ['', '', '1', '']);
	assert.match(await textOf(page, '#source-note'), /^22 of 22 lines shown/);
	const files = await page.$$eval('#file option', (all) => all.map((option) => option.textContent));
	assert.deepEqual(files, ['40.0 % self: /app/foo.rb', '0 % self: /app/cold.rb']);
	await choose(page, '#thread', 't1');
	assert.deepEqual((await lineOf(21)).slice(0, 2), ['', '66.7 %']);
	await choose(page, '#file', '1');
	assert.equal((await lineOf(1))[3], 'nothing here was seen');
	await press(page, '2');
	await page.evaluate(() => [...document.querySelectorAll('#rows button')].find((button) =>
		button.textContent === 'Source').click());
	await settle(page);
	assert.match(await hashOf(page), /view=source.*file=0/);
	assert.equal(await page.evaluate(() => window.pwned), undefined);
	return page;
});

check('the source stays where it is, and comes to what is searched', async (browser) => {
	const lines = Array.from({ length: 400 }, (_, i) => `|line ${i + 1}${i % 100 === 49 ? ' Needle' : ''}`).join('\n');
	const page = await open(browser, pageOf(`
thread main (1);hot (/app/long.rb:300) 9
thread other (2);cold (/app/long.rb:200) 3
# source /app/long.rb
${lines}
`), { hash: '#view=source', height: 600 });
	const top = () => page.$eval('#source-scroll', (box) => box.scrollTop);
	const isSeen = (line) => page.evaluate((line) => {
		const box = document.getElementById('source-scroll').getBoundingClientRect();
		const row = document.querySelector(`#source-lines tr[data-line="${line}"]`).getBoundingClientRect();
		return row.top >= box.top && row.bottom <= box.bottom;
	}, line);
	assert.ok(await isSeen(300), 'the hottest line');
	await page.$eval('#source-scroll', (box) => { box.scrollTop = 777; });
	await choose(page, '#thread', 't1');
	assert.equal(await top(), 777);
	await search(page, 'needle');
	assert.equal(await top(), 777);
	assert.match(await textOf(page, '#status'), /Found 4 lines in this file\.$/);
	await press(page, 'Enter');
	assert.ok(await isSeen(50));
	assert.match(await hashOf(page), /view=source.*file=0&line=50$/);
	assert.match(await textOf(page, '#readout'), /^Line 50, 1 of 4 lines found\./);
	await press(page, 'Enter');
	assert.ok(await isSeen(150));
	await click(page, '#previous');
	await click(page, '#previous');
	assert.ok(await isSeen(350), 'round');
	assert.equal(await page.$eval('tr.wanted', (row) => row.dataset.line), '350');
	await page.$eval('#search', (box) => { box.value = 'hot'; box.dispatchEvent(new Event('input')); });
	await settle(page);
	assert.match(await textOf(page, '#status'), /Found 0 lines/); // a function has that name
	assert.equal(await page.$eval('#next', (button) => button.disabled), true);
	await press(page, 'Escape', '1');
	assert.ok((await drawnTexts(page)).includes('cold'));
	return page;
});

check('each mode is said in plain words; waits and events have no rate', async (browser) => {
	const expected = {
		cpu: [/^CPU time, 99 Hz/, 'CPU time', 'CPU time', /0 lostof 100 looks/],
		wall: [/^Wall time, 99 Hz/, 'wall time', 'Wall time', /0 lostof 100 looks/],
		gvl: [/^Time holding the VM lock, 99 Hz/, 'time holding the VM lock', 'Time holding the VM lock', /99\.0 Hz/],
		exception: [/^Time with an exception, 99 Hz/, 'time with an exception', 'Time with an exception', /99\.0 Hz/],
		offcpu: [/^Time off the CPU, 10/, 'time off the CPU', 'Time off the CPU', /process0 lostof 100 waits0 %/],
		event: [/^Traced events, 10/, 'time in system calls', 'Time in system calls', /process0 lostof 100 hits0 %/],
	};
	let page = null;
	for (const [mode, [summary, time, measure, quality]] of Object.entries(expected)) {
		if (page) await page.close();
		page = await open(browser, pageOf(`# mode ${mode}\n${SMALL}`));
		assert.match(await textOf(page, '#summary'), summary);
		assert.ok((await textOf(page, '#status')).startsWith(`100 % is 1.00 s of ${time} (100 samples)`), mode);
		assert.equal(await textOf(page, '#measure option'), measure);
		assert.match(await textOf(page, '#quality'), quality);
		assert.deepEqual(page.faults, []);
	}
	assert.match(await textOf(page, '#counts'), /hits of what was traced100/);
	return page;
});

check('without a source there is no view of it', async (browser) => {
	const page = await open(browser, pageOf(SMALL), { hash: '#view=source' });
	assert.ok(await isHidden(page, '#tab-source'));
	assert.ok((await drawnTexts(page)).includes('Foo#work'));
	return page;
});
