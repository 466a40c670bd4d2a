# SPDX-License-Identifier: Apache-2.0
"""rows_go.py - programs of Go: whole stacks over the runtime's own stack and over C, also when they are stripped."""
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import folded
from interpreters import TARGETS
from rows import Figure, Skip, at_least, row
from rows_kernel import KERNEL
from target import Target

STRIP = ("-ldflags", "-s -w")
BUILDS = {
    "with symbols": (),
    "stripped": STRIP,
    "PIE, stripped": (*STRIP, "-buildmode=pie"),
    "with C": ("-tags", "withc"),
    "with C, stripped": ("-tags", "withc", *STRIP),
}
IN_C = {"c_outer", "c_inner"}  # which have no names when they are stripped
# what a thread or a goroutine begins with, and what the runtime's own stack does
FIRST = {"runtime.goexit", "runtime.mstart", "runtime.mcall", "runtime.rt0_go", "runtime.morestack", "runtime.gogo", "gogo"}


def build(path, options):
    environment = {**os.environ, "CGO_ENABLED": str(int("withc" in options)), "GOFLAGS": "-mod=mod"}
    subprocess.run(["go", "build", "-o", path, *options, "."], cwd=TARGETS / "go", env=environment, check=True, timeout=300)


def short(name):
    """main.alpha of main.alpha.abi0, alpha of either."""
    return name.removesuffix(".abi0").removeprefix("main.")


def wrong_of(names, calls):
    own = [name for name in map(short, names) if name in calls]
    return [f"{caller};{callee}" for caller, callee in zip(own, own[1:]) if callee not in calls[caller]]


@row("kernel-go", "Go, with symbols and without, as PIE, with C that calls back: 0 wrong neighbours, >= 99.5 % from the first function on",
     language="native", once=True)
def stacks(run):
    if not shutil.which("go"):
        raise Skip("there is no go")
    with tempfile.TemporaryDirectory() as name:
        for what, options in BUILDS.items() if run.full else list(BUILDS.items())[1::3]:
            path = str(Path(name) / "stacks")
            build(path, options)
            with Target([path]) as target:
                calls = target.facts["calls"]
                recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(30, 2), more=KERNEL)
            if STRIP[1] in options and "callsC" in calls:
                calls = {**calls, "callsC": ["called_back"]}
            wrong, rootless, unnamed, seen = Counter(), Counter(), 0, Counter()
            for stack in recording.stacks:
                names = [folded.method(frame.label) for frame in stack.frames if not frame.label.endswith(" [kernel]")]
                for found in wrong_of(names, calls):
                    wrong[found] += stack.count
                c = next((at for at, name in enumerate(names) if name == "runtime.asmcgocall"), len(names))
                unnamed += stack.count * any(name.startswith(("[stacks", "[unknown", "[0x")) for name in names[:c])
                seen.update({name: stack.count for name in set(map(short, names))})
                if folded.TRUNCATED in names or not FIRST & {short(name) for name in names[:2]}:
                    rootless[";".join(names)[:300]] += stack.count
            yield Figure(f"{what}: wrong neighbours {wrong.most_common(1) or ''}", wrong.total(), "= 0", not wrong)
            yield at_least(f"{what}: from the first function on {rootless.most_common(1) or ''}",
                           100 - 100 * rootless.total() / recording.samples, 99.5, " %")
            yield at_least(f"{what}: with all names", 100 - 100 * unnamed / recording.samples, 99.5, " %")
            for function in calls if STRIP[1] not in options else sorted(set(calls) - IN_C):
                yield at_least(f"{what}: samples in {function}", seen[function], 5)
