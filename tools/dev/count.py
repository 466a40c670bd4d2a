#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test functions in a meson test log, as "PASSED FAILED SKIPPED": count.py testlog.json

The programs print TAP (cmocka: `ok 1 - name`, `not ok 2 - name`, `not ok 3 # SKIP name`).  A
program that printed none counts as one test.  One that failed without a failed line (a crash, a
sanitizer's report) is one failure more; exit code 77 skips a program as a whole.  What was
skipped is named on standard error."""
import json
import re
import sys

LINE = re.compile(r"^(not )?ok \d+(.*)$", re.M)


def count_program(entry):
    passed = failed = skipped = 0
    for negated, rest in LINE.findall(entry.get("stdout", "")):
        if re.match(r"\s*(-\s*)?#\s*SKIP", rest, re.I):
            skipped += 1
        elif negated:
            failed += 1
        else:
            passed += 1
    if entry["result"] == "SKIP":
        skipped = max(skipped, 1)
    elif entry["result"] != "OK":
        failed = max(failed, 1)
    elif not passed + failed + skipped:
        passed = 1
    return passed, failed, skipped


def main():
    with open(sys.argv[1], encoding="utf-8") as log:
        entries = [json.loads(line) for line in log]
    counts = [count_program(entry) for entry in entries]
    for entry in entries:
        for line in entry.get("stdout", "").splitlines():
            if "# SKIP" in line:
                print(f"SKIPPED {entry['name']}: {line}", file=sys.stderr)
    print(*(sum(column) for column in zip(*counts)) if counts else (0, 1, 0))


main()
