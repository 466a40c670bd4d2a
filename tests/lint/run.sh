#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [JOBS [OPTION...]] - every lint, all faults of all of them, then one verdict.  OPTION is of clang's build,
# build-clang.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
jobs=${1:-$(nproc)}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
count=0 failures=0

# step WHAT COMMAND...: silent when it holds.
step() {
	local what=$1
	shift
	count=$((count + 1))
	if "$@" >"$log" 2>&1; then
		printf 'lint: %-50s ok\n' "$what"
	else
		printf 'lint: %-50s FAILED\n' "$what"
		sed 's/^/    /' "$log"
		failures=$((failures + 1))
	fi
}

sources() {
	git ls-files --cached --others --exclude-standard "$@" |
		while read -r file; do [[ -f $file ]] && echo "$file"; done
}

format() {
	! sources 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' | xargs -r -n 1 -P "$jobs" sh -c '
		clang-format "$1" | cmp -s - "$1" || echo "$1: not as clang-format has it (./dev format)"' - |
		grep .
}

scripts() {
	bash -n dev .ci/run tools/dev/*.sh tests/lint/run.sh &&
		sources '*.py' | PYTHONDONTWRITEBYTECODE=1 xargs -r python3 -c '
import sys
for name in sys.argv[1:]:
    compile(open(name).read(), name, "exec")'
}

# build_with COMPILER DIR OPTION...: the whole tree, tests included, with warnings as errors.  DIR may be the
# one that ./dev test uses, which then has nothing left to build.
build_with() {
	local compiler=$1 dir=$2 options=(-Dwerror=true -Dtests=true -Dbpf=enabled "${@:3}")
	if [[ -f $dir/build.ninja ]]; then
		meson configure "$dir" "${options[@]}" || return 1
	else
		rm -rf -- "$dir"
		CC=$compiler meson setup "$dir" "${options[@]}" || return 1
	fi
	ninja --quiet -C "$dir" -j "$jobs" -k 0
}

step "includes point down (docs/LAYERS)" python3 tests/lint/layers.py
step "functions, files and headers are small" python3 tests/lint/sizes.py
step "every test is built" python3 tests/lint/registered.py
step "no path or mirror of one machine" python3 tests/lint/places.py
step "scripts parse" scripts
step "clang-format" format
step "every header compiles alone, gcc and clang" python3 tests/lint/headers.py "$jobs" gcc clang
step "no warning under gcc" build_with gcc build
step "no warning under clang" build_with clang build-clang "${@:2}"

((failures == 0)) || { printf 'lint: %d of %d failed\n' "$failures" "$count"; exit 1; }
