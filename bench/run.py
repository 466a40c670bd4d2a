#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - the measurements: run.py [NAME [ARGUMENT...]]. Without a name, all of them, one after the other.

A measurement is a program NAME.py or NAME.sh in this directory. It prints; it judges nothing: the bars
are in tests/e2e.
"""
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def known():
    """{name: argv}"""
    found = {path.stem: [sys.executable, str(path)] for path in HERE.glob("*.py") if path.name != "run.py"}
    found.update({path.stem: ["bash", str(path)] for path in HERE.glob("*.sh")})
    return found


def main():
    there = known()
    name, *arguments = sys.argv[1:] or [None]
    if name and name not in there:
        sys.exit(f"no measurement {name}; there are {', '.join(sorted(there))}")
    failed = False
    for one in [name] if name else sorted(there):
        print(f"== {one}", flush=True)
        failed |= subprocess.run([*there[one], *arguments], check=False).returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
