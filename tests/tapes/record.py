#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record.py - records the tapes anew: record.py [--at COMMAND]... [NAME]...

Of the interpreters of `./dev matrix`, or of any others: --at ~/.pyenv/versions/3.12.1/bin/python3. Of each the walk
with the most frames of a program with many shapes of them; of Python one of a thread that was stopped, of which more is read.
"""
import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import interpreters
from sonde import Sonde
from target import start

PROGRAMS = {"ruby": ("lines.rb",), "python": ("parked.py", "busy")}


def frames(tape):
    return sum(line.startswith("frame ") for line in tape.read_text().splitlines())


def record(sonde, interpreter):
    with start(interpreter, *PROGRAMS[interpreter.language.name]) as target, tempfile.TemporaryDirectory() as where:
        version = target.facts["version"]
        done = sonde.run("record", "-p", target.pid, "-d", "0.3", "-r", 100, "--mode=wall", "--pause=always", "-q",
                         "-f", "folded", "-o", f"{where}/out", "--tape", f"{where}/tapes")
        if done.returncode:
            sys.exit(f"{interpreter.name}: {done.stderr}")
        longest = max(Path(where, "tapes").glob("*"), key=frames)
        version = version if isinstance(version, str) else ".".join(map(str, version)) + "t" * interpreter.free_threaded
        name = f"{interpreter.language.name}-{version}{'-yjit' if interpreter.jit else ''}.tape"
        (HERE / name).write_bytes(longest.read_bytes())
        print(f"{name}: {frames(longest)} frames, {longest.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--at", action="append", default=[], metavar="COMMAND")
    parser.add_argument("name", nargs="*")
    given = parser.parse_args()
    there, missing = ([], {}) if given.at and not given.name else interpreters.find(given.name or None)
    sonde = Sonde(HERE.parents[1] / "build" / "sonde")
    for interpreter in [*there, *map(interpreters.at, given.at)]:
        if interpreter.language.name in PROGRAMS:
            record(sonde, interpreter)
    for name, why in missing.items():
        print(f"{name}: {why}")


main()
