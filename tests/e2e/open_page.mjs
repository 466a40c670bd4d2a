// SPDX-License-Identifier: Apache-2.0
// open_page.mjs NPM_DIR CHROMIUM FILE - does a page do anything but show itself?
//
// Opens it without a network.  Exit code 1, and what happened, when a name in it ran as a script,
// when it logs, throws, opens a dialog or asks for anything else than itself.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [npm, chromium, file] = process.argv.slice(2);
const required = createRequire(path.join(npm, 'x.js'))('puppeteer-core');
const puppeteer = required.default ?? required;
const faults = [];
const url = pathToFileURL(file).href;
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ['--no-sandbox'] });
try {
	const page = await browser.newPage();
	page.on('console', (message) => faults.push(`console: ${message.text()}`));
	page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
	page.on('dialog', (dialog) => { faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
	await page.setRequestInterception(true);
	page.on('request', (request) => {
		const own = request.url() === url || /^(data|blob):/.test(request.url());
		if (!own) faults.push(`asks for ${request.url()}`);
		if (own) request.continue(); else request.abort();
	});
	await page.goto(url, { waitUntil: 'load', timeout: 30000 });
	await page.waitForFunction('document.readyState === "complete"');
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
	if (await page.evaluate('"pwned" in window')) faults.push('a name ran as a script');
	if (!(await page.title())) faults.push('no title');
} finally {
	await browser.close();
}
console.log(faults.length ? faults.join('; ') : 'nothing ran, logged or was asked for');
process.exit(faults.length ? 1 : 0);
