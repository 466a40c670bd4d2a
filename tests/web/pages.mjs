// SPDX-License-Identifier: Apache-2.0
// pages.mjs - the profiles that the checks look at, and the list of checks.
//
// A page is written by make_page.c from folded lines.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sonde-web-'));
let makePage = null, pages = 0;

export const checks = [];
export const check = (name, run) => checks.push([name, run]);

export function begin(program) {
	makePage = program;
}

export function end() {
	fs.rmSync(folder, { recursive: true });
}

export function pageOf(folded, title, extension = 'html') {
	const file = path.join(folder, `${++pages}.${extension}`);
	const made = spawnSync(makePage, title === undefined ? [file] : [file, title], { input: folded });
	assert.equal(made.status, 0, String(made.stderr));
	return file;
}

// Of what another profiler wrote: folded lines, or a profile.proto.
export const importedOf = (bytes) => pageOf(bytes, '--import');

// A profile.proto of two sample types, [type, unit] each: main.run calls [libc.so.6] (70 and 5.5 million) and is
// itself seen (7 and 0.7 million).
export function pprofOf(first, second) {
	const number = (n) => n < 128 ? [n] : [n & 127 | 128, ...number(Math.floor(n / 128))];
	const bytes = (field, content) => [field << 3 | 2, ...number(content.length), ...content];
	const uint = (field, n) => [field << 3, ...number(n)];
	const texts = ['', ...first, ...second, 'main.run', '[libc.so.6]'].map((text) => bytes(6, [...Buffer.from(text)]));
	const code = [1, 2].flatMap((id) => [...bytes(5, [...uint(1, id), ...uint(2, 4 + id)]),
		...bytes(4, [...uint(1, id), ...bytes(4, uint(1, id))])]);
	const sample = (places, values) => bytes(2, [...bytes(1, places), ...bytes(2, values.flatMap(number))]);
	return Buffer.from([...bytes(1, [...uint(1, 1), ...uint(2, 2)]), ...bytes(1, [...uint(1, 3), ...uint(2, 4)]),
		...texts.flat(), ...code, ...sample([2, 1], [70, 5500000]), ...sample([1], [7, 700000])]);
}

// The lines that `sonde export -f folded` makes of it.
export function foldedOf(folded) {
	return fs.readFileSync(pageOf(folded, undefined, 'folded'), 'utf8');
}

// 100 samples, 1 s of CPU time, 12 frames, 2 threads.
export const SMALL = `
thread main (1);<main> (/app/run.rb:1);Foo#work (/app/foo.rb:10);Array#map [c];Foo#leaf (/app/foo.rb:20) 40
thread main (1);<main> (/app/run.rb:1);Foo#work (/app/foo.rb:11);Array#map [c];memcpy [native] 20
thread main (1);<main> (/app/run.rb:2);Bar#again (/app/bar.rb:5);Bar#again (/app/bar.rb:5);Bar#again (/app/bar.rb:6) 10
thread worker 1 (2);<main> (/app/run.rb:3);Foo#leaf (/app/foo.rb:21);vfs_read [kernel] 20
thread worker 1 (2);<main> (/app/run.rb:3);[moving] 10
`;

// The same program: it works for half a second, then reads. There are 954 slots of 2^20 ns.
export const TIMED = `
# at 0
thread main (1);<main> (/app/run.rb:1);Foo#work (/app/foo.rb:10);Array#map [c];Foo#leaf (/app/foo.rb:20) 30
# at 400
thread main (1);<main> (/app/run.rb:1);Foo#work (/app/foo.rb:11);Array#map [c];memcpy [native] 20
# at 600
thread worker 1 (2);<main> (/app/run.rb:3);Foo#leaf (/app/foo.rb:21);vfs_read [kernel] 20
# at 999
thread main (1);<main> (/app/run.rb:1);Foo#work (/app/foo.rb:10);Array#map [c];Foo#leaf (/app/foo.rb:20) 10
thread worker 1 (2);<main> (/app/run.rb:3);[moving] 20
`;

export const PWN = '</script><script>window.pwned=1</script>';

export const SOURCED = `${SMALL}
# source /app/foo.rb
|${'\n|'.repeat(8)}def work(list)
|	list.map { |x| leaf(x) }
|	"a\\\\n" + ${PWN}
|end
|${'\n|'.repeat(6)}def leaf(x)
|	x * 2
|	read(x)
|end
# source /app/cold.rb
|nothing here was seen
`;

// 10,000 samples each. work() has 10 points more, idle() 10 fewer; steady() differs by one in a thousand.
export const COMPARED = `
<main> (/app/run.rb:1);steady (/app/foo.rb:5) 3000
<main> (/app/run.rb:1);work (/app/foo.rb:10);helper (/app/foo.rb:90) 1000
<main> (/app/run.rb:1);idle (/app/foo.rb:20);helper (/app/foo.rb:90) 5000
<main> (/app/run.rb:1);old (/app/foo.rb:30) 1000
# after
<main> (/app/run.rb:1);steady (/app/foo.rb:5) 3010
<main> (/app/run.rb:1);work (/app/foo.rb:11);helper (/app/foo.rb:92) 2000
<main> (/app/run.rb:1);idle (/app/foo.rb:20);helper (/app/foo.rb:90) 3990
<main> (/app/run.rb:1);added (/app/foo.rb:40) 1000
`;
