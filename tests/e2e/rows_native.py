# SPDX-License-Identifier: Apache-2.0
"""rows_native.py - native stacks are those that the program has."""
import json
import subprocess

from rows import Figure, at_least, at_most, exactly, holds, row
from target import start


@row("native-same", "C without frame pointers: stacks equal libdw's, from the same registers and stack", language="native")
def same(run):
    yield from beside_libdw(run)


@row("native-kernel", "the same, walked by the BPF program in the interrupt that the registers are of", language="native")
def in_kernel(run):
    yield from beside_libdw(run, run.build / "src/engines/prof.bpf.o")


def beside_libdw(run, *program):
    samples = run.count(10_000, 1_000)
    for threads in (1, 4):
        with start(run.interpreter, "shapes.c", threads) as target:
            done = subprocess.run([run.build / "tests/unwind/same", str(target.pid), str(samples), "900", *program],
                                  text=True, capture_output=True, timeout=600)
        if done.returncode:
            raise AssertionError(f"same: exit {done.returncode}: {done.stderr[-300:]}")
        seen = json.loads(done.stdout)
        wrong = seen["different"] + seen["shorter"]
        yield Figure(f"{threads} threads: different or shorter {done.stderr[:300] if wrong else ''}", wrong, "= 0", not wrong)
        yield exactly(f"{threads} threads: samples", seen["samples"], samples)
        yield at_least(f"{threads} threads: reach the first function", 100 * seen["done"] / samples, 99.5, " %")
        yield at_most(f"{threads} threads: libdw knows no rule for the leaf", 100 * seen["guessed"] / samples, 5, " %")
        if program:
            yield at_most(f"{threads} threads: samples without a walk", seen["missing"], samples / 100)
        yield holds(f"{threads} threads: where libdw ends sooner", True, seen["longer"], "printed")
