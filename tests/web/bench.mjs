// SPDX-License-Identifier: Apache-2.0
// bench.mjs MAKE_BIG_PAGE NPM_DIR CHROMIUM - what a page of a million samples costs to open and use.
//
// Medians of RUNS, each in a browser of its own.
//
//	interactive_ms   from the navigation to a drawn graph that takes keys
//	open_cpu_ms      CPU time of the process that draws the page, until then
//	open_mb, used_mb its resident memory then, and after the rest
//	search_ms        from the last letter to the frame that shows what was found
//	line_ms ...      from the new address to the frame: frames by line, a span, a sandwich
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, settle, watch } from './browser.mjs';

const [makeBigPage, npm, chromium] = process.argv.slice(2);
const RUNS = 5;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sonde-bench-'));

function median(numbers) {
	return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

/* From one thing done in the page to the frame that shows it. */
function timed(page, run) {
	return page.evaluate(`new Promise((done) => {
		const before = performance.now();
		(${run})();
		addEventListener('hashchange', () => requestAnimationFrame(() => setTimeout(() =>
			done(performance.now() - before), 0)), { once: true });
	})`);
}

/* Of the process that draws the page, the largest of those that the browser started: its CPU time
 * in milliseconds and its resident memory. */
function costOf(browser) {
	const children = new Map(), found = { cpu_ms: 0, mb: 0 };
	const read = (pid, name) => fs.readFileSync(`/proc/${pid}/${name}`, 'utf8');
	for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
		try {
			const stat = read(pid, 'stat'), fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
			children.set(fields[1], [...(children.get(fields[1]) || []), { pid, fields }]);
		} catch { /* it has ended */ }
	}
	for (const open = [...(children.get(String(browser.process().pid)) || [])]; open.length;) {
		const { pid, fields } = open.pop();
		open.push(...(children.get(pid) || []));
		if (!read(pid, 'cmdline').includes('--type=renderer')) continue;
		const mb = Number(/VmRSS:\s+(\d+)/.exec(read(pid, 'status'))[1]) / 1024;
		/* A tick is 10 ms on every Linux that sonde runs on. */
		if (mb > found.mb) Object.assign(found, { mb, cpu_ms: 10 * (Number(fields[11]) + Number(fields[12])) });
	}
	return found;
}

async function once(file, hasTime) {
	const browser = await launch(npm, chromium), page = await browser.newPage();
	watch(page);
	await page.setViewport({ width: 1280, height: 800 });
	await page.goto(pathToFileURL(file).href);
	await page.waitForSelector('html[data-ready]', { timeout: 60000 });
	/* The page's own clock: from the navigation on, without the time in which we were told. */
	const result = { interactive_ms: await page.evaluate(() => Number(document.documentElement.dataset.ready)) };
	await settle(page);
	const opened = costOf(browser);
	result.open_cpu_ms = opened.cpu_ms;
	result.open_mb = opened.mb;
	result.frames = (await page.$eval('#status', (p) => p.textContent)).match(/of ([\d,]+) frames/)[1];
	result.search_ms = await timed(page, `() => {
		const box = document.getElementById('search');
		box.value = 'cache';
		box.dispatchEvent(new Event('input'));
	}`);
	await timed(page, `() => { location.hash = '#all'; }`);
	result.line_ms = await timed(page, `() => { location.hash = '#merge=line'; }`);
	await settle(page);
	result.all_frames = (await page.$eval('#status', (p) => p.textContent)).match(/of ([\d,]+) frames/)[1];
	if (hasTime) result.span_ms = await timed(page, `() => { location.hash = '#span=300-500'; }`);
	result.sandwich_ms = await timed(page, `() => { location.hash = '#view=sandwich'; }`);
	result.used_mb = costOf(browser).mb;
	await browser.close();
	if (page.faults.length) throw new Error(page.faults.join('; '));
	return result;
}

for (const kinds of [[], ['time'], ['time', 'source']]) {
	const file = path.join(folder, `big${kinds.join('')}.html`);
	const made = spawnSync(makeBigPage, [file, ...kinds]);
	if (made.status) throw new Error(String(made.stderr));
	const facts = JSON.parse(made.stdout), runs = [];
	for (let i = 0; i < RUNS; i++) runs.push(await once(file, kinds.length > 0));
	console.log(`\n${kinds.length ? `with ${kinds.join(' and ')}` : 'without time'}: ${(facts.bytes / 1e6).toFixed(2)} MB, ` +
		`written in ${facts.write_s} s; ${facts.samples} samples, ${facts.stacks} stacks, ${facts.nodes} nodes`);
	for (const key of Object.keys(runs[0])) {
		const values = runs.map((run) => run[key]);
		console.log(`  ${key.padEnd(16)} ${typeof values[0] === 'number' ? median(values).toFixed(0) : values[0]}`);
	}
}
fs.rmSync(folder, { recursive: true });
