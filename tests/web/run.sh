#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh MAKE_PAGE [SCRIPT] - the report page, opened in a real browser without a network: check.mjs,
# or another script that stands beside it.
#
# Needs chromium (Debian: chromium) and node >= 18 (nodejs, npm); puppeteer-core, which drives
# the one from the other, is installed once into ${XDG_CACHE_HOME:-~/.cache}/sonde/npm.  What is
# missing is said, and the exit code is then 77: skipped.
set -euo pipefail

skip() {
	echo "SKIPPED: the report page was not checked: $*" >&2
	echo "1..0 # SKIP $*"
	exit 77
}

make_page=$(realpath "${1:?usage: run.sh MAKE_PAGE [SCRIPT]}")
cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/sonde/npm
browser=
for name in chromium chromium-browser google-chrome; do
	if browser=$(command -v "$name"); then break; fi
done
[[ -n $browser ]] || skip "no chromium (apt-get install chromium)"
command -v node >/dev/null || skip "no node (apt-get install nodejs npm)"
if [[ ! -d $cache/node_modules/puppeteer-core ]]; then
	command -v npm >/dev/null || skip "no npm (apt-get install npm)"
	mkdir -p "$cache"
	npm install --prefix "$cache" --no-save --no-audit --no-fund puppeteer-core@24 \
		>"$cache/install.log" 2>&1 ||
		skip "puppeteer-core could not be installed ($cache/install.log says why)"
fi
exec node "$(dirname "${BASH_SOURCE[0]}")/${2:-check.mjs}" "$make_page" "$cache" "$browser"
