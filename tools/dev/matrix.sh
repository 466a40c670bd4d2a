# SPDX-License-Identifier: Apache-2.0
# The interpreters of other Debian releases, each unpacked into a root directory of its own:
# ${XDG_CACHE_HOME:-~/.cache}/sonde/roots/SUITE; and one that no release has, built once from Debian's own
# source, in roots/python3.13t.  Sourced by ./dev.
#
# What cannot be had leaves NAME.skipped with the reason; the acceptance rows count it.

roots="${XDG_CACHE_HOME:-$HOME/.cache}/sonde/roots"

# The suite, what to install: packages that are called like the interpreters they hold; and what some rows
# use of it, where it can be had.
matrix_suites='
bullseye      ruby2.7,python2.7,python3.9    python3-greenlet
trixie        ruby3.3,python3.13             python3-greenlet
sid           ruby3.3,python3.14,python3.15  python3-greenlet
experimental  ruby3.4
'

# Where this system gets its own packages from: the roots come from the same place.
debian_mirror() {
	local release
	release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk -v release="$release" '$2 == release && $3 == "main" { print $1; exit }'
}

# experimental holds only what differs from sid.
suite_sources() {
	local suite=$1 mirror=$2
	case $suite in
	experimental)
		printf 'deb %s sid main\n' "$mirror"
		printf 'deb %s experimental main\n' "$mirror"
		;;
	*) printf 'deb %s %s main\n' "$mirror" "$suite" ;;
	esac
}

# Removes a directory tree of ours, never what is mounted inside it.
remove_tree() {
	local mounted
	[[ -e $1 ]] || return 0
	awk '{ print $2 }' /proc/self/mounts | grep -F -- "$1/" | sort -r |
		while read -r mounted; do umount "$mounted"; done
	rm -rf --one-file-system -- "$1"
}

# Does the root have every interpreter of the list?
has_interpreters() {
	local root=$1 name
	for name in ${2//,/ }; do
		[[ -x $root/usr/bin/$name ]] || return 1
	done
}

# Unpacked beside its final name and renamed, so that an interrupted run is simply repeated.
unpack_suite() {
	local suite=$1 include=$2 mirror=$3 base=$1
	local root="$roots/$suite" log="$roots/$suite.log"

	[[ $suite == experimental ]] && base=sid
	remove_tree "$root.partial"
	say "matrix: unpacking $suite (its log: $log)"
	suite_sources "$suite" "$mirror" |
		mmdebstrap --variant=apt --mode=root --include="$include" \
			--aptopt='Acquire::Check-Valid-Until "false"' \
			"$base" "$root.partial" - >"$log" 2>&1 || return 1
	has_interpreters "$root.partial" "$include" || return 1
	remove_tree "$root"
	mv "$root.partial" "$root"
}

# What some rows use: without it they skip, and say so.
add_to_suite() {
	local suite=$1 package=$2 root="$roots/$1"

	[[ -n $package && ! -e $root/var/lib/dpkg/info/$package.list ]] || return 0
	say "matrix: adding $package to $suite"
	chroot "$root" sh -c 'apt-get update && apt-get install -y --no-install-recommends "$1"' - "$package" \
		>>"$root.log" 2>&1 ||
		say "matrix: no $package in $suite (see $root.log)"
}

# The source package of a suite, in a directory with an apt of its own.
fetch_source() {
	local suite=$1 package=$2 mirror=$3 dir=$4 apt

	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	printf 'deb-src %s %s main\n' "$mirror" "$suite" >"$dir/sources.list"
	apt=(apt-get -q -o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o "Dir::State::Lists=$dir/lists" -o "Dir::Cache=$dir/cache"
		-o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root)
	"${apt[@]}" update &&
		(cd "$dir" && "${apt[@]}" source --download-only "$package" && tar -xf ./*.orig.tar.?z)
}

# Python without a GIL: some three minutes.
build_free_threaded() {
	local mirror=$1 dir="$roots/python3.13t.partial" log="$roots/python3.13t.log"

	rm -rf -- "$dir" "$roots/python3.13t"
	say "matrix: building python3.13t (its log: $log)"
	(
		fetch_source trixie python3.13 "$mirror" "$dir" && cd "$dir"/Python-3.13* &&
			./configure --prefix="$roots/python3.13t" --disable-gil --disable-test-modules \
				--without-ensurepip &&
			make -j "$jobs" && make install
	) >"$log" 2>&1 || return 1
	rm -rf -- "$dir"
}

matrix_skip() {
	say "matrix: SKIPPED $1: $2"
	printf '%s\n' "$2" >"$roots/$1.skipped"
	matrix_skipped=$((matrix_skipped + 1))
}

dev_matrix() {
	local suite include also mirror matrix_skipped=0

	mkdir -p "$roots"
	mirror=$(debian_mirror || true)
	# It takes a compiler's time, and the suites the network's.
	if [[ -n $mirror && ! -x $roots/python3.13t/bin/python3.13t ]]; then
		set -m # a process group of its own, which is ended as a whole
		build_free_threaded "$mirror" &
		builder_pid=$!
		set +m
	fi
	while read -r suite include also; do
		[[ -n $suite ]] || continue
		if ! has_interpreters "$roots/$suite" "$include"; then
			if ((EUID != 0)); then
				matrix_skip "$suite" "unpacking a root takes root"
				continue
			elif [[ -z $mirror ]]; then
				matrix_skip "$suite" "this system's apt knows no Debian mirror"
				continue
			elif ! unpack_suite "$suite" "$include" "$mirror"; then
				tail -n 5 "$roots/$suite.log" >&2
				remove_tree "$roots/$suite.partial"
				matrix_skip "$suite" "could not be unpacked (see $roots/$suite.log)"
				continue
			fi
		fi
		rm -f "$roots/$suite.skipped"
		((EUID == 0)) || continue
		if ! mountpoint -q "$roots/$suite/proc"; then
			mkdir -p "$roots/$suite/proc"
			mount --bind /proc "$roots/$suite/proc" ||
				matrix_skip "$suite" "/proc could not be mounted in it"
		fi
		add_to_suite "$suite" "$also"
	done <<<"$matrix_suites"
	if [[ -n $builder_pid ]]; then
		wait "$builder_pid" || rm -rf -- "$roots/python3.13t.partial" "$roots/python3.13t"
		builder_pid=
	fi
	if [[ ! -x $roots/python3.13t/bin/python3.13t ]]; then
		tail -n 5 "$roots/python3.13t.log" >&2 || true
		matrix_skip python3.13t "could not be built (see $roots/python3.13t.log)"
	fi
	say "matrix: $(find "$roots" -mindepth 1 -maxdepth 1 -type d ! -name '*.partial' | wc -l) roots in $roots, $matrix_skipped skipped"
}
