# SPDX-License-Identifier: Apache-2.0
"""rows_interpreters.py - Pythons with more than one interpreter in a process."""
import folded
from rows import Skip, at_least, exactly, row
from target import start


def started(run, *args):
    target = start(run.interpreter, "interpreters.py", *args)
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
                recording = run.sonde.record(target.pid, seconds=run.seconds(5, 1), more=("-e", engine))
                yield at_least(f"{count} idle, {engine}: samples with the function that works", share_with(recording, "spin"), 95, " %")
