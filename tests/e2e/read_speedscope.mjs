// SPDX-License-Identifier: Apache-2.0
// read_speedscope.mjs PACKAGES FILE [PUPPETEER_DIR CHROMIUM] - does speedscope take the file?
//
// Its own schema judges, by ajv, and with a browser speedscope itself: it has to show the name of the
// profile that is active.  Exit code 1 and why, when not.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, file, npm, chromium] = process.argv.slice(2);
const release = path.join(packages, 'node_modules', 'speedscope', 'dist', 'release');
const require = createRequire(path.join(packages, 'x.js'));
const Ajv = require('ajv');
const profile = JSON.parse(fs.readFileSync(file));
const valid = new (Ajv.default ?? Ajv)({ strict: false })
	.compile(JSON.parse(fs.readFileSync(path.join(release, 'file-format-schema.json'))));

function fail(why) {
	console.log(why);
	process.exit(1);
}

if (!valid(profile)) fail(`schema: ${JSON.stringify(valid.errors).slice(0, 300)}`);
if (!chromium) {
	console.log('schema');
	process.exit(0);
}
const required = createRequire(path.join(npm, 'x.js'))('puppeteer-core');
const browser = await (required.default ?? required).launch(
	{ executablePath: chromium, headless: true, args: ['--no-sandbox', '--allow-file-access-from-files',
		'--enable-unsafe-swiftshader', '--use-gl=angle', '--use-angle=swiftshader'] });
let shown = '';
const errors = [];
try {
	const page = await browser.newPage();
	page.on('pageerror', (error) => errors.push(error.message));
	page.on('dialog', (dialog) => { errors.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
	// As its own command does it: a script beside the page hands the file over.
	const script = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'sonde-speedscope-')), 'load.js');
	fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))}, "` +
		`${fs.readFileSync(file).toString('base64')}")`);
	await page.goto(`${pathToFileURL(path.join(release, 'index.html')).href}#localProfilePath=${script}`,
		{ waitUntil: 'load', timeout: 60000 });
	const wanted = profile.profiles[profile.activeProfileIndex].name;
	await page.waitForFunction((text) => document.body.innerText.includes(text) || document.title.includes(text),
		{ timeout: 60000 }, wanted).catch(() => errors.push(`"${wanted}" is not shown`));
	fs.rmSync(path.dirname(script), { recursive: true });
	shown = await page.evaluate('document.body.innerText');
	if (await page.evaluate('"pwned" in window')) errors.push('a name ran as a script');
} finally {
	await browser.close();
}
if (errors.length) fail(`${errors.join('; ')}: ${shown.slice(0, 300)}`);
console.log('schema, speedscope');
