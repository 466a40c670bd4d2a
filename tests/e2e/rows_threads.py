# SPDX-License-Identifier: Apache-2.0
"""rows_threads.py - which thread did it, how much of it, and in what state it was."""
import re
import signal
import time
from collections import Counter

import folded
import stats
from rows import Figure, Skip, at_least, at_most, exactly, holds, row
from target import CpuSeries, hogs, process_cpu_ns, start, thread_cpu_ns

WORKERS = ("half", "third", "fifth", "deflates")


def window(recording):
    """The time that the samples stand for, CLOCK_MONOTONIC."""
    return recording.quality["begin_ns"], recording.quality["end_ns"]


def shares_figure(what, ours, truth, whole, recording):
    """The worst of the shares of WORKERS: `ours` is the weight of each, `truth` its CPU time, of `whole`."""
    weight, samples = folded.total(recording.stacks), recording.quality["samples"]
    errors = {name: (100 * (ours[name] / max(weight, 1) - truth[name] / whole),
                     stats.share_bar(2, truth[name] / whole, samples)) for name in WORKERS}
    name, (error, bar) = stats.worst(errors)
    return at_most(f"{what} ({name})", abs(error), 2, " points", bar)


def shares_of_workers(run, seconds):
    with start(run.interpreter, "shares.rb") as target:
        tids = {thread["tid"]: thread["name"] for thread in target.facts["threads"]}
        series = CpuSeries({tid: lambda tid=tid: thread_cpu_ns(target.pid, tid) for tid in tids})
        recording = run.sonde.record(target.pid, rate=1_000, seconds=seconds, threads=True, weights=True)
        series.stop()
        said = {thread["name"]: thread for thread in target.finish()["threads"]}
    truth = {name: series.between(tid, *window(recording)) for tid, name in tids.items()}
    whole = sum(truth.values())
    ours = {name: sum(stack.count for stack in recording.stacks if tids.get(stack.tid) == name)
            for name in WORKERS}
    yield shares_figure("shares by tid", ours, truth, whole, recording)

    inside = {name: truth[name] * said[name]["method_ns"] / said[name]["cpu_ns"] for name in WORKERS}
    by_name = {name: sum(stack.count for stack in recording.stacks
                         if any(folded.method(frame.label) == name for frame in stack.frames))
               for name in WORKERS}
    yield shares_figure("shares by method", by_name, inside, whole, recording)
    crossed = sum(stack.count for stack in recording.stacks for frame in stack.frames
                  if folded.method(frame.label) in WORKERS
                  and tids.get(stack.tid) != folded.method(frame.label))
    yield exactly("weight under the wrong tid", crossed, 0)
    said = {stack.tid: stack.thread for stack in recording.stacks if stack.tid in tids}
    yield holds("thread names", all(said[tid] == tids[tid] for tid in said), ", ".join(sorted(set(
        map(str, said.values())))), "as set")


@row("threads-shares", "50/30/20 % and one in zlib: shares within 2 points, each tid right")
def threads_shares(run):
    yield from shares_of_workers(run, run.seconds(60, 1.5))


@row("threads-crowded", "the same beside two programs that want every CPU", once=True, alone=True)
def threads_crowded(run):
    with hogs(2):
        yield from shares_of_workers(run, run.seconds(60, 1.5))


OWN = re.compile(r"(?:first|middle|last)_(\d)\Z")


def owners(stack):
    """The threads whose functions are in a stack."""
    found = (OWN.search(folded.method(frame.label)) for frame in stack.frames)
    return {match[1] for match in found if match}


def each_its_own(run, program):
    """Alone and beside a program that takes a CPU, as other rows do: then threads lose theirs anywhere."""
    for beside in (0, 1) if run.full else (0,):
        for pause in ("never", "auto"):
            with hogs(beside), start(run.interpreter, program) as target:
                recording = run.sonde.record(target.pid, rate=2_000, seconds=run.seconds(60, 1.5), threads=True, more=(f"--pause={pause}",))
                target.finish()
            what, seen = f"{pause}, beside {beside}", {}
            for stack in recording.stacks:
                for owner in owners(stack):
                    seen.setdefault(stack.tid, Counter())[owner] += stack.count
            yield at_least(f"{what}: threads seen", len(seen), 4)
            wrong = sum(owner.total() - max(owner.values()) for owner in seen.values())
            yield exactly(f"{what}: of {recording.samples} samples under another thread", wrong, 0)


