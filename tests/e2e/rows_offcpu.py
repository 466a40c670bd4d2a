# SPDX-License-Identifier: Apache-2.0
"""rows_offcpu.py - the kernel engine's view of threads that do not run: where they wait, and for how long."""
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

import folded
from rows import at_least, at_most, exactly, holds, row
from rows_kernel import symbols
from target import start

PROGRAMS = {"native": "offcpu.c", "ruby": "offcpu.rb", "python": "offcpu.py"}
WAITS = {"ruby": "(waiting for the GVL)", "python": "(waiting for the GIL)"}
NAMES = ("naps", "takes", "reads")


def waited_ns(pid):
    """How long each thread was ready, and had no CPU."""
    return {int(task.name): int(Path(task, "schedstat").read_text().split()[1]) for task in Path(f"/proc/{pid}/task").iterdir()}


def recorded(run, language, mode):
    seconds = run.seconds(60, 2)
    with start(run.interpreter, PROGRAMS[language]) as target:
        before = waited_ns(target.pid)
        recording = run.sonde.record(target.pid, seconds=seconds, threads=True, weights=True, mode=mode, more=("-e", "kernel"))
        waited = {tid: ns - before.get(tid, 0) for tid, ns in waited_ns(target.pid).items()}
        facts = {**target.facts, **target.finish(), "waited": waited}
    span = recording.quality["end_ns"] - recording.quality["begin_ns"]
    return recording, facts, span


def is_in(stack, name):
    return any(folded.bare(frame.label) == name for frame in stack.frames)


def off_cpu(run, language):
    recording, facts, span = recorded(run, language, "offcpu")
    ours, by_tid, waits = Counter(), Counter(), Counter()
    for stack in recording.stacks:
        by_tid[stack.tid] += stack.count
        for name in NAMES:
            ours[name] += stack.count * is_in(stack, name)
        if stack.tid in facts["tids"]["spins"]:
            waits[symbols(stack)[-1] if stack.frames[-1].label == WAITS.get(language) else "else"] += stack.count
    truth = facts["off_ns"]
    errors = {name: 100 * abs(ours[name] / ours.total() - truth[name] / sum(truth.values())) for name in NAMES}
    worst = max(errors, key=errors.get)
    yield at_most(f"shares of {', '.join(NAMES)}: worst ({worst}) off by", errors[worst], 2, " points",
                  2 if run.full else 4)
    for name in ("forever", "naps"):
        tid = facts["tids"][name][0]
        off = span - facts["waited"].get(tid, 0)
        yield at_most(f"{name}: {by_tid[tid] / 1e9:.2f} s of {off / 1e9:.2f}: off by",
                      100 * abs(by_tid[tid] - off) / span, 2, " %", 2 if run.full else 4)
    in_forever = sum(stack.count for stack in recording.stacks if stack.tid == facts["tids"]["forever"][0] and is_in(stack, "forever"))
    yield at_least("forever: in its own function", 100 * in_forever / max(by_tid[facts["tids"]["forever"][0]], 1), 99, " %")
    # Python 2.7 does not say who waits
    if language in WAITS and run.interpreter.name != "py2.7" and waits.total() > 0.05 * span:
        yield at_least(f"threads that compute wait for the lock, of {waits.total() / span:.2f} of the time",
                       100 * (waits.total() - waits["else"]) / waits.total(), 95, " %")
    yield exactly("ledger: expected - taken - lost",
                  recording.quality["expected"] - recording.quality["taken"] - recording.lost, 0)


def wall(run, language):
    recording, facts, span = recorded(run, language, "wall")
    by_tid = Counter()
    for stack in recording.stacks:
        by_tid[stack.tid] += stack.count
    tids = {tid: name for name, tids in facts["tids"].items() for tid in tids}
    errors = {f"{name} {tid}": 100 * abs(by_tid[tid] / span - 1) for tid, name in tids.items()}
    worst = max(errors, key=errors.get)
    yield at_most(f"each thread's time is that of the clock: worst ({worst.split()[0]}) off by", errors[worst], 2, " %",
                  2 if run.full else 5)


@row("offcpu-native", "off the CPU: shares within 2 points; who never runs is there", language="native", alone=True)
def native(run):
    yield from off_cpu(run, "native")


