// SPDX-License-Identifier: Apache-2.0
// check_import.mjs - files of other profilers: what they do not say is not made up, what they say is their own.
import assert from 'node:assert/strict';
import { choose, click, clickFrame, drawnTexts, isHidden, open, press, search, textOf } from './browser.mjs';
import { check, importedOf, pprofOf } from './pages.mjs';

// As stackcollapse scripts write them: no language, no path.
const OTHERS = `
main;app::Server::run;std::vector<std::string>::push_back;malloc 30
main;app::Server::run;boost::asio::read;[libc.so.6] 20
main;java/util/HashMap.put;org/apache/kafka/Client.poll 15
main;github.com/acme/app/cache.(*Cache).Get;runtime.mallocgc 15
main;com.acme.Foo.bar;libc\`read 15
main;<core::iter::Map as Iterator>::next;[moving] 5
`;

check('folded stacks of others: packages have their hues, and marks are marks', async (browser) => {
	const page = await open(browser, importedOf(OTHERS));
	assert.match(await textOf(page, '#kinds'), /Other code95\.0 %Marks5\.00? %/);
	assert.match(await textOf(page, '#packages'), /libc35\.0 %org\/apache15\.0 %runtime15\.0 %/);
	const hues = await page.$$eval('#packages .dot', (dots) => dots.map((dot) => dot.style.backgroundColor));
	assert.equal(new Set(hues).size, hues.length);
	for (const [name, owner] of [['app::Server', 'app'], ['push_back', 'std'], ['asio', 'boost'], ['HashMap', 'java/util'],
		['Cache', 'github.com/acme/app'], ['Foo.bar', 'com.acme'], ['core::iter', 'core']]) {
		await search(page, name);
		await press(page, 'Enter');
		assert.match(await textOf(page, '#readout'), new RegExp(`Other code, ${owner}$`), name);
		await press(page, 'Escape', 'Escape', 'Escape');
	}
	await search(page, 'malloc');
	await press(page, 'Enter');
	assert.match(await textOf(page, '#readout'), /^malloc, .*Other code$/);
	return page;
});

check('folded stacks of others: nothing is said that they do not say', async (browser) => {
	const page = await open(browser, importedOf(OTHERS));
	assert.equal(await textOf(page, '#summary'), 'Samples');
	assert.equal(await textOf(page, '#quality'), '100 samplesin this file');
	assert.match(await textOf(page, '#status'), /^100 % is 100 samples\. 1[0-9] of/);
	assert.ok(await isHidden(page, '#thread'));
	await click(page, '#details summary');
	assert.match(await textOf(page, '#counts'), /^written bysonde [^ ]+$/);
	await page.close();
	const threads = await open(browser, importedOf(`process a (1);thread b (2);f (a.rb:1) 3\nprocess a (1);thread c (3);g 4`));
	assert.equal(await textOf(threads, '#quality'), '7 samplesof 2 threads in 1 process');
	await choose(threads, '#thread', 't0');
	assert.match(await textOf(threads, '#status'), /^100 % is 3 samples of thread b \(2\)/);
	return threads;
});

check('a pprof of others says its own type and unit', async (browser) => {
	const heap = await open(browser, importedOf(pprofOf(['alloc_objects', 'count'], ['alloc_space', 'bytes'])));
	assert.equal(await textOf(heap, '#summary'), 'alloc_space (bytes)');
	assert.equal(await textOf(heap, '#quality'), '6.20 MBin this file');
	assert.match(await textOf(heap, '#status'), /^100 % is 6\.20 MB\./);
	await clickFrame(heap, '[libc.so.6]');
	assert.match(await textOf(heap, '#frame'), /total 88\.7 %, 5\.50 MB.*Other code, libc/);
	await search(heap, 'main');
	assert.match(await textOf(heap, '#status'), /Found 1 function, 100\.0 % of alloc_space/);
	assert.ok((await drawnTexts(heap)).includes('main.run'));
	assert.deepEqual(heap.faults, []);
	await heap.close();
	const page = await open(browser, importedOf(pprofOf(['contentions', 'count'], ['delay', 'nanoseconds'])));
	assert.equal(await textOf(page, '#summary'), 'delay (nanoseconds)');
	assert.equal(await textOf(page, '#quality'), '77 contentionsin this file');
	assert.match(await textOf(page, '#status'), /^100 % is 6\.20 ms of delay \(77 contentions\)\./);
	await choose(page, '#measure', 'samples');
	assert.match(await textOf(page, '#status'), /^100 % is 77 contentions\./);
	return page;
});

check('the type of a hostile pprof is text', async (browser) => {
	const page = await open(browser, importedOf(pprofOf(['x', 'count'], ['</script><script>window.pwned=1//', '"<b>\n'])));
	assert.match(await textOf(page, '#summary'), /^<\/script><script>window\.pwned=1\/\/ \("<b>.*n\)$/);
	assert.equal(await page.evaluate(() => window.pwned), undefined);
	assert.equal(await page.evaluate(() => document.scripts.length), 2);
	return page;
});