@row("threads-crossed", "threads that call the same methods, each for its own, some a thousand times more often: no stack with another's")
def threads_crossed(run):
    yield from each_its_own(run, "crossed.rb")


@row("py-crossed", "the same of Python", language="python")
def python_crossed(run):
    yield from each_its_own(run, "crossed.py")


@row("cpu-sum", "--mode cpu: sum of weights within 1 % of the CPU time, a sleeper weighs 0")
def cpu_sum(run):
    for threads in (1, 2, 4, 8) if run.full else (1, 4):
        with start(run.interpreter, "cpu.rb", threads, run.seconds(60, 1.2)) as target:
            series = CpuSeries({"all": lambda pid=target.pid: process_cpu_ns(pid)})
            recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(600, 0.9),
                                         mode="cpu", weights=True, threads=True)
            series.stop()
        truth = series.between("all", *window(recording))
        ours = folded.total(recording.stacks)
        # Both ends of the series are 4 ms wide, and the end of a thread is seen at the next look.
        grain = 100 * (8_000_000 + 5_000_000 * threads) / truth
        yield at_most(f"{threads} threads, {truth / 1e9:.2f} CPU-s: off by",
                      100 * abs(ours - truth) / truth, 1, " %", 1 + (0 if run.full else grain))
        asleep = sum(stack.count for stack in recording.stacks
                     if any(folded.method(frame.label) == "sleeps" for frame in stack.frames))
        yield exactly(f"{threads} threads: the sleeper's weight", asleep, 0)


@row("reuse", "native threads used again: each Ruby thread's own stack, name and CPU time")
def reuse(run):
    with start(run.interpreter, "reuse.rb") as target:
        series = CpuSeries({"all": lambda: process_cpu_ns(target.pid)})
        recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(60, 3), threads=True, weights=True)
        series.stop()
        said = target.finish()
    truth = {name: spent / sum(said["spent_ns"].values()) for name, spent in said["spent_ns"].items()}
    weight = folded.total(recording.stacks)
    used = series.between("all", *window(recording))
    yield at_most("weights, off by", 100 * abs(weight - used) / used, 1, " %", 1 + (0 if run.full else 2))
    methods, worked, misnamed, native = {}, 0, 0, 0
    for stack in recording.stacks:
        found = [folded.method(frame.label)[5:] for frame in stack.frames
                 if re.match(r"work_\d\Z", folded.method(frame.label))]
        if found:
            methods[found[0]] = methods.get(found[0], 0) + stack.count
            worked += stack.count
            misnamed += stack.count if stack.thread != f"worker-{found[0]}" else 0
        elif stack.frames[-1].label in ("(starting)", "[native]"):
            native += stack.count
    errors = {name: (100 * (methods.get(name, 0) / max(worked, 1) - share),
                     stats.share_bar(2, share, recording.independent)) for name, share in truth.items()}
    name, (error, bar) = stats.worst(errors)
    yield at_most(f"shares of the methods (work_{name})", abs(error), 2, " points", bar)
    yield at_most("without a Ruby stack", 100 * native / weight, 5, " %", 10)
    yield at_most("under another thread's name", 100 * misnamed / weight, 2, " %", 4)


@row("states", "dump: running, waiting for the GVL, blocked, each thread right")
def states(run):
    rounds = run.count(300, 8)
    wrong, both_running, seen = [], 0, {}
    with start(run.interpreter, "states.rb") as target:
        tids = {tid: name for name, tid in target.facts["tids"].items()}
        for _ in range(rounds):
            threads = run.sonde.dump(target.pid)
            now = {tids[tid]: threads[tid] for tid in tids if tid in threads}
            if len(now) != 4:
                wrong.append(f"threads {sorted(now)}")
                continue
            if now["blocked"].state != "blocked":
                wrong.append(f"blocked is {now['blocked'].state}")
            lock = {now["lock-1"].state, now["lock-2"].state}
            both_running += now["lock-1"].state == now["lock-2"].state == "running"
            if not lock <= {"running", "waiting for the GVL", "GC"}:
                wrong.append(f"lock threads are {lock}")
            methods = {folded.method(frame.label) for frame in now["native"].frames}
            if "is_native" not in methods:
                wrong.append("the native thread without is_native")
            for name in ("lock-1", "lock-2"):
                seen[now[name].state] = seen.get(now[name].state, 0) + 1
    yield Figure(f"wrong states in {rounds} dumps", len(wrong), f"= 0 {wrong[:2] or ''}", not wrong)
    yield at_most("both holders of the GVL running at once", 100 * both_running / rounds, 25, " %")
    yield holds("a waiter for the GVL was seen", seen.get("waiting for the GVL", 0) > 0, str(seen))


