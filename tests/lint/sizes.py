#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small functions, small files: a limit for each, and a list of exceptions that can only shrink.

tests/lint/exceptions has a line for each: path, or path:function, how many lines it may have,
why.  An exception that is larger than what it excuses is a fault too: ugliness is counted."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTION, FILE, HEADER, PUBLIC_HEADER = 80, 800, 200, 500
SUFFIXES = {".c", ".h", ".py", ".rb", ".sh", ".js", ".css"}
# The last word before the parameters; in this format a body begins with a brace of its own.
NAME = re.compile(r"(\w+)\(")


def read_exceptions():
    exceptions = {}
    for line in (ROOT / "tests/lint/exceptions").read_text().splitlines():
        if line and not line.startswith("#"):
            what, lines, _reason = line.split(None, 2)
            exceptions[what] = int(lines)
    return exceptions


def files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for path in map(pathlib.Path, listed.splitlines())
            if path.suffix in SUFFIXES and (ROOT / path).is_file()]


def functions(lines):
    """(name, lines) of each C function: from its first line to the brace in column 0."""
    head = body = None
    for number, line in enumerate(lines):
        if line == "{" and head is not None:
            body = head
        elif line.startswith("}") and body is not None:
            name = NAME.search(" ".join(lines[body:number]))
            yield (name[1] if name else "?"), number - body + 1
            body = head = None
        elif body is None:
            # A signature is the unbroken run of lines in front of the brace.
            if re.match(r"[A-Za-z_]", line) and not line.endswith((";", "{", ":")):
                head = number if head is None else head
            elif not line.startswith(("\t", " ")):
                head = None


def limit_of(path):
    if path.suffix != ".h" or path.name == "step.h" or path.name.endswith(".bpf.h"):  # a walker: code, in a header to be included
        return FILE
    return PUBLIC_HEADER if path.parts[0] == "include" else HEADER


def measures():
    """(what, lines, limit) of everything there is."""
    for path in files():
        lines = (ROOT / path).read_text().splitlines()
        yield str(path), len(lines), limit_of(path)
        if path.suffix in (".c", ".h"):
            for name, length in functions(lines):
                yield f"{path}:{name}", length, FUNCTION


def main():
    exceptions = read_exceptions()
    faults = []
    for what, lines, limit in measures():
        allowed = exceptions.pop(what, None)
        if allowed is None and lines > limit:
            faults.append(f"{what}: {lines} lines, at most {limit}")
        elif allowed is not None and lines > allowed:
            faults.append(f"{what}: {lines} lines, its exception allows {allowed}")
        elif allowed is not None and (lines < allowed or lines <= limit):
            faults.append(f"{what}: {lines} lines; its exception of {allowed} can be lowered or removed")
    faults += [f"{what}: excepted, but not there" for what in exceptions]
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(bool(faults))


main()
