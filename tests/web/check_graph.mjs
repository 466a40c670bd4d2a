// SPDX-License-Identifier: Apache-2.0
// check_graph.mjs - the flame graph: what it draws, finds, zooms and counts.
import assert from 'node:assert/strict';
import {
	choose, click, clickFrame, drawnTexts, hashIs, hashOf, open,
	placeOf, press, search, settle, tabTo, textOf,
} from './browser.mjs';
import { check, SMALL, foldedOf, pageOf } from './pages.mjs';

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
	assert.doesNotMatch(await textOf(page, '#legend'), /Other code/); // every language is known
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
	await hashIs(page, zoomed);
	await press(page, 'Escape');
	await hashIs(page, '');
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

check('what Esc has undone, Back does not do again', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	await press(page, '2', '1');
	await clickFrame(page, 'Foo#work');
	await clickFrame(page, 'memcpy');
	const twice = await hashOf(page);
	await press(page, 'Escape', 'Escape'); // the second, perhaps, while the browser still goes back
	await page.waitForFunction((hash) => location.hash !== hash, {}, twice);
	await settle(page);
	if (/zoom/.test(await hashOf(page))) await press(page, 'Escape');
	await hashIs(page, '#all');
	await page.goBack();
	await hashIs(page, '#view=functions');
	await page.goForward();
	await hashIs(page, '#all');
	// Another step since: it stays, and the zoom is undone in place.
	await clickFrame(page, 'Foo#work');
	await choose(page, '#thread', 't0');
	await press(page, 'Escape');
	await hashIs(page, '#thread=t0');
	return page;
});