@row("offcpu-ruby", "off the CPU, Ruby: the same, and the wait for the GVL has its name", language="ruby", alone=True)
def ruby(run):
    yield from off_cpu(run, "ruby")


@row("offcpu-python", "off the CPU, Python: the same, and the wait for the GIL has its name", language="python", alone=True)
def python(run):
    yield from off_cpu(run, "python")


@row("offcpu-ready", "who is ready and waits for a CPU is not off it for what it slept on", language="native", once=True, alone=True)
def ready(run):
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "blocked")
        recording = run.sonde.record(command=run.interpreter.command("ready.c", 10 if run.full else 2, file), seconds=None,
                                     weights=True, mode="offcpu", more=("-e", "kernel"))
        blocked = int(file.read_text())
    ours = sum(stack.count for stack in recording.stacks if is_in(stack, "naps"))
    yield at_most(f"naps: {ours / 1e9:.2f} s of {blocked / 1e9:.2f} blocked: off by", 100 * abs(ours / blocked - 1), 5, " %",
                  5 if run.full else 15)


@row("offcpu-deep", "who sleeps 4,500 Python frames deep: 4,096 from the leaf, and counted as cut", language="python", once=True)
def deep(run):
    with start(run.interpreter, "deep.py", 4_500, "sleeps") as target:
        time.sleep(1)  # it calls
        recording = run.sonde.record(target.pid, seconds=1, mode="offcpu", more=("-e", "kernel"))
    frames = Counter({sum(folded.bare(frame.label) == "down" for frame in stack.frames): stack.count for stack in recording.stacks})
    yield at_least("frames of down()", max(frames), 4_000)
    yield at_least("stacks that are marked as cut", recording.quality["truncated"], 1)


@row("wall-kernel", "wall time by the kernel engine: each thread's weights are the time that passed", language="native", alone=True)
def wall_native(run):
    yield from wall(run, "native")


@row("wall-kernel-ruby", "the same of Ruby", language="ruby", once=True, alone=True)
def wall_ruby(run):
    yield from wall(run, "ruby")


@row("wall-kernel-bursts", "short waits by the thousand, then a long one: its time is its own", language="native", alone=True)
def bursts(run):
    seconds = run.seconds(20, 2)
    with start(run.interpreter, "bursts.c") as target:
        recording = run.sonde.record(target.pid, seconds=seconds, weights=True, mode="wall", more=("-e", "kernel"))
        spent = target.finish()["spent_ns"]
    span = recording.quality["end_ns"] - recording.quality["begin_ns"]
    ours = Counter({name: sum(stack.count for stack in recording.stacks if is_in(stack, name)) for name in spent})
    truth = spent["long_wait"] / sum(spent.values())
    yield at_most("share of the long wait off by", 100 * abs(ours["long_wait"] / max(1, ours.total()) - truth), 2, " points",
                  2 if run.full else 5)
    yield at_most("sum of all weights off by", 100 * abs(folded.total(recording.stacks) / span - 1), 2, " %", 2 if run.full else 7)


@row("wall-kernel-starts", "threads that wait since before their VM was found: each has its name, and its frames", language="python")
def wall_starts(run):
    seconds = run.seconds(10, 1.5)
    names, of_all, in_frames = Counter(), Counter(), Counter()
    with tempfile.TemporaryDirectory(prefix="sonde-e2e-") as nothing:  # no table is kept: that takes longest
        recording = run.sonde.record(command=run.interpreter.command("waits.py", seconds), seconds=None, mode="wall", weights=True,
                                     threads=True, more=("-e", "kernel"), environment={**os.environ, "XDG_CACHE_HOME": nothing})
    for stack in recording.stacks:
        names[stack.thread] += stack.count
        of_all[stack.tid] += stack.count
        in_frames[stack.tid] += stack.count if any(folded.method(frame.label) == "wait_here" for frame in stack.frames) else 0
    waiters = sorted(name for name in names if name.startswith("waiter-"))
    shares = sorted(100 * in_frames[tid] / of_all[tid] for tid in of_all if in_frames[tid])
    yield holds("their names", waiters == [f"waiter-{number}" for number in range(3)], str(dict(names)))
    yield at_least("of their time in their function, least", shares[0] if len(shares) == 3 else 0, 95, " %")
