# SPDX-License-Identifier: Apache-2.0
"""rows_trace.py - sonde trace: every hit counted, each with the stack of who did it."""
import json
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import folded
import stats
from rows import Figure, Skip, at_least, at_most, exactly, holds, row
from rows_kernel import is_whole, symbols
from target import start


def events(stack):
    """What the leaf says."""
    return stack.frames[-1].label


def ledger(recording):
    quality = recording.quality
    return exactly("ledger: expected - taken - lost",
                   quality["expected"] - quality["taken"] - sum(quality["lost"].values()), 0)


def traced(run, what, count, names, *more, **options):
    """A target of calls.c from its first to its last instruction: (recording, what that run says of itself)."""
    command = run.interpreter.command("calls.c", what, count)
    subprocess.run(command, check=True, capture_output=True)  # the file is in the cache
    with tempfile.NamedTemporaryFile(prefix="sonde-calls-") as said:
        recording = run.sonde.record(command=["sh", "-c", 'to=$1; shift; "$@" >"$to"', "sh", said.name, *command],
                                     seconds=None, events=names, more=more, **options)
        return recording, json.load(said)


def table(recording):
    """{event: (hits, mean us, max us)} of what is printed at the end; with --min-latency (of calls, ...)."""
    found = {}
    for line in recording.stderr.splitlines():
        parts = re.match(r"(?: *[\d,]+)? +([\d,]+) +\d+ +(\S+) +(\S+)  (\S+)$", line)
        if parts:
            found[parts[4]] = (int(parts[1].replace(",", "")), parts[2], parts[3])
    return found


def wrong_path(stacks, path, leaf):
    """Stacks of an event that are not those of the program."""
    wrong = Counter()
    for stack in stacks:
        names = [name for name in symbols(stack) if name in (*path, leaf) or name.startswith(("inner", "middle", "outer"))]
        if events(stack).split(" ")[0] == leaf and names != [*path, leaf]:
            wrong[";".join(symbols(stack))[:200]] += stack.count
    return wrong


PATH = ["main", "outer", "middle", "inner"]


@row("trace-count", "one system call, over and over: every hit counted, stacks for all or a stated 1 in N", language="native", alone=True)
def count_hits(run):
    calls = run.count(4_000_000, 300_000)
    for what, more in (("as they come", ()), ("one in 10", ("--every", 10)), ("every one", ("--every", 1))):
        asked = calls if what != "every one" else 5_000  # the ring holds so many
        recording, truth = traced(run, "pid", asked, ["syscall:getppid"], *more)
        hits, _, _ = table(recording)["syscall:getppid"]
        yield exactly(f"{what}: hits of {asked}", hits - truth["count"], 1)  # the shell asks once, too
        yield ledger(recording)
        wrong = wrong_path(recording.stacks, PATH, "syscall:getppid")
        shell = sum(stack.count for stack in recording.stacks if "outer" not in symbols(stack))
        yield Figure(f"{what}: another stack {wrong.most_common(1)}", wrong.total() - shell, "= 0", wrong.total() == shell)
        lost = recording.quality["lost"]
        in_file = sum(stack.count for stack in recording.stacks)
        yield exactly(f"{what}: hits in the file, and {lost['dropped']} dropped, {lost['passed']} at the end",
                      in_file + lost["dropped"] + lost["passed"] - hits, 0)
        every = recording.quality["taken"] / recording.samples
        yield holds(f"{what}: one in", 1 <= every < 4000, f"{every:.1f}", "printed")
        if more:
            yield at_most(f"{what}: one in {more[1]} is {every:.2f}: off by", 100 * abs(every / more[1] - 1), 3, " %")
            yield exactly(f"{what}: dropped", lost["dropped"], 0)


@row("trace-latency", "latencies: as the program measures them; --min-latency: the long ones alone", language="native", alone=True)
def latencies(run):
    count = run.count(20_000, 400)
    recording, truth = traced(run, "sleep", count, ["syscall:clock_nanosleep"], "--by-latency")
    ours = sum(stack.count for stack in recording.stacks)
    hits, mean, most = table(recording)["syscall:clock_nanosleep"]
    yield exactly(f"hits of {count}", hits, count)
    # the program looks at its clock before and behind: it may wait for the CPU there
    yield at_most("time in the call: off by", 100 * abs(ours - truth["slept_ns"]) / truth["slept_ns"], 5, " %")
    yield at_most("more of it than the program saw, ns", ours - truth["slept_ns"], 0)
    yield at_most("the table's mean: off by", 100 * abs(float(mean) * 1000 * count - ours) / ours, 0.02, " %")
    yield at_least("the longest, us", float(most), 4000)
    yield ledger(recording)
    recording, truth = traced(run, "sleep", count, ["syscall:clock_nanosleep"], "--min-latency", "3ms")
    in_file = sum(stack.count for stack in recording.stacks)
    # one of the short ones may wait for the CPU so long: the program sees that, too
    yield at_least(f"of 3 ms or more, {truth['long']} to {truth['as_long']}", in_file, truth["long"])
    yield at_most("no more than the program saw", in_file, truth["as_long"])
    yield exactly("of calls", table(recording)["syscall:clock_nanosleep"][0], count)
    wrong = wrong_path(recording.stacks, [*PATH, "nap"], "syscall:clock_nanosleep")
    yield Figure(f"another stack {wrong.most_common(1)}", wrong.total(), "= 0", not wrong)


