# SPDX-License-Identifier: Apache-2.0
# What ./dev says, and what it installs.  Sourced by ./dev.

say() { printf '==> %s\n' "$*"; }
die() { printf 'dev: %s\n' "$*" >&2; exit 1; }

# What for, a Debian package, and a command that does as well when somebody else installed it.
packages='
build   gcc               gcc
build   libc6-dev
build   clang             clang
build   libbpf-dev
build   libdw-dev
build   meson             meson
build   ninja-build       ninja
build   pkg-config        pkg-config
build   python3           python3
build   libncurses-dev
build   libiberty-dev
build   libxxhash-dev
build   libzstd-dev
build   zlib1g-dev
demo    ruby              ruby
test    ruby              ruby3.1
test    g++               g++
test    libcmocka-dev
test    libclang-rt-14-dev
test    bpftool
test    protobuf-compiler protoc
test    golang-go         go
test    chromium          chromium
test    nodejs            node
test    npm               npm
test    python3-greenlet
test    tmux              tmux
test    linux-perf        perf
test    valgrind          callgrind_annotate
matrix  mmdebstrap        mmdebstrap
matrix  debian-archive-keyring
matrix  make              make
matrix  libffi-dev
lint    clang-format      clang-format
lint    libcmocka-dev
lint    libclang-rt-14-dev
lint    git               git
fuzz    clang             clang
fuzz    libclang-rt-14-dev
bench   ruby              ruby
'

is_installed() {
	dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

# need GROUP...: installs what the groups name and is not there.
need() {
	local group package command missing=()

	command -v dpkg-query >/dev/null ||
		die "this script installs with apt (Debian 12); see the table in tools/dev/install.sh for what else it takes"
	while read -r group package command; do
		[[ -n $group && " $* " == *" $group "* ]] || continue
		[[ -n $command ]] && command -v "$command" >/dev/null && continue
		is_installed "$package" || [[ " ${missing[*]} " == *" $package "* ]] ||
			missing+=("$package")
	done <<<"$packages"
	((${#missing[@]})) || return 0
	((EUID == 0)) ||
		die "missing packages; run: sudo apt-get install -y --no-install-recommends ${missing[*]}"
	say "installing ${missing[*]}"
	apt_quietly update
	apt_quietly install -y --no-install-recommends "${missing[@]}"
}

# Says nothing unless it fails; then everything.
apt_quietly() {
	local log
	log=$(mktemp)
	if ! DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1; then
		cat "$log" >&2
		rm -f "$log"
		die "apt-get $1 failed (see above)"
	fi
	rm -f "$log"
}
