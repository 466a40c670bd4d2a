# SPDX-License-Identifier: Apache-2.0
"""rows_word.py - the target keeps a word that names where it is, read in the same interrupt as the stack.

The word (tests/targets/native/word.h) is a frame of a toy VM, and so in each sample, at its leaf.
"""
import subprocess
from collections import Counter
from itertools import groupby

import folded
from rows import Figure, at_least, at_most, enough, row
from rows_kernel import KERNEL
from target import start

FUNCTIONS = 15
NAMES = {f"f{number}" for number in range(FUNCTIONS)} | {"run"}


def caller_of(name):
    if name == "run":
        return None
    number = int(name[1:])
    return f"f{(number - 1) // 2}" if number else "run"


def fault(path, word):
    """What is wrong with the program's own functions, root first, for the word. None: nothing."""
    for outer, inner in zip(path, path[1:]):
        if caller_of(inner) != outer:
            return f"{outer};{inner}"
    leaf = path[-1]
    near = word == leaf or word == caller_of(leaf) or caller_of(word) == leaf
    return None if near and path[0] == "run" else f"{path[0]}...{leaf} with the word {word}"


def judge(run, program, *args):
    with start(run.interpreter, program, *args) as target:
        recording = run.sonde.record(target.pid, rate=10_000, seconds=run.count(3_000_000, 10_000) / 10_000, threads=True, more=KERNEL)
    wrong, judged, none, cut = Counter(), Counter(), 0, 0
    for stack in recording.stacks:
        if stack.tid != target.pid:
            continue
        word = next((frame.label for frame in stack.frames if frame.path == "toy"), None)
        names = (folded.method(frame.label) for frame in stack.frames if frame.path != "toy")
        path = [name for name, _ in groupby(name for name in names if name in NAMES)]  # a method and its blocks are one
        if not word or not path:
            none += stack.count
        elif "[truncated]" in (frame.label for frame in stack.frames):
            cut += stack.count
        else:
            wrong[fault(path, word)] += stack.count
            judged[path[-1]] += stack.count
    good = wrong.pop(None, 0)
    samples = good + wrong.total()
    yield Figure(f"of {samples} samples, those with another word {wrong.most_common(1) or ''}", wrong.total(), "= 0", not wrong)
    yield enough("samples", samples, run.count(3_000_000, 10_000) / run.stretch * 0.5)
    yield at_least("functions that were the innermost", len(judged), FUNCTIONS)
    yield at_most("that say that they are cut", 100 * cut / max(samples, 1), 0.5, " %")
    yield at_most("without the one or the other", 100 * none / max(samples, 1), 1, " %")


@row("truth-word", "native -O2: the word is the leaf's, its caller's or its callee's, 3 M samples at 10 kHz", language="native", alone=True)
def native(run):
    yield from judge(run, "worded.c")


def library(run):
    inside, outside = run.interpreter.scratch("libword.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(outside), "tests/targets/native/word.c"], check=True)
    return inside


@row("truth-word-ruby", "Ruby: the word is the leaf's, its caller's or its callee's, 3 M samples at 10 kHz", alone=True)
def ruby(run):
    yield from judge(run, "worded.rb", library(run))


@row("truth-word-python", "Python: the word is the leaf's, its caller's or its callee's, 3 M samples at 10 kHz", language="python", alone=True)
def python(run):
    yield from judge(run, "worded.py", library(run))
