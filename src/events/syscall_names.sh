#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# syscall_names.sh CC... OUTPUT: the system calls of this machine's headers, by number: S(257, "openat")
set -eu
for output; do :; done
compiler=${*%"$output"}
# shellcheck disable=SC2086 # the compiler may be several words
echo '#include <asm/unistd.h>' | $compiler -E -dM - |
	sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9][0-9]*\)$/S(\2, "\1")/p' | sort -t'(' -k2n >"$output"
test -s "$output"
