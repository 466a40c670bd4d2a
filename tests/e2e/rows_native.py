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


def steps(run, program, *args):
    """The program, one instruction at a time: what the unwinder says beside where the calls left their way back."""
    count = run.count(3_000_000, 100_000)
    with start(run.interpreter, program, *args) as target:
        done = subprocess.run([run.build / "tests/unwind/steps", str(target.pid), str(count)], text=True, capture_output=True,
                              timeout=600)
    if done.returncode:
        raise AssertionError(f"steps: exit {done.returncode}: {done.stderr[-300:]}")
    seen = json.loads(done.stdout)
    judged = seen["judged"]
    yield Figure(f"callers that are none, of {judged} {done.stderr[:300] if seen['elsewhere'] else ''}", seen["elsewhere"], "= 0",
                 not seen["elsewhere"])
    # at the jump of __builtin_longjmp() they are no longer of the frame that it leaves, and not yet of the one that it goes to
    yield at_most("registers that are not the caller's", 100 * seen["registers"] / judged, 0.01, " %")
    yield at_most("return addresses that were moved", 100 * seen["moved"] / judged, 0.1, " %")
    # of what was called before it began nothing is known
    yield at_least("instructions judged", 100 * judged / seen["steps"], 50, " %")
    yield holds("instructions without a rule", True, f"{100 * seen['ruleless'] / seen['steps']:.3f} %", "printed")


@row("native-steps", "C, one instruction at a time: the caller is where the call left its address, with its registers", language="native")
def native_steps(run):
    yield from steps(run, "shapes.c", 1)


@row("native-steps-ruby", "the same of Ruby's own code", once=True)
def ruby_steps(run):
    for program in ("called.rb", "thrown.rb"):
        yield from steps(run, program)


@row("native-steps-python", "the same of Python's", language="python", once=True)
def python_steps(run):
    for kind in ("hooked", "thrown"):
        yield from steps(run, "torn.py", kind)
