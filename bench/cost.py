#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cost.py - what sampling costs: sonde beside a bare sleep loop and a loop that pauses the process.

    cost.py [--seconds S] [--rounds N] [--ruby NAME] [--sonde PATH] [--awake]

One busy Ruby program of 8 and of 50 frames, 99 Hz and 1 kHz. In each round every method runs
once, in an order that turns, with a window without any before it. Printed are medians:

    us a sample   own CPU time of the sampler for each sample (a wake-up, for the bare loop)
    above sleep   the same, less the bare loop
    slower        how much less work the program did in a second (wall), with its standard error

and what one look at the thread costs without names and a profile, and its one memory read alone: at
the same rate, and without deadlines (bench/backtoback.c).  With --awake no CPU goes to sleep meanwhile (bench/awake.c).
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TREE / "tests" / "e2e"))
import interpreters
import stats
from compiled import awake, program
from rows_cost import throughput
from sonde import Running, Sonde
from target import Progress, start

METHODS = ("sleep", "read", "look", "never", "auto", "always", "pausing")
TITLES = {"sleep": "bare sleep loop", "read": "the one read alone", "look": "the look alone", "never": "sonde --pause=never", "auto": "sonde --pause=auto",
          "always": "sonde --pause=always", "pausing": "pausing loop, 25 reads"}
READS = 25  # rbspy makes 23 to 31 for a small Ruby stack


def readable_word(pid):
    """Any address that can be read: the heap's first word."""
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        if line.endswith("[heap]"):
            return line.split("-")[0]
    raise SystemExit("no heap")


class Loop:
    """A yardstick of bench/: the words it prints are its figures."""

    def __init__(self, *command):
        self.process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True)

    def finish(self):
        said, _ = self.process.communicate(timeout=60)
        found = {word: int(number) for word, number in re.findall(r"(\w+) (\d+)", said)}
        return found["cpu_ns"] / 1000 / max(found.get("iterations", found.get("samples")), 1)


class Recorder:
    """sonde record; all that it did once it was attached, divided by all samples."""

    def __init__(self, sonde, pid, rate, seconds, pause):
        self.where = tempfile.TemporaryDirectory()
        directory = Path(self.where.name)
        self.running = Running(sonde.words(directory, pid=pid, rate=rate, seconds=seconds, pause=pause), directory)

    def finish(self):
        self.running.finish(60)
        quality = json.loads(self.running.quality.read_text())
        return quality["own_cpu_ns"] / 1000 / max(quality["samples"], 1)


def begin(method, sonde, pid, rate, seconds):
    if method == "sleep":
        return Loop(program("sleeploop"), rate, seconds)
    if method == "pausing":
        return Loop(program("pausing_loop"), pid, readable_word(pid), rate, seconds, READS)
    if method in ("read", "look"):
        looker = Path(sonde.path).parent / "bench" / "backtoback"
        return Loop(looker, "-r", rate, *(["-m"] if method == "read" else []), pid, round(rate * seconds))
    return Recorder(sonde, pid, rate, seconds, method)


def one_window(method, sonde, pid, progress, rate, seconds):
    """(us a sample, percent slower)"""
    before, _ = throughput(progress, seconds)
    sampler = begin(method, sonde, pid, rate, seconds + 0.5)
    time.sleep(0.25)  # it attaches
    during, _ = throughput(progress, seconds)
    return sampler.finish(), 100 * (1 - during / before)


def table(sonde, interpreter, depth, rate, given):
    inside, outside = interpreter.scratch("cost")
    found = {method: [] for method in METHODS}
    with start(interpreter, "frames.rb", depth, inside) as target:
        progress = Progress(outside)
        progress.wait_for_more(0)
        for number in range(given.rounds):
            for turn in range(len(METHODS)):
                method = METHODS[(number + turn) % len(METHODS)]
                found[method].append(one_window(method, sonde, target.pid, progress, rate, given.seconds))
    bare = stats.median([cost for cost, _ in found["sleep"]])
    print(f"\nRuby {interpreter.name}, {depth} frames, {rate} Hz, {given.rounds} rounds of {given.seconds:g} s")
    print(f"{'':26}{'us a sample':>12}{'above sleep':>12}{'slower':>18}")
    for method in METHODS:
        cost = stats.median([one for one, _ in found[method]])
        lost = [one for _, one in found[method]]
        print(f"{TITLES[method]:26}{cost:12.1f}{cost - bare:12.1f}"
              f"{stats.median(lost):10.1f} +- {stats.median_error(lost):.1f} %", flush=True)


def back_to_back(interpreter, build, depth):
    looker = build / "bench" / "backtoback"
    if not looker.exists():
        print(f"no {looker}: configure with -Dtests=true")
        return
    inside, outside = interpreter.scratch("cost")
    with start(interpreter, "frames.rb", depth, inside) as target:
        Progress(outside).wait_for_more(0)
        said = subprocess.run([looker, str(target.pid), "100000"], capture_output=True, text=True, check=True).stdout
    found = {word: int(number) for word, number in re.findall(r"(\w+) (\d+)", said)}
    print(f"back to back, {found['frames']:2} frames: {found['cpu_ns'] / 1000 / found['samples']:.1f} us a sample, "
          f"{100 * found['moving'] / found['samples']:.2f} % moving")


def tables(interpreter, given):
    for depth in (8, 50):
        back_to_back(interpreter, given.sonde.resolve().parent, depth)
    for depth in (8, 50):
        for rate in (99, 1000):
            table(Sonde(given.sonde.resolve()), interpreter, depth, rate, given)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ruby", default="3.1")
    parser.add_argument("--sonde", type=Path, default=TREE / "build" / "sonde")
    parser.add_argument("--awake", action="store_true")
    given = parser.parse_args()
    there, missing = interpreters.find([given.ruby])
    if not there:
        sys.exit(f"no Ruby {given.ruby}: {missing.get(given.ruby, 'unknown')}")
    with awake() if given.awake else nullcontext():
        tables(there[0], given)


if __name__ == "__main__":
    main()
