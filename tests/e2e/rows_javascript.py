# SPDX-License-Identifier: Apache-2.0
"""rows_javascript.py - programs of node: code made at run time, and code that came without unwind tables."""
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from interpreters import TARGETS
from rows import Figure, Skip, at_least, row
from rows_kernel import KERNEL, is_whole
from target import Target

NODE = ["node", "--max-inlined-bytecode-size=0", "--max-inlined-bytecode-size-cumulative=0"]


def of_node(name):
    if not shutil.which("node"):
        raise Skip("there is no node")
    return str(TARGETS / "javascript" / name)


def javascript(stack):
    """inner, of LazyCompile:*inner /app/jit.js:7:15 and the like."""
    found = [re.search(r":[*~^+]?(\w+) \S*jit\.js", frame.label) for frame in stack.frames]
    return [match[1] for match in found if match and match[1] in ("outer", "middle", "inner")]


@row("kernel-jit", "code made at run time: named by its perf map, in order", language="native", once=True)
def jit(run):
    script = of_node("jit.js")
    with tempfile.TemporaryDirectory() as name:
        # it writes a log beside the map
        with Target([*NODE, "--perf-basic-prof", "--no-logfile-per-isolate", f"--logfile={name}/log", script]) as target:
            recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(30, 1.5), threads=True, more=KERNEL)
            target.finish()
    Path(f"/tmp/perf-{target.pid}.map").unlink(missing_ok=True)
    names, wrong = Counter(), Counter()
    for stack in recording.stacks:
        found = javascript(stack)
        names["inner" in found] += stack.count * (stack.tid == target.pid)
        # what node has not written out yet has no name: those that have one are in order
        if [name for name in ("outer", "middle", "inner") if name in found] != found:
            wrong[";".join(found)] += stack.count
    yield at_least("samples of the main thread in inner", 100 * names[True] / names.total(), 90, " %")
    yield Figure(f"in another order {wrong.most_common(1) or ''}", wrong.total(), "= 0", not wrong)


# the interpreter and what it becomes: V8's compilers, or none of the optimizing ones, or none
TIERS = {"all": (), "not optimized": ("--no-opt",), "interpreted": ("--jitless",), "compiled at once": ("--always-sparkplug",)}


@row("kernel-node", "JavaScript in each of V8's tiers, without a perf map: >= 97 % from the first function on", language="native", once=True)
def tiers(run):
    script = of_node("tiers.js")
    for what, options in TIERS.items():
        with Target(["node", *options, script]) as target:
            recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(20, 1.5), threads=True, more=KERNEL)
            target.finish()
        cut, inside = Counter(), 0
        for stack in recording.stacks:
            names = [frame.label for frame in stack.frames]
            inside += stack.count * any(name.startswith("Builtins_") for name in names)
            if not is_whole(stack):
                cut[";".join(names[:4])] += stack.count
        yield at_least(f"{what}: from the first function on {cut.most_common(1) or ''}", 100 - 100 * cut.total() / recording.samples, 97, " %")
        yield at_least(f"{what}: below V8's own functions", 100 * inside / recording.samples, 50, " %")
