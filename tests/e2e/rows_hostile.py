# SPDX-License-Identifier: Apache-2.0
"""rows_hostile.py - what the kernel engine bears: too many threads, sudden ends, files that lie; and with how few rights it does."""
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import folded
from rows import Figure, Skip, at_least, at_most, enough, exactly, holds, row
from rows_javascript import NODE, of_node
from rows_kernel import KERNEL, symbols, wrong_callee
from sonde import Sonde
from target import NOBODY, Target, start

CAP_SYS_ADMIN, CAP_SYS_PTRACE = 21, 19
STALL_S = 0.1  # of whoever hands over a file that lies


def residual(recording):
    return recording.quality["expected"] - recording.quality["taken"] - recording.lost


def record_timed(run, pid, **options):
    """A recording of half a second, and the seconds that it took beside."""
    begin = time.monotonic()
    recording = run.sonde.record(pid, seconds=0.5, **options)
    return recording, time.monotonic() - begin - 0.5


def seconds_above(run, pid, sound, bearable, **options):
    """Above those of a sound process, by turns, the least of each, until it is bearable or four have said that it is not: what
    stalls does so each time, and a busy machine does not."""
    ill, well = [], []
    for _ in range(4):
        ill.append(record_timed(run, pid, **options)[1])
        well.append(record_timed(run, sound, **options)[1])
        if min(ill) - min(well) < bearable:
            break
    return min(ill) - min(well)


@row("kernel-many", "10,000 threads, and 256 open files for sonde: the one that works is seen, whatever sleeps", language="native", once=True, alone=True)
def many(run):
    with start(run.interpreter, "many.c", 10_000) as target:
        made = target.facts["threads"]
        few = ("prlimit", "--nofile=256:256", "--")
        for mode in ("cpu", "wall"):
            begin = time.monotonic()
            recording = run.sonde.record(target.pid, rate=499, seconds=1, mode=mode, wrap=few, more=KERNEL)
            took = time.monotonic() - begin
            working = sum(stack.count for stack in recording.stacks if "works" in symbols(stack))
            yield at_least(f"{mode}, {made} threads: samples in works", working, 250)
            yield exactly(f"{mode}: ledger: expected - taken - lost", residual(recording), 0)
            yield at_most(f"{mode}: a second takes", took, 10, " s")
        yield at_least("wall: threads seen", recording.quality["threads"], made)


@row("kernel-exits", "the target is killed at any moment at 10 kHz: what was sampled is written, exit code 0; 3 before the first sample",
     language="native", once=True, alone=True)
