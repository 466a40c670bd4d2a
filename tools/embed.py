#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file becomes a C array, so that the program carries it: embed.py INPUT OUTPUT SYMBOL.

    custom_target(input: 'page.js', output: 'page_js.c', command: embed + ['page_js'])

gives `const unsigned char page_js[]` (a zero byte behind the end, so that text is a string)
and `const unsigned long page_js_size` (without it).  Declare both extern where used."""
import pathlib
import sys


def main():
    source, target, symbol = sys.argv[1:]
    data = pathlib.Path(source).read_bytes()
    rows = (data[i:i + 24] for i in range(0, len(data), 24))
    lines = "".join("\t" + "".join(f"{byte}," for byte in row) + "\n" for row in rows)
    pathlib.Path(target).write_text(
        f"/* Made by tools/embed.py from {pathlib.Path(source).name}. */\n"
        f"extern const unsigned char {symbol}[];\n"
        f"extern const unsigned long {symbol}_size;\n"
        f"const unsigned char {symbol}[] = {{\n{lines}\t0\n}};\n"
        f"const unsigned long {symbol}_size = {len(data)};\n")


main()
