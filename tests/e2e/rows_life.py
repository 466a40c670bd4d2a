# SPDX-License-Identifier: Apache-2.0
"""rows_life.py - processes come, change and go, and sonde itself may be killed at any moment."""
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path

import folded
from rows import Figure, Skip, at_least, at_most, exactly, holds, row
from rows_names import compare_parked
from sonde import Running
from stats import share_bar
from target import Progress, Target, child_of, hogs, process_cpu_ns, start


def profiled(run, target, wrap=(), **options):
    """A recording under way, that has attached: it counts the first sample."""
    where = tempfile.TemporaryDirectory(prefix="sonde-e2e-")
    directory = Path(where.name)
    running = Running(run.sonde.words(directory, pid=target.pid, **options), directory, wrap)
    running.keep = where
    return running


def results(running, seconds=60):
    stderr = running.finish(seconds)
    if running.process.returncode:
        raise AssertionError(f"exit {running.process.returncode}: {stderr[-300:]}")
    return folded.parse(running.out.read_bytes()), json.loads(running.quality.read_text())


def with_children(run, target, seconds=60, **options):
    """(pids, stacks, quality) of a program that makes its children when its input is closed."""
    running = profiled(run, target, rate=1_000, seconds=600, **options)
    time.sleep(0.4)  # it waits for its input to be closed; attach first
    target.close_input()
    pids = target.read_line()["pids"]
    target.wait()
    return pids, *results(running, seconds)


