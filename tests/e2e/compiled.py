# SPDX-License-Identifier: Apache-2.0
"""compiled.py - the small C yardsticks of bench/, built when they are asked for."""
import functools
import re
import subprocess
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
_directory = tempfile.TemporaryDirectory(prefix="sonde-yardsticks-")


@functools.cache
def program(name):
    built = Path(_directory.name) / name
    subprocess.run(["cc", "-O2", "-std=gnu11", "-D_GNU_SOURCE", "-o", str(built),
                    str(BENCH / f"{name}.c")], check=True)
    return str(built)


def numbers(name, *args):
    """Runs a yardstick; {word: number} of what it printed."""
    done = subprocess.run([program(name), *map(str, args)], check=True, capture_output=True, text=True)
    return {word: int(number) for word, number in re.findall(r"(\w+) (\d+)", done.stdout)}


def sleep_us(rate, seconds):
    """CPU microseconds of one bare wake-up at this rate, on this machine, now."""
    found = numbers("sleeploop", rate, seconds)
    return found["cpu_ns"] / 1000 / max(found["iterations"], 1)
