# SPDX-License-Identifier: Apache-2.0
"""rows_perf.py - beside perf record --call-graph dwarf: the same functions, as often."""
import math
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import folded
from rows import Figure, Skip, at_least, row
from rows_kernel import KERNEL
from target import start

RATE = 299  # a copy of the stack each
STACK_BYTES = 65_528
TOP = 20
RETURNS = "restore_rt"
TABLELESS = "assembled"  # of shapes.c
FRAME = re.compile(r"^\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)?$")


def perf_stacks(text):
    """Of `perf script`: a line of who and when, then a frame a line, leaf first, then an empty one."""
    stack = []
    for line in text.splitlines():
        frame = FRAME.match(line)
        if frame:
            stack.append(frame[1].partition("@")[0])
        elif not line and stack:
            yield stack
            stack = []
    if stack:
        yield stack


def same(name):
    """One name of those that a function of libc has: __GI___qsort_r and qsort_r, __vdso_clock_gettime and clock_gettime, memcpy and memmove."""
    return re.sub(r"^memcpy", "memmove", re.sub(r"^(_*(GI|vdso)_|_)+", "", name))


def is_for_both(stack):
    """perf unwinds nothing in the function that returns from a signal, and through none that has no table: these stacks are left out on both sides."""
    return stack[0] != RETURNS and TABLELESS not in stack


def shares(stacks):
    """({function: samples in it}, {function: samples in it or in what it called}, samples)"""
    own, whole, count = Counter(), Counter(), 0
    for names, samples in stacks:
        names = list(map(same, names))
        if not is_for_both(names):
            continue
        own[names[0]] += samples
        whole.update({name: samples for name in set(names) - {RETURNS}})  # perf has no name for it as a caller
        count += samples
    return own, whole, count


def apart(ours, theirs, our_count, their_count):
    """Of our top functions, those whose shares are further apart than chance lets them be: 4.5 sigma and half a point."""
    found = []
    for name, samples in ours.most_common(TOP):
        here, there = samples / our_count, theirs[name] / their_count
        both = (samples + theirs[name]) / (our_count + their_count)
        noise = 4.5 * math.sqrt(both * (1 - both) * (1 / our_count + 1 / their_count)) + 0.005
        if abs(here - there) > noise:
            found.append(f"{name}: {100 * here:.1f} % and {100 * there:.1f} %")
    return found


@row("kernel-perf", "beside perf --call-graph dwarf: the top 20 functions, alone and with what they call, as often within noise", language="native", once=True, alone=True)
def beside(run):
    if not shutil.which("perf"):
        raise Skip("there is no perf")
    with tempfile.TemporaryDirectory() as name, start(run.interpreter, "shapes.c", 1) as target:
        data, seconds = Path(name) / "perf.data", run.seconds(60, 4)
        perf = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "--user-callchains", "-F", str(RATE), "--call-graph", f"dwarf,{STACK_BYTES}", "-p", str(target.pid),
                                 "-o", data, "--", "sleep", str(seconds)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        recording = run.sonde.record(target.pid, rate=RATE, seconds=seconds, more=(*KERNEL, "--no-kernel"))
        _, said = perf.communicate(timeout=60)
        if perf.returncode != 0:
            raise Skip(f"perf cannot: {said[-200:]}")
        text = subprocess.run(["perf", "script", "-i", data, "--no-inline", "-F", "comm,tid,ip,sym"], capture_output=True, text=True, check=True, timeout=600).stdout
    theirs = shares((stack, 1) for stack in perf_stacks(text))
    ours = shares(([folded.method(frame.label) for frame in reversed(stack.frames) if "[inlined]" not in frame.label], stack.count) for stack in recording.stacks)
    for what, at in (("alone", 0), ("with what they call", 1)):
        different = apart(ours[at], theirs[at], ours[2], theirs[2])
        yield Figure(f"{what}: apart: {different[:4] or ''}", len(different), "= 0", not different, chance=True)
    yield at_least("samples, ours", ours[2], 0.5 * RATE * seconds)
    yield at_least("samples, perf's", theirs[2], 0.5 * RATE * seconds)
