#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""registered.py - every file of tests/unit and tests/fuzz is one that its meson.build names: else it never runs."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILDS = {build: build.read_text() for build in (ROOT / "tests").rglob("meson.build")}


def is_named(source):
    """By its name or its stem (where a loop makes the name of it) beside it, or by its path from elsewhere."""
    beside = [text for build, text in BUILDS.items() if build.parent in (source.parent, source.parent.parent)]
    return (any(re.search(rf"'{re.escape(source.stem)}(\.c)?'", text) for text in beside)
            or any(f"/{source.parent.name}/{source.name}'" in text for text in BUILDS.values()))


unnamed = [source for folder in ("unit", "fuzz") for source in sorted((ROOT / "tests" / folder).rglob("*.c"))
           if not is_named(source)]
for source in unnamed:
    print(f"{source.relative_to(ROOT)}: its meson.build does not name it")
sys.exit(bool(unnamed))
