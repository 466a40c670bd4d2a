#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py BUILD - what `meson install` puts down: the program runs from there, and every sub-command that
it knows has a page."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COMPLETIONS = ("bash-completion/completions/sonde", "zsh/site-functions/_sonde", "fish/vendor_completions.d/sonde.fish")


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def main():
    with tempfile.TemporaryDirectory(prefix="sonde-install-") as where:
        output("meson", "install", "-C", sys.argv[1], "--no-rebuild", "--destdir", where)
        program = next(Path(where).rglob("bin/sonde"))
        listed = output(program, "help")
        table = listed[listed.index("Commands:"):].split("\n\n")[0]
        commands = re.findall(r"^  ([a-z]+) +\S", table, re.M)
        if "record" not in commands:
            sys.exit(f"no commands in: {listed}")
        pages = {page.name: page.read_text() for page in Path(where).rglob("man1/*.1")}
        for name in ("sonde", *(f"sonde-{command}" for command in commands)):
            if not pages.get(f"{name}.1", "").startswith(".TH"):
                sys.exit(f"no page {name}.1 among {sorted(pages)}")
        for name in COMPLETIONS:
            if not any(found.stat().st_size for found in Path(where).rglob(f"share/{name}")):
                sys.exit(f"no completion {name}")


if __name__ == "__main__":
    main()
