// SPDX-License-Identifier: Apache-2.0
// check_form.mjs - what a reader has: a narrow screen, the dark, a finger, paper; and hostile names.
import assert from 'node:assert/strict';
import { click, drawnTexts, hashOf, open, placeOf, press, search, settle, textOf } from './browser.mjs';
import { check, PWN, SMALL, TIMED, SOURCED, pageOf } from './pages.mjs';

check('hostile names are text', async (browser) => {
	const rows = [PWN, '"><img src=x onerror=window.pwned=1>', 'a\\x3bb', 'new\\nline', 'nul\\x00byte',
		'bad\\xff\\xc3', '\u05e9\u05dc\u05d5\u05dd', '\\xe2\\x80\\xaeoverride', 'javascript:window.pwned=1',
		'__proto__', 'constructor', 'n'.repeat(5000)];
	const folded = rows.map((name, i) => `thread ${PWN} (${i + 1});${name} (${PWN}:${i + 1}) 5`);
	folded.unshift('# at 5');
	folded.push('# at 900', `process ${PWN} (7);thread ${PWN} (99);x (a.rb:1) 5`,
		`# source ${PWN}`, `|${PWN}`, '|\\xe2\\x80\\xaegnp.exe\x1b[2J');
	const page = await open(browser, pageOf(folded.join('\n'), `${PWN}\x1b[2J`));
	assert.ok((await textOf(page, '#title')).includes(PWN));
	assert.ok((await page.title()).includes(PWN));
	assert.match(await textOf(page, '#quality'), /3 lostof 68 looks \(3: deadline passed/);
	const start = (await drawnTexts(page)).filter((text) => text.startsWith('</script'));
	assert.ok(start.length, 'the hostile name is drawn');
	assert.ok((await drawnTexts(page, 'strip')).some((text) => text.startsWith('</script')));
	for (const view of ['3', '4', '5']) await press(page, view);
	assert.match(await textOf(page, '#source-lines'), /window\.pwned=1.*\\x1b\[2J/);
	assert.ok((await textOf(page, '#file')).includes(PWN));
	await press(page, '2');
	const table = await textOf(page, '#rows');
	for (const shown of [PWN, 'new\\nline', 'nul\\x00byte', 'bad\\xff\\xc3', '\\xe2\\x80\\xaeoverride',
		'\u05e9\u05dc\u05d5\u05dd', '__proto__'])
		assert.ok(table.includes(shown), `${shown} is in the table`);
	assert.match(table, /5,000 characters/);
	await press(page, '1');
	await search(page, PWN);
	assert.match(await textOf(page, '#status'), /Found 12 functions, 92\.3 % of CPU time/);
	await press(page, 'Enter');
	assert.equal(await page.evaluate(() => window.pwned), undefined);
	assert.equal(await page.evaluate(() => document.scripts.length), 2); // facts and program
	assert.equal(await page.evaluate(() => document.images.length), 0);
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
	await click(page, '#theme');
	const light = await paper(page);
	assert.notEqual(dark, light);
	await click(page, '#theme');
	assert.equal(await paper(page), dark);
	return page;
});

check('400 pixels: every view fits, and the graph has the whole width', async (browser) => {
	const page = await open(browser, pageOf(SOURCED + TIMED), { width: 400 });
	for (const view of ['1', '2', '3', '4', '5']) {
		await press(page, view);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400, `view ${view}`);
	}
	await press(page, '1');
	const [graph, over] = await page.evaluate(() => {
		const canvas = document.getElementById('canvas');
		canvas.scrollIntoView();
		const box = canvas.getBoundingClientRect(), over = [];
		for (let x = box.left + 5; x < box.right; x += 20)
			for (let y = Math.max(0, box.top) + 5; y < Math.min(box.bottom, innerHeight); y += 20)
				if (document.elementFromPoint(x, y) !== canvas) over.push([x, y]);
		return [box.toJSON(), over];
	});
	assert.ok(graph.width >= 370 && graph.height >= 300, `${graph.width} x ${graph.height}`);
	assert.deepEqual(over, []);
	await click(page, '#options summary');
	const menu = await page.$eval('.menu', (element) => element.getBoundingClientRect().toJSON());
	assert.ok(menu.left >= 0 && menu.right <= 400);
	return page;
});

check('a finger: the first tap tells, its buttons lead on, the second zooms', async (browser) => {
	const page = await open(browser, pageOf(SMALL), { width: 400, touch: true });
	await page.evaluate(() => document.getElementById('canvas').scrollIntoView());
	const { x, y } = await placeOf(page, 'Foo#work');
	await page.touchscreen.tap(x, y);
	await settle(page);
	assert.equal(await hashOf(page), '');
	assert.match(await textOf(page, '#tip'), /^Foo#work.*total 60\.0 %/);
	const sheet = await page.$eval('#tip', (tip) => tip.getBoundingClientRect().toJSON());
	assert.deepEqual([sheet.left, Math.round(sheet.right), Math.round(sheet.bottom)], [0, 400, 800]);
	await page.touchscreen.tap(x, y);
	await settle(page);
	assert.match(await hashOf(page), /zoom=/);
	await page.goBack();
	await settle(page);
	const again = await placeOf(page, 'Foo#leaf');
	await page.touchscreen.tap(again.x, again.y);
	await settle(page);
	await page.tap('#tip button');
	await settle(page);
	assert.match(await textOf(page, '#sandwich-note'), /^Foo#leaf/);
	return page;
});

check('every control is reached by Tab', async (browser) => {
	const page = await open(browser, pageOf(SOURCED + TIMED));
	await click(page, '#options summary');
	await page.evaluate(() => document.activeElement.blur());
	const seen = new Set();
	for (let i = 0; i < 60; i++) {
		await page.keyboard.press('Tab');
		seen.add(await page.evaluate(() => document.activeElement.id || document.activeElement.textContent));
	}
	const controls = await page.$$eval('button, select, input, summary, canvas', (all) => all
		.filter((one) => one.checkVisibility() && !one.disabled).map((one) => one.id || one.textContent));
	assert.deepEqual(controls.filter((control) => !seen.has(control)), []);
	assert.ok(controls.length > 20);
	return page;
});

check('on paper: light, without controls, the graph whole', async (browser) => {
	const page = await open(browser, pageOf(SMALL), { scheme: 'dark' });
	await page.evaluate(() => addEventListener('beforeprint', () => {
		window.printed = [document.documentElement.dataset.theme, document.getElementById('canvas').style.height];
	}));
	const paper = await page.pdf({ format: 'A4' });
	assert.ok(paper.length > 5000);
	assert.deepEqual(await page.evaluate(() => window.printed), ['light', '100px']);
	await settle(page);
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), undefined);
	assert.ok((await drawnTexts(page)).includes('Foo#work'));
	return page;
});