@row("stopped", "a stopped process: dump says so of every thread, record says why it is empty")
def stopped(run):
    with start(run.interpreter, "states.rb") as target:
        target.process.send_signal(signal.SIGSTOP)
        try:
            deadline = time.monotonic() + 10
            while set(map(target.state, target.tids())) != {"T"} and time.monotonic() < deadline:
                time.sleep(0.005)
            states = [thread.state for thread in run.sonde.dump(target.pid).values()]
            recording = run.sonde.record(target.pid, rate=500, seconds=0.3, rc=None)
            audit = run.sonde.run("audit", "-p", target.pid, "-d", "0.3s")
        finally:
            target.process.send_signal(signal.SIGCONT)
        after = {thread.state for thread in run.sonde.dump(target.pid).values()}
    yield holds("dump: every thread is stopped", set(states) == {"stopped"}, f"{len(states)}: {sorted(set(states))}")
    yield holds("dump: none is after SIGCONT", "stopped" not in after, sorted(after))
    yield exactly("record: exit code", recording.rc, 1)
    yield holds("audit: names SIGCONT", audit.returncode != 0 and "SIGCONT" in audit.stderr, audit.stderr.strip()[-80:])
    yield holds("record: names SIGCONT", "SIGCONT" in recording.stderr, recording.stderr.strip()[-80:])


@row("ractors", "each ractor is seen, with its own method")
def ractors(run):
    if run.interpreter.version < (3, 0):
        raise Skip("no ractors before Ruby 3.0")
    with start(run.interpreter, "ractors.rb", 3) as target:
        recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(20, 1.5), threads=True)
    pattern = re.compile(r"\Aractor_(\d)\Z")
    tids, mixed = {}, 0
    for stack in recording.stacks:
        numbers = {found[1] for frame in stack.frames
                   for found in [pattern.match(folded.method(frame.label))] if found}
        mixed += len(numbers) > 1 and stack.count
        for number in numbers:
            tids.setdefault(number, {}).setdefault(stack.tid, 0)
            tids[number][stack.tid] += stack.count
    yield exactly("ractors seen", len(tids), 3)
    yield exactly("stacks of two ractors", int(mixed), 0)
    least = min((sum(by.values()) for by in tids.values()), default=0)
    yield at_least("samples of the least seen", least, recording.samples * 0.05)


@row("parked", "ractors that share native threads and sleep: the one that runs has the samples")
def parked(run):
    if run.interpreter.version < (3, 0):
        raise Skip("no ractors before Ruby 3.0")
    with start(run.interpreter, "parked.rb", 6) as target:
        recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(20, 2), weights=True, threads=True)
    weight = folded.total(recording.stacks)
    asleep, mixed, working = 0, 0, {}
    for stack in recording.stacks:
        methods = [folded.method(frame.label) for frame in stack.frames]
        numbers = {name[-1] for name in methods if re.match(r"(work|ractor)_\d\Z", name)}
        mixed += stack.count if len(numbers) > 1 else 0
        asleep += stack.count if "sleep" in methods else 0
        for number in numbers if any(name.startswith("work_") for name in methods) else ():
            working[number] = working.get(number, 0) + stack.count
    yield at_most("CPU time of those that sleep", 100 * asleep / weight, 15, " %")
    yield exactly("weight of stacks of two ractors", mixed, 0)
    yield exactly("ractors seen at work", len(working), 6)
    yield at_least("at work, of all", 100 * sum(working.values()) / weight, 70, " %")
    # their own, the main one, those that they share, the timer's
    yield at_most("threads, as sonde counts", recording.quality["threads"], 6 + 1 + 9 + 1)
