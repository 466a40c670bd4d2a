# SPDX-License-Identifier: Apache-2.0
"""rows_default.py - `sonde record` without -e: the best engine that there is for what was asked, and why it is not another."""
import os
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import folded
import rows_python
import rows_stitched
import rows_threads
import rows_truth
from rows import Skip, at_least, exactly, holds, row
from sonde import Sonde
from target import NOBODY, Target, start

ASKED = {(): "kernel", ("--pause=never",): "kernel", ("--mode=wall",): "kernel", ("--pause=always",): "reader", ("--mode=gvl",): "reader"}


def free(run):
    return Sonde(run.sonde.path, None)


def kinds(recording):
    """Of the frames: native, kernel, and the language's own."""
    labels = [frame.label for stack in recording.stacks for frame in stack.frames]
    native = sum(label.endswith(" [native]") for label in labels)
    kernel = sum(label.endswith(" [kernel]") for label in labels)
    return native, len(labels) - native - kernel


def chosen(run, program):
    with start(run.interpreter, program) as target:
        for more, engine in ASKED.items():
            if more == ("--mode=gvl",) and run.interpreter.name.endswith("t"):
                continue  # it has no lock
            recording = free(run).record(target.pid, rate=499, seconds=0.4, more=more)
            native, own = kinds(recording)
            what = " ".join(more) or "nothing"
            yield exactly(f"asked for {what}: the engine", recording.quality["engine"], engine)
            yield holds(f"asked for {what}: native frames", bool(native) == (engine == "kernel"))
            yield at_least(f"asked for {what}: frames of the language", own, 1)
            yield holds(f"asked for {what}: it says which", f"(engine: {engine})" in recording.stderr)


@row("default-ruby", "without -e: in the kernel, or the reader for what it alone can do; it says which", once=True)
def ruby(run):
    yield from chosen(run, "mixed.rb")


@row("default-python", "without -e: in the kernel, or the reader for what it alone can do; it says which", once=True, language="python")
def python(run):
    yield from chosen(run, "mixed.py")


def in_kernel(run):
    """For rows of the reader, which judge the frames of the language."""
    return replace(run, sonde=Sonde(run.sonde.path, "kernel"))


@row("kernel-gc", "in the kernel: methods collected and redefined: no name of another generation")
def collected(run):
    yield from rows_truth.gc_churn(in_kernel(run))


@row("kernel-reuse", "in the kernel: native threads used again: each Ruby thread's own stack, name and CPU time")
def reused(run):
    yield from rows_threads.reuse(in_kernel(run))


@row("kernel-py-reuse", "in the kernel: 4 threads replace code objects all the time: 0 wrong names, and it keeps up", language="python")
def replaced(run):
    yield from rows_python.reuse(in_kernel(run), (300,))


@row("kernel-greenlets", "in the kernel: greenlets that take turns: no stack of two, each on its own native frames", language="python")
def greenlets(run):
    # Their turns take as long as a period does, and where they begin, the native stack is another's.
    for figure in rows_python.greenlets(in_kernel(run), ("never",)):
        if "cannot be" in figure.what:
            yield figure
    yield from rows_stitched.greenlets_in_order(run)


@row("default-rights", "without the right to run in the kernel: from outside, and it says why; -e kernel: one error that says what is missing", once=True)
def rights(run):
    if os.geteuid() != 0:
        raise Skip("needs root, to become somebody else")
    with tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o777)
        other = Sonde(shutil.copy(run.sonde.path, where), None)
        with Target(run.interpreter.command("mixed.rb", wrap=NOBODY)) as target:
            done = other.run("record", "-p", target.pid, "-d", "0.5s", "-f", "folded", "-o", f"{where}/x", wrap=NOBODY, cwd=where)
            yield exactly("exit code", done.returncode, 0)
            yield holds("it says why", all(word in done.stderr for word in ('"kernel" cannot run', "CAP_BPF", "(engine: reader)")))
            yield at_least("frames", sum(len(stack.frames) for stack in folded.parse(Path(f"{where}/x").read_bytes())), 10)
            told = other.run("record", "-e", "kernel", "-p", target.pid, "-d", "0.5s", "-f", "folded", "-o", f"{where}/y", wrap=NOBODY, cwd=where)
            yield holds("-e kernel: it says what is missing", told.returncode != 0 and "CAP_BPF" in told.stderr)
            yield exactly("-e kernel: error lines", len([line for line in told.stderr.splitlines() if line]), 1)


@row("default-thread", "-t NAME: the name that Thread#name says, in full; in vain: it lists who was there", once=True)
def threads(run):
    with start(run.interpreter, "named.rb") as target:
        for name in target.facts["names"]:
            recording = free(run).record(target.pid, rate=999, seconds=0.5, thread=name, threads=True)
            yield exactly(f"{name}: the engine", recording.quality["engine"], "kernel")
            yield at_least(f"{name}: samples", recording.samples, 20)
            others = {stack.thread for stack in recording.stacks} - {name}
            yield exactly(f"{name}: of other threads", sorted(others), [])
            found = {folded.bare(frame.label) for stack in recording.stacks for frame in stack.frames}
            wanted = target.facts["names"][name]
            yield holds(f"{name}: in {wanted}, and in no other's", wanted in found and not (set(target.facts["names"].values()) - {wanted}) & found)
        done = free(run).run("record", "-p", target.pid, "-d", "0.4s", "-t", "nobody", "-o", "/dev/null", "-f", "folded")
        yield holds("nobody: all are listed", all(f'"{name}"' in done.stderr for name in [*target.facts["names"], "one that sleeps all day long"]))


@row("default-deleted", "a library of the VM's was deleted since, and sonde has no rights: it is named, with what to do", once=True)
def deleted(run):
    if os.geteuid() != 0 or run.interpreter.root:
        raise Skip("needs root, to become somebody else, and a library to copy")
    command = run.interpreter.command("idle.rb", 1, "/dev/null")
    with Target(command) as target:
        maps = Path(f"/proc/{target.pid}/maps").read_text(encoding="utf-8").split()
        library = next((word for word in maps if "/libruby" in word), None)
    if not library:
        raise Skip("no libruby")
    with tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o755)
        soname = re.match(r"libruby-[\d.]+\.so\.\d+\.\d+", Path(library).name)[0]
        copy = Path(shutil.copy(library, f"{where}/{soname}"))
        other = Sonde(shutil.copy(run.sonde.path, where), None)
        with Target(["env", f"LD_LIBRARY_PATH={where}", *NOBODY, *command]) as target:
            copy.unlink()
            done = other.run("record", "-e", "reader", "-p", target.pid, "-d", "0.5s", "-f", "folded", "-o", "-", wrap=NOBODY, cwd=where)
    said = done.stderr.strip()
    yield holds("the error names the file and the way out", done.returncode != 0 and all(
        word in said for word in (copy.name, "deleted or replaced", "run as root")), said[-150:])
