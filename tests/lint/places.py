#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file names a place that only its author's machine has: a path of that machine, or a
mirror that packages came from."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The brackets keep each pattern from finding itself.
PLACES = [
    (re.compile(rb"/wor[k]/"), "a path of one machine"),
    (re.compile(rb"/hom[e]/\w+/"), "somebody's home directory"),
    (re.compile(rb"\b(deb|security|archive|ports|snapshot|ftp[.\w]*)[.](debian|ubuntu)[.](org|com)"),
     "a package mirror"),
    (re.compile(rb"\b(pypi|rubygems|crates|registry[.]npmjs|proxy[.]golang)[.](org|io)\b"),
     "a package registry"),
]


def main():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout
    faults = []
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_symlink() or not path.is_file():
            continue
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            faults += [f"{name}:{number}: {why}" for pattern, why in PLACES if pattern.search(line)]
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(bool(faults))


main()
