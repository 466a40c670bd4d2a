# SPDX-License-Identifier: Apache-2.0
"""rows_lives.py - processes that come and go in ways that are easily overlooked, and rates that nobody else takes."""
import os
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import folded
import stats
from rows import Skip, at_least, at_most, enough, exactly, holds, row
from rows_kernel import KERNEL, symbols
from rows_threads import window
from target import CpuSeries, Target, child_of, start, with_children_cpu_ns


def samples_in(recording, function):
    return sum(stack.count for stack in recording.stacks if function in symbols(stack))


@row("kernel-exec-thread", "exec by another thread than the first: the new program's samples and its CPU time", language="native")
def exec_from_a_thread(run):
    seconds = run.seconds(10, 1)
    command = run.interpreter.command("lives.c", "exec", seconds)
    recording = run.sonde.record(command=command, rate=999, seconds=None, weights=True, more=KERNEL)
    after = samples_in(recording, "works_here") / 1e9
    before = samples_in(recording, "works_before") / 1e9
    yield at_most("the new program's CPU time, off", 100 * abs(after - seconds) / seconds, 2, " %", 4)
    yield at_most("the old one's, off", 100 * abs(before - 0.15) / 0.15, 10, " %", 20)
    # a thread can be interrupted once more behind its end
    yield at_most("samples of a thread that had ended", recording.quality["lost"]["gone"], 5)


@row("kernel-brief", "work by turns in a lasting thread and in brief ones, at 99 Hz: each its share, and the sum is the CPU time",
     language="native", once=True)
def brief(run):
    for way in ("thread", "child", "exec", "pool"):
        with start(run.interpreter, "brief.c", way) as target:
            series = CpuSeries({"all": lambda pid=target.pid: with_children_cpu_ns(pid)})
            recording = run.sonde.record(target.pid, rate=99, seconds=run.seconds(60, 3), weights=True, more=KERNEL)
            series.stop()
            spent = target.finish()["spent_ns"]
        ours = {name: samples_in(recording, name) for name in spent}
        truth = spent["brief_work"] / sum(spent.values())
        yield at_most(f"{way}: share of brief_work off by", 100 * abs(ours["brief_work"] / max(sum(ours.values()), 1) - truth), 2,
                      " points", stats.share_bar(2, truth, recording.quality["samples"]))
        cpu_ns = series.between("all", *window(recording))
        # what is carried on, some samples' worth, and the ends of the series; how many of a pool were met is chance
        short = (stats.share_bar(2, truth, recording.quality["samples"]) if way == "pool" else 2 + 100 * 100e6 / cpu_ns)
        yield at_most(f"{way}: sum of the weights of {cpu_ns / 1e9:.2f} s off by",
                      100 * abs(folded.total(recording.stacks) - cpu_ns) / cpu_ns, 2, " %", 2 if run.full else short)


@row("pool", "work by turns in one thread and in 300, at 99 Hz: each its share, with both engines", once=True)
def pool(run):
    for engine in ("reader", "kernel"):
        with start(run.interpreter, "pool.rb", 300) as target:
            recording = run.sonde.record(target.pid, rate=99, seconds=run.seconds(60, 4), weights=True, threads=True, more=("-e", engine))
            spent = target.finish()["spent_ns"]
        ours = sum(stack.count for stack in recording.stacks if stack.tid != target.pid)
        truth = spent["brief"] / sum(spent.values())
        yield at_most(f"{engine}: share of the 300, off", 100 * abs(ours / folded.total(recording.stacks) - truth), 3, " points",
                      stats.share_bar(3, truth, recording.quality["samples"]))


