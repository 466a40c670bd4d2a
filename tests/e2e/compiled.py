# SPDX-License-Identifier: Apache-2.0
"""compiled.py - programs in C and C++, built when they are asked for: targets, and the small yardsticks of bench/."""
import functools
import os
import re
import subprocess
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
_directory = tempfile.TemporaryDirectory(prefix="sonde-compiled-")


@functools.cache
def build(compiler, source, *options):
    which = zlib.crc32(" ".join(options).encode())
    built = Path(_directory.name, str(os.getpid())) / f"{Path(source).stem}-{compiler}-{which:08x}"
    built.parent.mkdir(exist_ok=True)
    standard = "gnu++17" if Path(source).suffix == ".cc" else "gnu11"
    subprocess.run([compiler, "-O2", f"-std={standard}", *options, "-o", str(built), str(source)], check=True)
    return str(built)


def program(name):
    return build("cc", BENCH / f"{name}.c", "-D_GNU_SOURCE", "-pthread")


def words_of(text):
    """{word: number} of what a yardstick prints: "samples 10 bytes 20"."""
    return {word: int(number) for word, number in re.findall(r"(\w+) (\d+)", text)}


def numbers(name, *args):
    """Runs a yardstick; what it printed, by words."""
    done = subprocess.run([program(name), *map(str, args)], check=True, capture_output=True, text=True)
    return words_of(done.stdout)


@contextmanager
def awake():
    """No CPU goes to sleep meanwhile: what it costs to wake one is the machine's."""
    with subprocess.Popen([program("awake")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as keeper:
        try:
            if not keeper.stdout.readline().startswith("awake "):
                raise AssertionError("bench/awake has ended")
            yield
        finally:
            keeper.stdin.close()


def sleep_us(rate, seconds):
    """CPU microseconds of one bare wake-up at this rate, on this machine, now."""
    found = numbers("sleeploop", rate, seconds)
    return found["cpu_ns"] / 1000 / max(found["iterations"], 1)
