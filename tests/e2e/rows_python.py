# SPDX-License-Identifier: Apache-2.0
"""rows_python.py - Python stacks are those that the program itself says it has."""
import json
from itertools import zip_longest

from judge import CALLER_LINE, COMPLETE, HELD, IMPOSSIBLE, UNNAMED, Grammar, Verdict
from rows import Figure, at_least, exactly, holds, row
from target import start

KINDS = ("flat", "nested", "leaf", "generators", "recursion")


def tight(run, kind, pause, rate, samples):
    """Records a program that does nothing but call, and judges each stack by its own grammar."""
    with start(run.interpreter, "torn.py", kind) as target:
        facts = target.facts
        grammar = Grammar(facts["root"], facts["legal"])
        recording = run.sonde.record(target.pid, rate=rate, seconds=samples / rate, pause=pause)
    return recording, Verdict(grammar, recording.stacks)


def impossible(kind, verdict, what=IMPOSSIBLE):
    said = f"{kind}: {what} of {verdict.total}"
    if verdict.counts[what]:
        said += f" ({verdict.example(what)[-200:]})"
    return Figure(said, verdict.counts[what], "= 0", verdict.counts[what] == 0)


@row("py-torn-never", "never: 0 impossible stacks, every attempt yields a sample", language="python")
def torn_never(run):
    samples = run.count(100_000, 2_000)
    for kind in KINDS:
        for rate in (1_000, 10_000):
            recording, verdict = tight(run, kind, "never", rate, samples)
            quality = recording.quality
            for what in (IMPOSSIBLE, CALLER_LINE, UNNAMED):
                yield impossible(f"{kind} {rate} Hz", verdict, what)
            yielded = quality["samples"] + quality["idle"]
            yield holds(f"{kind} {rate} Hz: every attempt taken yields a sample", yielded >= quality["taken"] > 0,
                        f"{quality['samples']} and {quality['idle']} idle of {quality['taken']}")
            yield holds(f"{kind} {rate} Hz: moving", True, f"{verdict.share(HELD):.2f} %", "printed")


@row("py-torn-auto", "auto: >= 99 % complete, 0 impossible", language="python")
def torn_auto(run):
    samples = run.count(200_000, 20_000)
    for kind in KINDS:
        _, verdict = tight(run, kind, "auto", 5_000, samples)
        yield impossible(kind, verdict)
        yield at_least(f"{kind}: complete", verdict.share(COMPLETE) + verdict.share(CALLER_LINE), 99, " %")


def wanted_frames(frames, has_columns):
    """What the program said, as sonde says it: leaf first."""
    keys = ("path", "line", "name", "end_line", "column", "end_column")[:6 if has_columns else 3]
    return [dict(zip(keys, frame)) for frame in reversed(frames)]


@row("py-parked", "threads that stand still: path, line, qualname, columns as traceback has them", language="python")
def parked(run):
    frames = wrong = 0
    example = ""
    has_columns = run.interpreter.version >= (3, 11)
    with start(run.interpreter, "parked.py") as target:
        done = run.sonde.run("dump", "-p", target.pid, "--json")
        if done.returncode != 0:
            raise AssertionError(f"dump: exit {done.returncode}: {done.stderr[-300:]}")
        seen = {thread["tid"]: thread for thread in json.loads(done.stdout)["threads"]}
        for thread in target.facts["threads"]:
            wanted = wanted_frames(thread["frames"], has_columns)
            ours = [{key: frame.get(key) for key in wanted[0]} for frame in seen[thread["tid"]]["frames"]]
            frames += len(wanted)
            for mine, theirs in zip_longest(ours, wanted):
                if mine != theirs:
                    wrong += 1
                    example = example or f"{str(mine)[:300]} is {str(theirs)[:300]}"
    yield exactly(f"frames of {frames} that differ{': ' if example else ''}{example}", wrong, 0)
    yield at_least("threads", len(target.facts["threads"]), 19)