@row("kernel-low-rates", "1 to 50 Hz: as many samples as were asked for", once=True, language="native")
def low_rates(run):
    for rate, samples in ((1, 20), (2, 30), (5, 50), (20, 200), (50, 500)) if run.full else ((2, 12), (10, 50)):
        with Target(run.interpreter.command("lives.c", "here", 1000)) as target:
            series = CpuSeries({"all": lambda pid=target.pid: with_children_cpu_ns(pid)})
            recording = run.sonde.record(target.pid, rate=rate, seconds=samples / rate, more=KERNEL)
            series.stop()
        # beside other work it does not have a CPU all the time
        asked = rate * series.between("all", *window(recording)) / 1e9
        # what a period lacks when it is drawn again is made up for on the average
        bar = 100 * max(0.1, 3 / asked ** 0.5)
        yield at_most(f"{rate} Hz: {recording.samples} samples for {asked:.1f}, off",
                      100 * abs(recording.samples - asked) / asked, bar, " %")


def inside(run, function):
    """Its own pid namespace, in which it is process 1."""
    return Target(["unshare", "--fork", "--pid", "--mount-proc", "--kill-child",
                   *run.interpreter.command("lives.c", function, 1000)])


def first_child(pid):
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0])


@row("kernel-namespaces", "sonde in a container: process 1 is its own, not that of the container beside", language="native", alone=True)
def namespaces(run):
    if os.geteuid() != 0:
        raise Skip("needs root, for pid namespaces")
    with inside(run, "here") as here, inside(run, "there"):
        enter = ("nsenter", "-t", str(first_child(here.pid)), "-p", "-m")
        for more in (("-p", 1), ("-a",)):
            recording = run.sonde.record(None, rate=499, seconds=run.seconds(10, 1), weights=True, wrap=enter,
                                         more=(*KERNEL, *map(str, more)))
            spent = (recording.quality["end_ns"] - recording.quality["begin_ns"])
            share = 100 * samples_in(recording, "works_here") / spent
            yield at_least(f"{more[0]}: of its time seen", share, 20, " %")
            yield at_most(f"{more[0]}: of its time seen", share, 102, " %")
            yield exactly(f"{more[0]}: samples of the other container's", samples_in(recording, "works_there"), 0)


@row("kernel-many-ends", "-a: more processes begin and end than can be watched at once: none stays behind", language="native",
     once=True, alone=True)
def many_ends(run):
    with start(run.interpreter, "lives.c", "many", 100_000) as target:
        recording = run.sonde.record(None, rate=999, seconds=run.seconds(60, 8), patience=300, more=(*KERNEL, "-a", "--mode", "wall"))
        ended = target.process.poll() is not None
    yield holds("the program still forked at the end", not ended)
    yield exactly("warnings", recording.quality.get("warning", ""), "")
    residual = recording.quality["expected"] - recording.quality["taken"] - recording.lost
    yield exactly("expected - taken - lost", residual, 0)


@row("booting-killed", "Rubies that are killed while they boot: the ledger adds up")
def booting_killed(run):
    if run.interpreter.root:
        raise Skip("needs a shell beside the interpreter")
    ruby = " ".join(run.interpreter.argv)
    script = (f"for i in $(seq {run.count(1_000, 60)}); do timeout -s KILL 0.0$((RANDOM % 5 + 1)) "
              f"{ruby} -e 1; done; {ruby} -e 'sleep 0.1'")
    recording = run.sonde.record(command=("bash", "-c", script), rate=999, seconds=None, patience=300)
    quality = recording.quality
    yield exactly("expected - taken - lost", quality["expected"] - quality["taken"] - recording.lost, 0)
    yield at_least("samples while they boot", quality["starting"], 1)


def thread_states(pid):
    texts = [(task / "stat").read_text(encoding="ascii", errors="replace") for task in Path(f"/proc/{pid}/task").iterdir()]
    return {text.rsplit(")", 1)[1].split()[0] for text in texts}


