# SPDX-License-Identifier: Apache-2.0
"""rows_several.py - Pythons with more than one interpreter in a process."""
import folded
import stats
from rows import Figure, Skip, at_least, at_most, exactly, row
from target import start

OWN_LOCK = (3, 12)


def started(run, *args):
    target = start(run.interpreter, "several.py", *args)
    if "none" in target.facts:
        target.kill()
        raise Skip("it has no module for interpreters")
    return target


def share_with(recording, name):
    """Of the samples, those with a frame of this name, in percent."""
    seen = sum(stack.count for stack in recording.stacks if name in {folded.bare(frame.label) for frame in stack.frames})
    return 100 * seen / max(1, recording.samples)


@row("py-interpreters-idle", "interpreters that run nothing: what runs in another is seen all the same", language="python")
def idle(run):
    for count in (1, 40):
        with started(run, "idle", count) as target:
            said = run.sonde.run("dump", "-p", target.pid)
            yield exactly(f"{count} idle: dump's exit", said.returncode, 0)
            for engine in ("reader", "kernel"):
                recording = run.sonde.record(target.pid, seconds=run.seconds(5, 0.4), more=("-e", engine))
                yield at_least(f"{count} idle, {engine}: samples with the function that works", share_with(recording, "spin"), 95, " %")


@row("py-interpreters-names", "a thread is called the same, whatever interpreter it runs", language="python")
def names(run):
    if run.interpreter.version < OWN_LOCK:
        raise Skip("interpreters share one lock, and the other threads wait for it")
    for more in ((), ("threading",)):
        with started(run, "names", *more) as target:
            wanted = dict(map(tuple, target.facts["names"]))
            said = {}
            for engine in ("reader", "kernel"):
                recording = run.sonde.record(target.pid, rate=499, seconds=1, threads=True, more=("-e", engine))
                said[engine] = {stack.tid: stack.thread for stack in recording.stacks}
        for how, ours in said.items():
            wrong = [(ours.get(tid), name) for tid, name in wanted.items() if ours.get(tid) != name]
            yield Figure(f"{'both' if more else 'one'} with threading, {how}: under another name {wrong or ''}", len(wrong), "= 0", not wrong)


@row("py-interpreters-turns", "a thread that calls another interpreter: each has its share, within 5 points", language="python")
def turns(run):
    # without a GIL nobody tells the reader: it asks, up to a third of a second late
    for engine in ("kernel",) if run.interpreter.free_threaded else ("reader", "kernel"):
        with started(run, "turns") as target:
            recording = run.sonde.record(target.pid, rate=499, seconds=run.seconds(30, 1.5), more=("-e", engine))
            spent = target.finish()["spent_ns"]
        share = 100 * spent["spin_inside"] / sum(spent.values())
        # a recording begins and ends within a turn
        bar = stats.share_bar(5, share / 100, recording.samples) + 100 * target.facts["turn_ns"] / sum(spent.values())
        yield at_most(f"{engine}: share of the other interpreter off by", abs(share_with(recording, "spin_inside") - share), 5, " points", bar)
