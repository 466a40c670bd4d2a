#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes point down, and the two wings do not meet: docs/LAYERS has the rules."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'\s*#\s*(?:include|if __has_include\()\s*"([^"]+)"')


def read_layers():
    layers = {}
    for line in (ROOT / "docs/LAYERS").read_text().splitlines():
        if line and not line.startswith("#"):
            number, wing, *folders = line.split()
            layers.update({folder: (int(number), wing) for folder in folders})
    return layers


def fault(layers, here, there):
    """Why a file in folder `here` must not include one in `there` (tuples of folder names)."""
    if there[0] not in layers:
        return f'"{there[0]}" is not a folder of docs/LAYERS'
    if here[0] == there[0]:
        if len(here) > 1 and len(there) > 1 and here[1] != there[1]:
            return f"{'/'.join(here[:2])} and {'/'.join(there[:2])} are siblings"
        return None
    (here_layer, here_wing), (there_layer, there_wing) = layers[here[0]], layers[there[0]]
    if there_layer >= here_layer:
        return f"{here[0]} is layer {here_layer}, {there[0]} is layer {there_layer}"
    if {here_wing, there_wing} == {"R", "T"}:
        return f"{here[0]} and {there[0]} are in different wings"
    return None


def check(layers, path):
    here = path.relative_to(ROOT / "src").parent.parts
    if here[0] not in layers:
        return [f"{path.relative_to(ROOT)}: {here[0]} is not a folder of docs/LAYERS"]
    faults = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        name = pathlib.PurePosixPath(match[1])
        if ".." in name.parts:
            why = "includes are written from src/ on, never with .."
        elif name.parent.parts in ((), ("sonde",)):  # own folder, or the public header
            why = None if name.parent.parts == () or layers[here[0]][0] >= 7 else \
                "only lib and cli know the public header"
        else:
            why = fault(layers, here, name.parent.parts)
        if why:
            faults.append(f"{path.relative_to(ROOT)}:{number}: includes {name}: {why}")
    return faults


def main():
    layers = read_layers()
    files = sorted((ROOT / "src").rglob("*.[ch]"))
    faults = [line for path in files for line in check(layers, path)]
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(bool(faults) or not files)


main()