def comes_to(pid, states, seconds=3):
    """Every thread of the process comes to be in one of these states."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if thread_states(pid) <= states:
            return True
        time.sleep(0.001)
    return False


@row("trace-late", "a program that has ended before sonde had a CPU again: every call has its stack", language="native")
def ended_meanwhile(run):
    count = 200  # their stacks find room in the ring
    command = run.interpreter.command("calls.c", "missing", count)
    subprocess.run(command, check=True, capture_output=True)  # the file is in the cache
    with tempfile.TemporaryDirectory(prefix="sonde-late-") as name:
        words = run.sonde.words(Path(name), events=["syscall-exit:openat"], seconds=None, more=["--every", 1],
                                command=["sh", "-c", 'read go; exec "$@"', "sh", *command])
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            child = child_of(process.pid)
            while Path(f"/proc/{child}/comm").read_text() != "sh\n" or not comes_to(child, {"S"}):
                time.sleep(0.001)  # until then it is sonde's own
            process.send_signal(signal.SIGSTOP)
            yield holds("sonde stands still", comes_to(process.pid, {"T"}), "yes")
            process.stdin.write(b"go\n")
            process.stdin.flush()
            yield holds("the program has ended", comes_to(child, {"Z"}, 20), "yes")
            process.send_signal(signal.SIGCONT)
            process.communicate(timeout=60)
        stacks = folded.parse((Path(name) / "out.folded").read_bytes())
    own = [stack for stack in stacks if symbols(stack)[-1].startswith("syscall-exit:openat ENOENT")]
    yield exactly("calls that failed", sum(stack.count for stack in own), count)
    yield exactly("with the program's own stack", sum(stack.count for stack in own if symbols(stack)[:1] == ["_start"]
                                                      and symbols(stack)[-6:-2] == ["main", "outer", "middle", "inner"]), count)
    yield exactly("cut", sum(stack.count for stack in stacks if "[truncated]" in symbols(stack)), 0)


@row("kernel-early-forks", "a program that forks in its first milliseconds: its children have their frames", language="python")
def early_forks(run):
    command = run.interpreter.command("early.py", 3, 3_000 if run.full else 600)
    recording = run.sonde.record(command=command, rate=499, seconds=None, threads=True, more=("-e", "kernel"))
    all_of, named = Counter(), Counter()
    for stack in recording.stacks:
        names = {folded.method(frame.label) for frame in stack.frames}
        all_of[stack.pid] += stack.count
        named[stack.pid] += stack.count if any(name.startswith("early_") for name in names) else 0
    shares = sorted(100 * named[pid] / all_of[pid] for pid in all_of if named[pid] or all_of[pid] >= 50)
    yield holds("processes that ran: the first one and its children", len(shares) in (3, 4), f"{shares}")
    # until its VM is known a process has native frames alone
    yield at_least("of the children's samples in their own function, least", shares[-3] if len(shares) >= 3 else 0, 70, " %")


def starts(run, program):
    command = run.interpreter.command(program, 30)
    run.sonde.record(command=command, seconds=None, more=("-e", "kernel"))  # its tables are kept
    count, worked = run.count(200, 5), 0
    for _ in range(count):
        recording = run.sonde.record(command=command, rate=999, seconds=None, weights=True, more=("-e", "kernel"))
        worked += sum(stack.count for stack in recording.stacks
                      if any(folded.method(frame.label) == "short_work" for frame in stack.frames))
    yield at_least("of its own 30 ms in its function", 100 * worked / (30e6 * count), 75, " %",
                   75 if run.full else 45)  # beside other rows, and where memory is slow, sonde is late


@row("kernel-starts-ruby", "a program of 30 milliseconds has its frames, all but the first few", language="ruby")
def ruby_starts(run):
    yield from starts(run, "short.rb")


@row("kernel-starts-python", "a program of 30 milliseconds has its frames, all but the first few", language="python")
def python_starts(run):
    yield from starts(run, "short.py")


def children(run, program):
    for rate in (99, 999) if run.full else (499,):
        with start(run.interpreter, program) as target:
            recording = run.sonde.record(target.pid, rate=rate, seconds=run.seconds(60, 3), threads=True, weights=True, more=KERNEL)
            target.finish()
        seen = {name: Counter() for name in ("lasting_work", "brief_work", "(unnamed)")}
        for stack in recording.stacks:
            names = {folded.method(frame.label) for frame in stack.frames}
            for name in seen:
                seen[name][stack.pid == target.pid] += stack.count if name in names else 0
        yield exactly(f"{rate} Hz: ns of a child's work here, and of ours in a child",
                      (seen["brief_work"][True], seen["lasting_work"][False]), (0, 0))
        total = folded.total(recording.stacks)
        yield at_most(f"{rate} Hz: CPU time under a frame without a name", 100 * sum(seen["(unnamed)"].values()) / total, 0.5, " %",
                      0.5 if run.full else 1)
        ours = seen["brief_work"][False]
        share = 100 * ours / max(ours + seen["lasting_work"][True], 1)
        yield at_most(f"{rate} Hz: share of the children's work off by", abs(share - 50), 2, " points",
                      stats.share_bar(2, 0.5, recording.quality["samples"]))


@row("kernel-children-ruby", "children of 20 ms: their frames have names, each its own", language="ruby")
def ruby_children(run):
    yield from children(run, "brief.rb")


@row("kernel-children-python", "children of 20 ms: their frames have names, each its own", language="python")
def python_children(run):
    yield from children(run, "brief.py")


def stopped_again_and_again(process, target, rounds):
    """(times that it was stopped, times that a thread of the target was stopped with it)"""
    stopped = frozen = 0
    for _ in range(rounds):
        time.sleep(random.uniform(0.002, 0.012))
        process.send_signal(signal.SIGTSTP)
        if comes_to(process.pid, {"T"}):
            stopped += 1
            time.sleep(0.01)  # a thread that is let go this instant
            frozen += "t" in thread_states(target.pid)
        process.send_signal(signal.SIGCONT)
    return stopped, frozen


@row("ctrl-z", "sonde that pauses is stopped by Ctrl-Z: it stops, and no thread of the program is left stopped", once=True)
def ctrl_z(run):
    rounds = run.count(400, 20)
    words = ("-p", "{pid}", "-r", "1000", "-e", "reader", "--pause=always", "-d", "600s")
    with start(run.interpreter, "cpu.rb", 1, 600) as target:
        for command, more in (("record", ("-f", "folded", "-o", "/dev/null")), ("top", ())):
            given = [word.format(pid=target.pid) for word in words]
            # A group of its own, as a shell's job has: SIGTSTP stops no group that nobody is there for.
            with subprocess.Popen([run.sonde.path, command, *given, *more], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, process_group=0) as process:
                time.sleep(1)
                stopped, frozen = stopped_again_and_again(process, target, rounds)
                process.terminate()
                said = process.communicate(timeout=60)[1].decode(errors="replace")
            yield holds(f"{command}: it samples, and goes on to its end", "stopped: SIGTERM" in said, said.strip()[-80:])
            yield exactly(f"{command}: times that it was stopped", stopped, rounds)
            yield exactly(f"{command}: a thread of the program is stopped meanwhile", frozen, 0)


@row("shell-given", "-p PID of a shell with a busy Ruby child: the child is recorded; one that has none is refused")
def shell_given(run):
    ruby = " ".join(run.interpreter.command("cpu.rb", 1, 600))
    with Target(["bash", "-c", f"{ruby}; true"]) as target:
        recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(10, 1))
        yield enough("samples", recording.samples, 20)
        yield exactly("processes", recording.quality["processes"], 1)
        os.kill(first_child(target.pid), signal.SIGKILL)
    with Target(["sleep", "60"], ready=False) as target:
        refused = run.sonde.run("record", "-e", "reader", "-p", target.pid, "-d", "0.2s", "-f", "folded", "-o", "-")
        yield holds("one without children is refused", "holds no runtime" in refused.stderr, refused.stderr.strip()[-80:])
