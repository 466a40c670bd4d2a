// SPDX-License-Identifier: Apache-2.0
// check.mjs MAKE_PAGE NPM_DIR CHROMIUM [NAME] - what the report page shows and does, in TAP.
//
// Each check opens a page that make_page.c made, in a browser that has no network.  A page that
// logs anything, asks for anything or throws fails its check.  With NAME: those whose name has it.
import assert from 'node:assert/strict';
import { launch } from './browser.mjs';
import { begin, checks, end } from './pages.mjs';
import './check_graph.mjs';
import './check_views.mjs';
import './check_time.mjs';
import './check_form.mjs';
import './check_import.mjs';
import './check_changes.mjs';

const [makePage, npm, chromium, wanted = ''] = process.argv.slice(2);
const chosen = checks.filter(([name]) => name.includes(wanted));
const browser = await launch(npm, chromium);
let failed = 0;
begin(makePage);
console.log(`1..${chosen.length}`);
for (const [i, [name, run]] of chosen.entries()) {
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
end();
process.exit(failed ? 1 : 0);