@row("trace-exit", "syscall-exit: the error is part of the frame", language="native")
def exits(run):
    count = run.count(20_000, 1_000)
    recording, _ = traced(run, "missing", count, ["syscall-exit:openat"], "--every", 1)
    own = Counter()
    for stack in recording.stacks:
        if "inner" in symbols(stack):
            own[events(stack)] += stack.count
    yield exactly("syscall-exit:openat ENOENT", own["syscall-exit:openat ENOENT"], count)
    yield exactly("others of the program", own.total() - count, 0)
    yield ledger(recording)


def need_tracefs():
    if not Path("/sys/kernel/tracing/events").exists():
        done = subprocess.run(["mount", "-t", "tracefs", "nodev", "/sys/kernel/tracing"], check=False, capture_output=True)
        if done.returncode:
            raise Skip("tracefs cannot be mounted here")


@row("trace-legacy", "calls of 32 bits are not those of the same number", language="native", once=True)
def legacy(run):
    count = 300
    if subprocess.run(run.interpreter.command("calls.c", "legacy", 1), capture_output=True, check=False).returncode < 0:
        raise Skip("this kernel has no calls of 32 bits")
    recording, _ = traced(run, "legacy", count, ["syscall:semget", "syscall:getppid"], "--every", 1)
    inner, others = Counter(), Counter()
    for stack in recording.stacks:
        if "inner" in symbols(stack):
            inner[events(stack).split(" ")[0]] += stack.count
        else:
            others[";".join(frame.label for frame in stack.frames)[:100]] += stack.count
    beside = f", beside {others.most_common(1)}, lost {recording.quality['lost']}" if inner["syscall:getppid"] != count else ""
    yield exactly(f"getppid{beside}", inner["syscall:getppid"], count)
    yield exactly("semget", inner["syscall:semget"], 0)
    yield ledger(recording)


@row("trace-probes", "functions, USDT and tracepoints: every hit, with its stack", language="native")
def probes(run):
    need_tracefs()
    count = run.count(20_000, 1_000)
    program = run.interpreter.command("calls.c", "probed", count)[0]
    probe = f"uprobe:{program}:calls_probed"
    for name, what, path in ((probe, "probed", [*PATH, "probed", "calls_probed"]),
                             (f"usdt:{program}:calls:always", "probed", [*PATH, "probed"]),
                             (f"usdt:{program}:calls:listened", "probed", [*PATH, "probed"]),
                             ("tracepoint:syscalls:sys_enter_getppid", "pid", PATH)):
        recording, _ = traced(run, what, count, [name], "--every", 1, "--no-kernel")
        own = Counter()
        for stack in recording.stacks:
            names = [symbol for symbol in symbols(stack) if symbol in path]
            if "inner" in names:
                own[";".join(names)] += stack.count
        short = name.replace(program, "calls")
        yield exactly(f"{short}: hits with the right stack", own[";".join(path)], count)
        yield exactly(f"{short}: others", own.total() - own[";".join(path)], 0)
        yield ledger(recording)


def own_frames(stack, names):
    return [(folded.method(frame.label), frame.line) for frame in stack.frames
            if frame.path and folded.bare(frame.label) in names]


def reproducer(run, program, asked, written):
    with start(run.interpreter, program) as target:
        facts = target.facts
        recording = run.sonde.record(target.pid, seconds=run.seconds(60, 1.5), threads=True,
                                     events=["syscall:openat", f"syscall:{asked}", f"syscall:{written}"])
    first, second = facts["first"], facts["second"]
    want = {(first, "syscall:openat"): "zyx", (first, f"syscall:{asked}"): "zyx",
            (second, f"syscall:{asked}"): "cba", (second, f"syscall:{written}"): "cba"}
    seen, wrong, wrong_line, whole = Counter(), Counter(), Counter(), Counter()
    for stack in recording.stacks:
        key = (stack.tid, events(stack))
        found = own_frames(stack, "xyzabc")
        names = re.sub(r"(.)\1", r"\1", "".join(name[-1] for name, _ in found))  # a block is in x, too
        if key in want:
            seen[key] += stack.count
            if names != want[key]:
                wrong[f"{events(stack)} {names}"] += stack.count
            whole[is_whole(stack)] += stack.count
            if not any(frame.is_native for frame in stack.frames):
                wrong["without a native frame"] += stack.count
        elif names and events(stack) in {event for _, event in want}:
            # what the VM itself asks for between two calls may be met anywhere
            own = "zyx" if stack.tid == first else "cba" if stack.tid == second else ""
            if not own.startswith(names):
                wrong[f"{stack.tid}: {events(stack)} {names}"] += stack.count
        for name, line in found:
            if line not in facts["lines"][folded.bare(name)[-1]]:
                wrong_line[f"{name}:{line}"] += stack.count
    yield Figure(f"stacks of another thread, or not whole {wrong.most_common(1) or ''}", wrong.total(), "= 0", not wrong)
    yield Figure(f"wrong lines {wrong_line.most_common(1) or ''}", wrong_line.total(), "= 0", not wrong_line)
    yield at_least("from the first function on", 100 * whole[True] / whole.total(), 99.5, " %",
                   stats.least_bar(99.5, whole.total()))
    for key in want:
        who = "first" if key[0] == first else "second"
        yield at_least(f"{key[1]} of the {who}", seen[key], 100)
    yield ledger(recording)
    yield exactly("dropped", recording.quality["lost"]["dropped"], 0)


@row("trace-ruby", "the reproducer: each system call has its own thread's methods, whole, on their lines", language="ruby")
def ruby(run):
    yield from reproducer(run, "calls.rb", "getppid", "write")


@row("trace-python", "the reproducer in Python", language="python")
def python(run):
    yield from reproducer(run, "calls.py", "getppid", "write")
