#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report page from its parts: pack.py OUTPUT page.html page.css FIRST.js ... LAST.js.

The scripts become one, in the order given, in a function of its own; the policy in the page
then allows that script and that style by their SHA-256, and nothing else.  What each exported
file fills in (%%title%%, %%facts%%, %%data%%) must stand in the result once and in that order."""
import base64
import hashlib
import pathlib
import re
import sys


def read(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    # The licence stands in the page once; each file's own head is for its reader here.
    return re.sub(r"\A/\*.*?\*/\n", "", text, flags=re.S)


def hash_of(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def main():
    output, page, style, *scripts = sys.argv[1:]
    css = "\n" + read(style)
    js = "\n'use strict';\n(() => {\n" + "\n".join(read(path) for path in scripts) + "})();\n"
    if "</" in css or "</s" in js or "<!--" in js:
        sys.exit("pack.py: a script or style must not hold what ends its element")
    text = pathlib.Path(page).read_text(encoding="utf-8")
    for name, value in [("%%style-hash%%", hash_of(css)), ("%%script-hash%%", hash_of(js)),
                        ("%%style%%", css), ("%%script%%", js)]:
        if text.count(name) != 1:
            sys.exit(f"pack.py: {name} must stand in {page} once")
        text = text.replace(name, value)
    places = [text.find(name) for name in ("%%title%%", "%%facts%%", "%%data%%")]
    if -1 in places or places != sorted(places) or text.count("%%") != 6:
        sys.exit("pack.py: the slots are not title, facts, data, each once")
    pathlib.Path(output).write_text(text, encoding="utf-8")


main()