def exits(run):
    rng = random.Random(5)
    codes, unsaid, lost = Counter(), [], 0
    rounds = run.count(500, 8)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name, start(run.interpreter, "shapes.c", 4) as target:
            path = Path(name) / "out.folded"
            sonde = subprocess.Popen([run.sonde.path, "record", "-e", "kernel", "-r", "9999", "-d", "30s", "-p", str(target.pid), "-o", str(path)],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(rng.uniform(0.05, 1.5))  # attaching takes part of it
            os.kill(target.pid, signal.SIGKILL)
            _, said = sonde.communicate(timeout=60)
            codes[sonde.returncode] += 1
            samples = folded.total(folded.parse(path.read_bytes())) if path.exists() else 0
            lost += (samples > 0) != (sonde.returncode == 0)
            if not re.search("has ended|is ending|no process", said):
                unsaid.append(said)
    yield Figure(f"exit codes of {rounds}", dict(codes), "0 and 3, both", set(codes) == {0, 3})
    yield exactly("a profile with 3, or none with 0", lost, 0)
    yield exactly(f"that do not say why {unsaid[:1] or ''}", len(unsaid), 0)


def section(path, name):
    """(offset, size) in the file."""
    listed = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    found = re.search(rf"\] {re.escape(name)}\s+\S+\s+\S+\s+([0-9a-f]+) ([0-9a-f]+)", listed)
    return (int(found[1], 16), int(found[2], 16)) if found else (0, 0)


def mutated(path, rng):
    """What nobody needs to run it, changed at random: tables for unwinding, symbols, notes, the list of sections itself."""
    image = bytearray(path.read_bytes())
    for name in (".eh_frame", ".eh_frame_hdr", ".symtab", ".strtab", ".note.gnu.build-id"):
        offset, size = section(path, name)
        for _ in range(max(1, size // 50)):
            image[offset + rng.randrange(max(size, 1))] = rng.randrange(256)
    sections = int.from_bytes(image[40:48], "little")
    for _ in range(rng.choice((0, 0, 3, 20))):
        image[sections + rng.randrange(len(image) - sections)] = rng.randrange(256)
    path.write_bytes(bytes(image))


@row("kernel-mutated", "unwinding tables, symbols and sections changed at random, of a process beside a sound one: no crash, the other's stacks right",
     language="native", once=True, alone=True)
def mutated_images(run):
    rng, crashes, wrong, sound, stall = random.Random(11), [], Counter(), 0, 0
    rounds = run.count(400, 4)
    built = run.interpreter.command("shapes.c")[0]
    alone = {"rate": 499, "more": KERNEL, "rc": None}
    bearable = STALL_S if run.full else 2 * STALL_S  # on a busy machine
    with tempfile.TemporaryDirectory() as name:
        for number in range(rounds):
            path = Path(name) / f"mutated{number}"
            shutil.copy(built, path)
            mutated(path, rng)
            with Target([built, "1"]) as well, Target([str(path), "1"]) as ill:
                calls = well.facts["calls"]
                recording = run.sonde.record(None, rate=499, seconds=0.5, more=("-a", "-T"), rc=None)
                stall = max(stall, seconds_above(run, ill.pid, well.pid, bearable, **alone))
                if recording.rc != 0:
                    crashes.append((number, recording.rc, recording.stderr[-200:]))
                    continue
                for stack in recording.stacks:
                    if stack.pid == well.pid or stack.tid == well.pid:
                        sound += stack.count
                        wrong[wrong_callee(symbols(stack), calls)] += stack.count
            path.unlink()
    del wrong[None]
    yield exactly(f"of {rounds}, those that failed {crashes[:1] or ''}", len(crashes), 0)
    yield Figure(f"wrong neighbours in the sound one {wrong.most_common(1) or ''}", wrong.total(), "= 0", not wrong)
    yield enough("samples of the sound one", sound, 50 * rounds)
    yield at_most("alone: longest start and end, above a sound one's", stall, STALL_S, " s", bearable)


def foreign_map(path):
    path.write_text("1000 7fffffffe000 of_somebody_else\n")
    os.chown(path, 65534, 65534)


def sparse_map(path):
    with open(path, "wb") as file:
        file.truncate(2 << 30)


TRAPS = {"fifo": os.mkfifo, "zero": lambda path: path.symlink_to("/dev/zero"), "sparse": sparse_map, "foreign": foreign_map}


@row("kernel-traps", "a perf map that is a FIFO, a link to /dev/zero, 2 GiB of nothing or somebody else's: costs nothing, names nothing",
     language="native", once=True)
def traps(run):
    rounds = run.count(20, 3)
    with Target([*NODE, of_node("jit.js")]) as target:
        options = {"rate": 99, "threads": True, "more": KERNEL}
        path = Path(f"/tmp/perf-{target.pid}.map")
        for name, set_up in TRAPS.items():
            took, usual = [], []
            for _ in range(rounds):
                set_up(path)
                try:
                    recording, seconds = record_timed(run, target.pid, **options)
                finally:
                    path.unlink()
                took.append(seconds)
                usual.append(record_timed(run, target.pid, **options)[1])
            yield enough(f"{name}: samples", recording.samples, 10)
            yield at_most(f"{name}: seconds above {min(usual):.2f} without", min(took) - min(usual), STALL_S, "",
                          None if run.full else 2 * STALL_S)  # on a busy machine
            named = sum("of_somebody_else" in symbols(stack) for stack in recording.stacks)
            yield exactly(f"{name}: stacks with names out of it", named, 0)


def effective(pid):
    """The capabilities that any of its threads has."""
    every = 0
    for status in Path("/proc").glob(f"{pid}/task/*/status"):
        every |= int(re.search(r"CapEff:\s*(\w+)", status.read_text())[1], 16)
    return every


def capabilities_kept(sonde):
    """Before, and when it has given something up or 10 s have gone."""
    before = effective(sonde.pid)
    deadline = time.monotonic() + 10
    while effective(sonde.pid) == before and time.monotonic() < deadline:
        time.sleep(0.01)
    return before, effective(sonde.pid)


@row("kernel-rights", "CAP_BPF and CAP_PERFMON alone are enough for one's own processes; what is not needed any more is given up", language="ruby", once=True)
def few_rights(run):
    if os.geteuid() != 0:
        raise Skip("needs root, to become somebody else")
    with_two = [*NOBODY[:-1], "--inh-caps=-all,+bpf,+perfmon", "--ambient-caps=-all,+bpf,+perfmon"]
    with tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o777)
        other = Sonde(shutil.copy(run.sonde.path, where), None)
        with Target(run.interpreter.command("mixed.rb", wrap=NOBODY)) as target:
            recording = other.record(target.pid, rate=499, seconds=1, wrap=with_two)
            yield exactly("with two: the engine", recording.quality["engine"], "kernel")
            whole = sum(stack.count for stack in recording.stacks if "<main>" in [frame.label for frame in stack.frames] and symbols(stack)[0] == "_start")
            yield at_least("with two: stacks with native and Ruby frames from the first function on", 100 * whole / recording.samples, 50, " %")
        with start(run.interpreter, "mixed.rb") as target:
            sonde = subprocess.Popen([run.sonde.path, "record", "-e", "kernel", "-q", "-p", str(target.pid), "-d", "2s", "-f", "folded", "-o", f"{where}/x"])
            before, after = capabilities_kept(sonde)
            yield holds("root: CAP_SYS_ADMIN is given up", before >> CAP_SYS_ADMIN & 1 and not after >> CAP_SYS_ADMIN & 1)
            yield holds("root: CAP_SYS_PTRACE is kept", after >> CAP_SYS_PTRACE & 1)
            yield exactly("root: exit code", sonde.wait(timeout=30), 0)
            yield at_least("root: samples", folded.total(folded.parse(Path(f"{where}/x").read_bytes())), 10)
            top = subprocess.Popen([run.sonde.path, "top", "-e", "kernel", "-p", str(target.pid), "-d", "2s"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            before, after = capabilities_kept(top)
            yield holds("top, each thread: CAP_SYS_ADMIN is given up", before >> CAP_SYS_ADMIN & 1 and not after >> CAP_SYS_ADMIN & 1)
            yield exactly("top: exit code", top.wait(timeout=30), 0)