@row("forks", "100 children of 50 ms at 1 kHz: >= 99 seen, each by its own method")
def forks(run):
    children = run.count(100, 20)
    with start(run.interpreter, "forks.rb", children, 50, 2) as target:
        pids, stacks, quality = with_children(run, target)
    seen = {folded.method(frame.label) for stack in stacks for frame in stack.frames}
    missing = [n for n in range(children) if f"child_{n}" not in seen]
    yield Figure(f"children seen of {children}", children - len(missing),
                 f">= {children - children // 100}", len(missing) <= children // 100)
    by_pid = {}
    for stack in stacks:
        for frame in stack.frames:
            if folded.method(frame.label).startswith("child_"):
                by_pid.setdefault(folded.method(frame.label), set()).add(stack.pid)
    wrong = [name for name, found in by_pid.items() if found != {pids[int(name[6:])]}]
    told = [f"{name} ({pids[int(name[6:])]}) under {sorted(map(str, by_pid[name]))}" for name in wrong[:2]]
    yield Figure("children under another pid", len(wrong), f"= 0 {told or ''}", not wrong)
    work = sum(stack.count for stack in stacks
               if any(folded.method(frame.label).startswith("child_") for frame in stack.frames))
    yield at_least(f"samples of {50 * children} ms in children", work, 0.7 * 50 * children)
    yield exactly("ledger: expected - taken - lost",
                  quality["expected"] - quality["taken"] - sum(quality["lost"].values()), 0)


def pids_of_methods(stacks, prefix):
    """{method: the processes it was seen in}, by stacks that held: in one that moved, a frame may be put
    back by what another child of the same program called at that place (sample/calls.h)."""
    found = {}
    for stack in stacks:
        for frame in () if stack.frames[-1].label == folded.MOVING else stack.frames:
            if folded.method(frame.label).startswith(prefix):
                found.setdefault(folded.method(frame.label), set()).add(stack.pid)
    return found


@row("orphans", "grandchildren whose parents exit at once: >= 95 % seen, with their CPU time", once=True)
def orphans(run):
    count, each = run.count(100, 20), 50
    with start(run.interpreter, "orphans.rb", count, each) as target:
        pids, stacks, quality = with_children(run, target, 120, weights=True)
    for prefix, how, work in (("orphan_", "double forks", each * count), ("left_", "shell &", 2 * each * count)):
        found = pids_of_methods(stacks, prefix)
        yield at_least(f"{how}: grandchildren seen of {count}", len(found), count - count // 20)
        wrong = [f"{name} of {pids[name]}: {where}" for name, where in found.items() if where != {pids[name]}]
        yield Figure(f"{how}: under another pid", len(wrong), f"= 0 {wrong[:2] or ''}", not wrong)
        took = sum(stack.count for stack in stacks
                   if any(folded.method(frame.label).startswith(prefix) for frame in stack.frames))
        # Reaped by init at once: what an orphan used last, in up to 100 ms, is estimated from the period.
        yield at_least(f"{how}: ms of {work} found in them", took / 1e6, 0.4 * work)
    yield exactly("ledger: expected - taken - lost",
                  quality["expected"] - quality["taken"] - sum(quality["lost"].values()), 0)


def dumped(run, pid):
    """{pid: every name on a stack of it} of a dump with its children."""
    said = json.loads(run.sonde.run("dump", "-p", pid, "--subprocesses", "--json").stdout)
    return {one["pid"]: {frame["name"] for thread in one["threads"] for frame in thread["frames"]} for one in said["processes"]}


def against_workers(run, program):
    """Of descendants that are there first: each is seen, under its own pid, by its own function, with its CPU time."""
    with start(run.interpreter, program) as target:
        pids = target.facts["pids"]
        dump = dumped(run, target.pid)
        lacking = [name for name, pid in pids.items() if not any(folded.method(one) == "work" for one in dump.get(pid, ()))]
        yield exactly(f"dump --subprocesses: workers that do not work {lacking or ''}", len(lacking), 0)
        yield exactly("dump --subprocesses: the server itself is first", next(iter(dump), None), target.pid)
        for engine in ("reader", "kernel"):
            begun = {name: process_cpu_ns(pid) for name, pid in pids.items()}
            recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(20, 1.5), weights=True,
                                         more=("-e", engine))
            used = {name: process_cpu_ns(pid) - begun[name] for name, pid in pids.items()}
            found = pids_of_methods(recording.stacks, "worker_")
            wrong = {name: found.get(name) for name, pid in pids.items() if found.get(name) != {pid}}
            yield exactly(f"{engine}: not seen, or under another pid {wrong or ''}", len(wrong), 0)
            took = Counter()
            for stack in recording.stacks:
                took[stack.pid] += stack.count
            off = {name: abs(took[pid] / took.total() - used[name] / sum(used.values())) for name, pid in pids.items()}
            yield at_most(f"{engine}: CPU time told, of what they used meanwhile", 100 * took.total() / sum(used.values()), 101, " %")
            name, worst = max(off.items(), key=lambda item: item[1])
            yield at_most(f"{engine}: shares of CPU time, worst ({name}) off by", 100 * worst, 2, " points",
                          share_bar(2, 0.25, recording.samples))


@row("workers-ruby", "workers that are there before sonde: each by its own method and pid, shares within 2 points", once=True)
def workers_ruby(run):
    yield from against_workers(run, "workers.rb")


@row("workers-python", "workers that are there before sonde: each by its own function and pid, shares within 2 points",
     language="python", once=True)
def workers_python(run):
    yield from against_workers(run, "workers.py")


def other_ruby(run):
    """A command that runs exec.rb under another Ruby: Debian's 3.3 from the host's, else 3.1."""
    import interpreters
    there, _ = interpreters.find(language=interpreters.RUBY)
    by_name = {one.name: one for one in there}
    other = by_name.get("3.3" if run.interpreter.name.startswith("3.1") else "3.1") or run.interpreter
    command = other.command("exec.rb", "after", 300)
    if run.interpreter.root:  # out of this root, into the other
        command = ["chroot", f"/proc/{os.getpid()}/root", *command]
    return other, command


@row("exec", "exec into another Ruby: detected, named, on both sides of it")
def exec_row(run):
    other, command = other_ruby(run)
    with start(run.interpreter, "exec.rb", "before", 300, *command) as target:
        running = profiled(run, target, rate=1_000, seconds=600, weights=True)
        time.sleep(0.4)
        target.close_input()
        said = target.read_line()
        target.read_line()
        target.wait()
        stacks, _ = results(running)
    yield holds("the pid stays, the Ruby changes", said["pid"] == target.pid,
                f"{run.interpreter.name} -> {other.name}", "same pid")
    for name in ("before_exec", "after_exec"):
        found = sum(stack.count for stack in stacks
                    if any(folded.method(frame.label) == name for frame in stack.frames))
        yield at_least(f"ms of 300 in {name}", found / 1e6, 270)
        # what loading the other Ruby takes goes with its first samples; what was used before is not told again
        yield at_most(f"ms of 300 in {name}", found / 1e6, 400)
    both = sum(stack.count for stack in stacks
               if {"before_exec", "after_exec"} <= {folded.method(frame.label) for frame in stack.frames})
    yield exactly("stacks of both", both, 0)


@row("kill9", "SIGKILL at random instants with --pause=always: target never left stopped")
def kill9(run):
    kills = run.count(2_000, 20)  # 10,000 over the five interpreters
    rng = random.Random(1)
    stopped, stuck = 0, 0
    inside, outside = run.interpreter.scratch("progress")
    with start(run.interpreter, "frames.rb", 20, inside) as target:
        progress = Progress(outside)
        progress.wait_for_more(0)
        for _ in range(kills):
            process = subprocess.Popen(
                [run.sonde.path, "record", "-p", str(target.pid), "-r", "5000", "-d", "60s",
                 "--pause=always", "-f", "folded", "-o", "/dev/null"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.0, 0.06))
            ended = process.poll()
            process.kill()
            process.wait()
            if ended is not None:
                raise AssertionError(f"sonde ended by itself with {ended}")
            done = progress.read()[0]
            stopped += target.state() in "tT"
            stuck += not progress.wait_for_more(done + 1)
        answered = target.finish()["done"] > 0
    yield exactly(f"stuck after {kills} kills", stuck, 0)
    yield exactly("seen stopped", stopped, 0)
    yield holds("the target ended well", answered)


@contextmanager
def cgroup_limit(percent):
    """A cgroup with `percent` of one CPU: the command prefix that joins it, or None."""
    quota = percent * 1000
    for base, file, text in (("/sys/fs/cgroup", "cpu.max", f"{quota} 100000"),
                             ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", str(quota))):
        group = Path(base) / f"sonde-e2e-{os.getpid()}"
        try:
            group.mkdir()
            with open(group / file, "r+", encoding="ascii") as limit:  # never made by us
                limit.write(text)
        except OSError:
            if group.exists():
                group.rmdir()
            continue
        try:
            yield ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$0" "$@"')
        finally:
            group.rmdir()
        return
    yield None


def ledger_figures(what, recording, rate):
    quality = recording.quality
    lost = sum(quality["lost"].values())
    seconds = (quality["end_ns"] - quality["begin_ns"]) / 1e9
    residual = quality["expected"] - quality["taken"] - lost
    yield exactly(f"{what}: expected - taken - lost", residual, 0)
    named = ", ".join(f"{name} {count}" for name, count in quality["lost"].items() if count)
    yield Figure(f"{what}: expected in {seconds:.2f} s", quality["expected"],
                 f"{rate * seconds:.0f} +- 2 %; lost: {named or 'none'}",
                 abs(quality["expected"] - rate * seconds) <= 0.02 * rate * seconds + 3)


@row("ledger", "expected = taken + named losses under nice 19 and a cgroup, residual 0", once=True, alone=True)
def ledger(run):
    seconds = run.seconds(30, 1.5)
    with start(run.interpreter, "torn.rb", "tight") as target:
        with hogs(2 * (os.cpu_count() or 1)):
            starved = run.sonde.record(target.pid, rate=2_000, seconds=seconds, wrap=("nice", "-n", "19"))
        yield from ledger_figures("nice 19 beside hogs", starved, 2_000)
        with cgroup_limit(2) as prefix:
            if prefix is None:
                yield holds("cgroup", True, "none can be made here", "printed")
                return
            limited = run.sonde.record(target.pid, rate=2_000, seconds=seconds, wrap=prefix, patience=120)
        yield from ledger_figures("2 % of a CPU", limited, 2_000)
        yield at_least("2 % of a CPU: named losses", limited.lost, 1)


def namespaced(run, program):
    """The program as pid 1 of its own pid namespace, with its own /proc."""
    inner = run.interpreter.command(program)
    root = run.interpreter.root
    mount = f"--mount-proc={root}/proc" if root else "--mount-proc"
    return Target(["unshare", "--fork", "--pid", "--kill-child", mount, *inner])


def inner_tids(pid):
    """{tid as the process sees it: tid as we see it}"""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if line.startswith("NSpid:"):
                numbers = line.split()[1:]
                found[int(numbers[-1])] = int(numbers[0])
    return found


def dump_inside(run, pid):
    """What sonde says of the process when it runs beside it, or why it cannot."""
    enter = ["nsenter", f"--target={pid}", "--pid", "--mount"]
    sonde = run.sonde
    if run.interpreter.root:
        inside, outside = run.interpreter.scratch("sonde")
        shutil.copy(sonde.path, outside)
        enter += ["chroot", str(run.interpreter.root)]
        sonde = type(sonde)(inside)
    if subprocess.run([*enter, sonde.path, "--version"], capture_output=True, check=False).returncode:
        return None
    return sonde.dump(1, wrap=enter)


@row("namespace", "another root and pid namespace: same stacks as from inside")
def namespace(run):
    if os.geteuid() != 0:
        raise Skip("unshare needs root")
    with ExitStack() as stack:
        target = stack.enter_context(namespaced(run, "lines.rb"))
        pid = child_of(target.pid)
        yield holds("the program is pid 1 to itself", target.facts["pid"] == 1)
        tids = inner_tids(pid)
        outside = run.sonde.dump(pid)
        inside = dump_inside(run, pid)
        facts = target.facts
    # /proc/thread-self names the thread as the mounted /proc sees it
    frames, wrong, _, errors = compare_parked(outside, facts, run.interpreter.version,
                                              lambda tid: tids.get(tid, tid))
    yield Figure(f"wrong of {frames} frames, seen from the host", wrong, f"= 0 {errors[:2] or ''}",
                 wrong == 0)
    if inside is None:
        yield holds("sonde inside", True, "does not run there: its libc is older", "printed")
        return
    different = [tid for tid, thread in inside.items()
                 if tids.get(tid) not in outside or outside[tids[tid]].frames != thread.frames]
    yield exactly(f"threads of {len(inside)} that differ from inside", len(different), 0)


@row("killed-target", "the target is killed while it is sampled: the file is there")
def killed_target(run):
    with start(run.interpreter, "torn.rb", "tight") as target:
        running = profiled(run, target, rate=1_000, seconds=60)
        time.sleep(0.6)
        begin = time.monotonic()
        target.process.send_signal(signal.SIGKILL)
        stacks, quality = results(running)
        took = time.monotonic() - begin
    yield at_most("ends after the target by", took, 1.0, " s")
    yield at_least("samples kept", folded.total(stacks), 200)
    yield exactly("ledger: expected - taken - lost",
                  quality["expected"] - quality["taken"] - sum(quality["lost"].values()), 0)


@row("terminal-lost", "SIGHUP more than once, SIGTERM twice at once: the file is there", once=True)
def terminal_lost(run):
    for number in (signal.SIGHUP, signal.SIGTERM):
        with start(run.interpreter, "torn.rb", "tight") as target:
            # whoever runs us may have us ignore it (nohup)
            running = profiled(run, target, rate=1_000, seconds=60, wrap=("env", "--default-signal=HUP"))
            time.sleep(0.6)
            for _ in range(3):
                running.process.send_signal(number)
            stacks, quality = results(running)
        yield at_least(f"{number.name}: samples kept", folded.total(stacks), 200)
        yield exactly(f"{number.name}: ledger: expected - taken - lost",
                      quality["expected"] - quality["taken"] - sum(quality["lost"].values()), 0)