check('the keyboard comes back to the zoom from its callers', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	await clickFrame(page, 'Bar#again'); // not the heaviest of <main>
	await tabTo(page, 'canvas');
	await press(page, 'ArrowUp', 'ArrowUp');
	assert.match(await textOf(page, '#readout'), /^all/);
	await press(page, 'ArrowDown');
	assert.match(await textOf(page, '#readout'), /^<main>/);
	await press(page, 'ArrowDown');
	assert.match(await textOf(page, '#readout'), /^Bar#again/);
	await press(page, 'ArrowDown');
	assert.match(await textOf(page, '#readout'), /^Bar#again, .*total 10\.0 %/);
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
	await tabTo(page, 'canvas');
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

// As from a keyboard that is faster than the page: the browser does nothing in between.
const typeFast = (page, ...events) => page.evaluate((events) => {
	for (const [id, name, value] of events) {
		const target = document.getElementById(id);
		if (name === 'input') target.value = value;
		target.dispatchEvent(name === 'input' ? new Event(name) :
			new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
	}
}, events);

check('keys that come before the page has followed are not lost', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	await typeFast(page, ['search', 'input', 'm'], ['search', 'input', 'memcpy'], ['search', 'Enter']);
	await settle(page);
	assert.match(await textOf(page, '#readout'), /^memcpy/);
	await press(page, 'Escape');
	await clickFrame(page, 'Foo#work');
	await typeFast(page, ['canvas', 'Escape'], ['search', 'input', 'mem'], ['search', 'input', 'memcpy'], ['search', 'Enter']);
	await hashIs(page, '#query=memcpy');
	assert.equal(await page.$eval('#search', (input) => input.value), 'memcpy');
	assert.ok((await drawnTexts(page)).includes('Bar#again'));
	assert.match(await textOf(page, '#readout'), /^memcpy/);
	return page;
});

check('a thread is its own denominator', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	const options = await page.$$eval('#thread option', (all) => all.map((o) => o.textContent));
	assert.deepEqual(options, ['all 2', 'main (1): 70.0 %', 'worker 1 (2): 30.0 %']);
	await choose(page, '#thread', 't1');
	assert.match(await textOf(page, '#status'), /^100 % is 300 ms of CPU time \(30 samples\) of thread worker 1 \(2\)/);
	assert.ok(!(await drawnTexts(page)).includes('Foo#work'));
	await choose(page, '#measure', 'samples');
	assert.match(await textOf(page, '#status'), /^100 % is 30 samples of thread/);
	await search(page, 'vfs');
	assert.match(await textOf(page, '#status'), /Found 1 function, 66\.7 % of samples/);
	return page;
});

check('a process is its own denominator', async (browser) => {
	const page = await open(browser, pageOf(`
process web (10);thread main (10);a (a.rb:1) 30
process web (10);thread pool (11);b (a.rb:2) 20
process job (20);thread main (20);c (c.rb:1) 50`));
	const options = await page.$$eval('#thread option', (all) => all.map((o) => o.textContent));
	assert.deepEqual(options.slice(0, 3), ['all 3', 'process web (10)', 'process job (20)']);
	await choose(page, '#thread', 'p0');
	assert.match(await textOf(page, '#status'), /^100 % is 500 ms of CPU time \(50 samples\) of process web \(10\)\. 3 of 3/);
	assert.deepEqual((await drawnTexts(page)).filter((text) => text.length === 1).toSorted(), ['a', 'b']);
	return page;
});

check('a frame can be a line', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	assert.equal((await drawnTexts(page)).filter((text) => text === 'Foo#work').length, 1);
	await choose(page, '#merge', 'line');
	const texts = await drawnTexts(page);
	assert.equal(texts.filter((text) => text === 'Foo#work').length, 2);
	assert.ok(texts.includes('foo.rb:10') && texts.includes('foo.rb:11'));
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

check('the root can be at the bottom', async (browser) => {
	const file = pageOf(SMALL), page = await open(browser, file);
	const above = async (a, b) => (await placeOf(page, a)).y < (await placeOf(page, b)).y;
	assert.ok(await above('all', 'Foo#work'));
	await click(page, '#options summary');
	await choose(page, '#root', 'bottom');
	assert.ok(await above('Foo#work', 'all'));
	await clickFrame(page, 'Foo#work');
	assert.match(await hashOf(page), /root=bottom&zoom=/);
	await press(page, 'Escape');
	await tabTo(page, 'canvas');
	await press(page, 'Home', 'ArrowUp', 'ArrowUp');
	assert.match(await textOf(page, '#readout'), /^Foo#work/);
	await press(page, 'ArrowDown');
	assert.match(await textOf(page, '#readout'), /^<main>/);
	return page;
});

check('a language can be left out: its time is its callers\' own', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	await page.evaluate(() => [...document.querySelectorAll('#kinds button')]
		.find((button) => button.textContent.startsWith('Native')).click());
	await settle(page);
	assert.equal(await hashOf(page), '#hide=native');
	assert.ok(!(await drawnTexts(page)).includes('memcpy'));
	assert.match(await textOf(page, '#status'), /100 % is 1\.00 s .* Native left out: its time is its callers' own\. 11 of 11/);
	await press(page, '2');
	const rows = await page.$$eval('#rows tr', (all) => all.map((row) => row.textContent));
	assert.ok(rows.some((row) => row.startsWith('20.0 %200 ms60.0 %600 msArray#map')));
	assert.equal(await page.$eval('#kinds button[aria-pressed="false"]', (b) => b.textContent), 'Native20.0 %');
	await page.goBack();
	await page.goBack();
	await settle(page);
	assert.ok((await drawnTexts(page)).includes('memcpy'));
	/* Without their callers the others stand on the root. */
	await page.evaluate(() => document.querySelector('#kinds button').click());
	await settle(page);
	assert.match(await textOf(page, '#status'), /100 % is 1\.00 s .* Ruby left out.* 5 of 5 frames/);
	assert.deepEqual((await drawnTexts(page)).toSorted(), ['Array#map', '[moving]', 'all', 'memcpy', 'vfs_read']);
	await tabTo(page, 'canvas');
	await press(page, 'Home');
	assert.match(await textOf(page, '#readout'), /^all, total 100\.0 %, 1\.00 s, self 10\.0 %/);
	return page;
});

check('a zoom stays on its frame when something else is chosen', async (browser) => {
	const page = await open(browser, pageOf(SMALL));
	await clickFrame(page, 'Foo#work');
	await choose(page, '#merge', 'line');
	assert.ok(!(await drawnTexts(page)).includes('Bar#again'));
	assert.ok((await drawnTexts(page)).includes('Foo#work'));
	await choose(page, '#thread', 't1'); // has no such frame: its caller is shown
	assert.ok((await drawnTexts(page)).includes('Foo#leaf'));
	return page;
});

async function copyFolded(page) {
	await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { configurable: true, value: {
		writeText: async (text) => { window.copied = text; } } }));
	await page.evaluate(() => document.getElementById('copy').click());
	await settle(page);
	return page.evaluate(() => window.copied);
}

check('what is shown can be copied as folded stacks', async (browser) => {
	const page = await open(browser, pageOf(SMALL), { hash: '#measure=samples' });
	assert.equal(await copyFolded(page), foldedOf(SMALL));
	assert.match(await textOf(page, '#readout'), /^Copied 5 folded stacks, in samples\./);
	await clickFrame(page, 'Bar#again');
	assert.deepEqual((await copyFolded(page)).trim().split('\n'),
		foldedOf(SMALL).split('\n').filter((line) => line.includes('Bar#again')));
	await choose(page, '#thread', 't1');
	assert.match(await copyFolded(page), /^<main> \(\/app\/run\.rb:3\);Foo#leaf/);
	return page;
});

// Inlined code and a library of which the debugging information knows the source.
const NATIVE = `
process web (1);thread main (1);<main> (/app/run.rb:1);Array#map [c];deflate {/usr/lib/libz.so.1 src/deflate.c:12} [native];longest_match {/usr/lib/libz.so.1 src/deflate.c:90} [inlined] 30
process web (1);thread main (1);<main> (/app/run.rb:2);crc32 {/usr/lib/libz.so.1} [native] 20
process job (2);thread main (2);<main> (/app/run.rb:1);(waiting for the GVL) 10
process job (2);thread main (2);<main> (/app/run.rb:1);a;b (/app/c\\x3bd.rb:3);vfs_read [kernel] 5
process job (2);thread main (2);[native] 3
process job (2);thread main (2);[moving] 2`;

check('what is copied reads as what sonde exports, of every kind of frame', async (browser) => {
	const page = await open(browser, pageOf(NATIVE), { hash: '#measure=samples' }), folded = foldedOf(NATIVE);
	assert.match(folded, /longest_match \[inlined\] 30\n/);
	assert.match(folded, /^process job \(2\);.*c\\x3bd\.rb:3/m);
	assert.equal(await copyFolded(page), folded);
	return page;
});

check('native code is its library\'s, also when its source is known', async (browser) => {
	const page = await open(browser, pageOf(NATIVE));
	assert.match(await textOf(page, '#packages'), /libz71\.4 %/);
	assert.ok((await drawnTexts(page)).includes('longest_match [inlined]'));
	await search(page, 'longest');
	await press(page, 'Enter');
	assert.match(await textOf(page, '#readout'),
		/^longest_match \[inlined\], src\/deflate\.c, in \/usr\/lib\/libz\.so\.1, .*Native, libz: inlined into/);
	await press(page, 'Escape', 'Escape');
	await search(page, 'libz.so');
	assert.match(await textOf(page, '#status'), /Found 3 functions, 71\.4 %/);
	await press(page, 'Escape', 'Escape');
	await search(page, 'waiting for');
	await press(page, 'Enter');
	assert.match(await textOf(page, '#readout'), /lock is held by another thread$/);
	return page;
});

check('colours: packages are told apart, and said', async (browser) => {
	const page = await open(browser, pageOf(`
thread main (1);Rack#call (/var/lib/gems/rack-3.1.0/lib/rack.rb:1);A#b (/usr/lib/ruby/3.1.0/set.rb:3) 4
thread main (1);Puma#run (/x/bundler/gems/puma-0123456789ab/lib/puma.rb:1);C#d (/srv/app/models/c.rb:2) 3`));
	assert.match(await textOf(page, '#packages'), /Ruby itself57\.1 %models\/42\.9 %/);
	const colours = () => page.$$eval('#packages .dot', (dots) => dots.map((dot) => dot.style.backgroundColor));
	const before = await colours();
	await choose(page, '#colour', 'package');
	assert.notDeepEqual(await colours(), before);
	await page.evaluate(() => document.querySelector('#packages button').click());
	await settle(page);
	assert.match(await textOf(page, '#status'), /Found 1 function, 57\.1 % of CPU time/);
	return page;
});
