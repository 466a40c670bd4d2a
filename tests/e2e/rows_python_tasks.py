# SPDX-License-Identifier: Apache-2.0
"""rows_python_tasks.py - asyncio: stacks by task are those that asyncio itself tells."""
import json
import re
from collections import Counter

import folded
import stats
from rows import Figure, Skip, at_least, at_most, exactly, row
from rows_truth import share_figure
from target import start

ASYNCIO = (3, 7)


def has_asyncio(run):
    if run.interpreter.version < ASYNCIO:
        raise Skip("no asyncio.run() before 3.7")


def frame_of(frame):
    return [frame["path"], frame["line"], frame["name"]]


def own_and_waiters(frames):
    """(the frames in which a task waits, its name, the names of those that wait for it) of a dumped stack."""
    names = [place for place, frame in enumerate(frames) if frame["kind"] == "task"]
    first = names[0] if names else len(frames)
    return [frame_of(frame) for frame in frames[:first]], [frames[place]["name"] for place in names]


@row("py-tasks", "dump --async=all: where each task waits and for whom, as asyncio says", language="python")
def tasks(run):
    has_asyncio(run)
    named = run.interpreter.version >= (3, 8)
    with start(run.interpreter, "tasks.py") as target:
        done = run.sonde.run("dump", "-p", target.pid, "--json", "--async=all")
        text = run.sonde.run("dump", "-p", target.pid, "--async=all").stdout
        wanted = Counter()
        for task in target.facts["tasks"]:
            wanted[json.dumps([task["frames"], [task["name"], *task["waiters"]] if named else []])] += 1
    seen = Counter()
    for thread in json.loads(done.stdout)["threads"]:
        if "task" in thread:
            frames, names = own_and_waiters(thread["frames"])
            seen[json.dumps([frames, names if named else []])] += 1
    different = list((wanted - seen).elements()) + [f"not so: {one}" for one in (seen - wanted).elements()]
    yield Figure(f"of {wanted.total()} tasks that differ: {str(different[:1])[-400:]}", len(different), "= 0", not different)
    yield at_least("tasks", wanted.total(), 10)
    yield exactly("as text", len(re.findall(r"^task .*: awaiting$", text, re.MULTILINE)), seen.total())


@row("py-tasks-many", "10,000 tasks in wall mode: each seen, each with its own name and stack", once=True, language="python")
def many(run):
    has_asyncio(run)
    count = 10_000
    with start(run.interpreter, "tasks.py", count) as target:
        recording = run.sonde.record(target.pid, rate=99, seconds=run.seconds(10, 4), mode="wall", threads=False,
                                     more=("--async=all",))
    names, wrong = Counter(), Counter()
    for stack in recording.stacks:
        labels = [frame.label for frame in stack.frames]
        if "chain" not in labels:
            continue
        names[labels[0]] += stack.count
        if labels[1:] != ["chain", "chain", "plain"] or not re.fullmatch(r"worker \d+|Task", labels[0]):
            wrong[";".join(labels)] += stack.count
    yield Figure(f"wrong stacks {str(wrong.most_common(1))[:300] if wrong else ''}", wrong.total(), "= 0", not wrong)
    if run.interpreter.version >= (3, 8):
        yield exactly(f"tasks seen of {count}", len(names), count)
    yield at_least("samples", names.total(), count)
    yield exactly("faults: truncated", recording.quality["truncated"], 0)
    yield at_most("moving", 100 * recording.quality["moving"] / recording.samples, 1, " %")


@row("py-tasks-running", "--async=running: who runs and for whom, shares within 2 points", language="python")
def running(run):
    has_asyncio(run)
    samples = run.count(50_000, 2_000)
    with start(run.interpreter, "tasks_busy.py") as target:
        recording = run.sonde.record(target.pid, rate=1_000, seconds=samples / 1_000, weights=True,
                                     more=("--async=running",))
        spent = target.finish()["spent_ns"]
    legal = {tuple(stack): name for name, stack in target.facts["stacks"].items()}
    ours, wrong = Counter(), Counter()
    for stack in recording.stacks:
        labels = tuple(frame.label for frame in folded.strip_marks(stack.frames))
        if not labels or labels[-1] != "spin":
            continue
        name = legal.get(labels)
        ours[name] += stack.count
        if not name:
            wrong[";".join(labels)] += stack.count
    yield Figure(f"stacks that cannot be {str(wrong.most_common(1))[:300] if wrong else ''}", wrong.total(), "= 0", not wrong)
    if run.interpreter.version >= (3, 8):
        whole = sum(spent.values())
        yield share_figure("shares of tasks", {name: ours[name] / max(ours.total(), 1) for name in spent},
                           {name: spent[name] / whole for name in spent}, recording.independent)
    yield at_least("weight in tasks", 100 * ours.total() / folded.total(recording.stacks), 70, " %")


@row("py-tasks-early", "asyncio from a program's first instant on: who works is a task", language="python")
def early(run):
    has_asyncio(run)
    command = run.interpreter.command("tasks_early.py", 300)
    works, of_task = 0, 0
    for _ in range(run.count(20, 2)):
        recording = run.sonde.record(command=command, rate=999, seconds=None, more=("--async=running",))
        for stack in recording.stacks:
            labels = [folded.bare(frame.label) for frame in folded.strip_marks(stack.frames)]
            if labels[-1:] != ["early_work"]:
                continue
            works += stack.count
            of_task += stack.count if labels[-3:-1] == ["early_task", "early_inner"] and len(labels) == 4 else 0
    yield at_least("samples", works, 300)
    yield at_least("of these in the task, and nothing else", 100 * of_task / max(1, works), 90, " %", 90 if run.full else 70)


@row("py-tasks-loops", "tasks of several loops in wall mode: each is its loop's thread's", language="python")
def loops(run):
    has_asyncio(run)
    with start(run.interpreter, "loops.py") as target:
        recording = run.sonde.record(target.pid, rate=99, seconds=2, mode="wall", threads=True, more=("--async=all",))
        tids = target.facts["tids"]
    seen, wrong = Counter(), Counter()
    for stack in recording.stacks:
        for frame in stack.frames:
            name = folded.bare(frame.label)
            if name in tids:
                seen[name] += stack.count
                if stack.tid != tids[name]:
                    wrong[name] += stack.count
    yield exactly("tasks seen", len(seen), len(tids))
    yield Figure(f"samples under another thread {dict(wrong) or ''}", wrong.total(), "= 0", not wrong)
