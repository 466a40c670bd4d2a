# SPDX-License-Identifier: Apache-2.0
"""rows_kernel.py - what the kernel engine records: whole stacks, with names and weights, of everything that runs."""
import shlex
from collections import Counter
from pathlib import Path

import compiled
import folded
import stats
from judge import CALLER_LINE, COMPLETE, IMPOSSIBLE, UNNAMED, Grammar, Verdict
from rows import Figure, Skip, at_least, at_most, enough, exactly, holds, row
from rows_python import SOME_KINDS, impossible, kinds_of
from rows_threads import window
from rows_truth import against_periods, is_beside, tight_grammar
from target import CpuSeries, Target, process_cpu_ns, start

KERNEL = ("-e", "kernel")
NATIVE = Path(__file__).resolve().parents[1] / "targets" / "native"

# Where a program, a thread and a context begin; musl's program in a function that libc's unnamed one is called by.
CLONES = {"__clone3", "clone3", "clone", "__clone"}
FIRST = CLONES | {"_start", "[libc.so.6]", "[libpthread-2.31.so]", "__start_context"}
MUSL = "[libc.so]"
PLUS_PLUS = {"gcc": "g++", "clang": "clang++"}


def symbols(stack):
    """Root first: what native frames are called, and marks."""
    return [folded.method(frame.label) for frame in stack.frames if not frame.label.endswith(" [kernel]")]


def wrong_callee(names, calls):
    """The first two functions of the program that cannot be neighbours; frames of libraries may be between them."""
    own = [name for name in names if name in calls]
    for caller, callee in zip(own, own[1:]):
        if callee != "on_signal" and callee not in calls[caller]:
            return f"{caller};{callee}"
    return None


def is_beside_its_functions(stack, names):
    """Is its thread not in its first function yet, or not any more? Then what is innermost is start_thread itself, or it ends in the kernel."""
    if not names:
        return any(frame.label == "do_exit [kernel]" for frame in stack.frames)
    return names[0] in CLONES and names[1:] in ([], ["start_thread"])


def shapes(run, what, command):
    """All the ways in which C calls, by turns."""
    with Target(command) as target:
        calls, first = target.facts["calls"], set(target.facts["first"])
        recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(60, 2), more=KERNEL)
    wrong, rootless, own = Counter(), Counter(), 0
    for stack in recording.stacks:
        names = [name.removesuffix(".cold") for name in symbols(stack)]  # gcc's part for what is unlikely
        own += stack.count * (any(name in calls for name in names) or is_beside_its_functions(stack, names))
        wrong[wrong_callee(names, calls)] += stack.count
        if not is_beside_its_functions(stack, names) and (not names or names[0] not in FIRST or not first & set(names)):
            rootless[";".join(names)[:200]] += stack.count
    del wrong[None]
    yield Figure(f"{what}: wrong neighbours {wrong.most_common(1) or ''}", wrong.total(), "= 0", not wrong)
    yield at_least(f"{what}: from the first function on {rootless.most_common(1) or ''}",
                   100 - 100 * rootless.total() / recording.samples, 99.5, " %")
    yield at_least(f"{what}: with a function of the program", 100 * own / recording.samples, 99.5, " %")
    yield enough(f"{what}: samples", recording.samples, 500)
    yield exactly(f"{what}: ledger: expected - taken - lost",
                  recording.quality["expected"] - recording.quality["taken"] - recording.lost, 0)


@row("kernel-stacks", "C without frame pointers: 0 wrong neighbours, >= 99.5 % from the first function on", language="native")
def stacks(run):
    for threads in (1, 4):
        yield from shapes(run, f"{threads} threads", run.interpreter.command("shapes.c", threads))


@row("kernel-news-lost", "beside a program that maps code all the time, faster than that can be told: the same", language="native")
def news_lost(run):
    with start(run.interpreter, "maps.c"):
        yield from shapes(run, "1 thread", run.interpreter.command("shapes.c", 1))


@row("kernel-thrown", "C++: exceptions, longjmp and contexts: 0 wrong neighbours, >= 99.5 % from the first function on", language="native")
def thrown(run):
    if run.interpreter.name not in PLUS_PLUS:
        raise Skip("which compiler of C++ belongs to it is not known")
    built = compiled.build(PLUS_PLUS[run.interpreter.name], NATIVE / "thrown.cc", "-pthread")
    yield from shapes(run, "thrown", [built])


TABLELESS = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fomit-frame-pointer")


@row("kernel-tableless", "the same of C that has no unwind tables, either: by what its instructions do", language="native")
def tableless(run):
    for threads, where in (1, ["-fpie", "-pie"]), (4, ["-fno-pie", "-no-pie"]):  # two kinds of tables of a switch
        built = compiled.build(*run.interpreter.argv, NATIVE / "shapes.c", *TABLELESS, *where)
        yield from shapes(run, f"{threads} threads", [built, str(threads)])


@row("kernel-frames", "C with frame pointers and no tables, from its exec on: >= 98 % from the first function on", language="native")
def frames(run):
    expected = ["main", "framed_outer", "framed_middle", "framed_inner"]
    built = compiled.build(*run.interpreter.argv, NATIVE / "framed.c", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
                           "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
    whole, inside, others = 0, 0, Counter()
    for _ in range(run.count(20, 4)):  # where the linker puts things is another thing each time
        recording = run.sonde.record(command=[built, "1"], rate=499, seconds=0, more=[*KERNEL, "--no-kernel"])
        for stack in recording.stacks:
            names = symbols(stack)
            if "framed_inner" not in names:
                continue
            inside += stack.count
            is_whole = names[0] == "_start" and names[names.index("main"):] == expected
            whole += stack.count * is_whole
            others[";".join(names)] += stack.count * (not is_whole)
    yield at_least(f"from the first function on {others.most_common(1)}", 100 * whole / max(inside, 1), 98, " %")
    yield enough("samples of its functions", inside, 500)


@row("kernel-paged-out", "frames whose pages are not in memory, as after swapping: brought in, and whole from then on", language="native")
def paged_out(run):
    depth = 100
    with start(run.interpreter, "paged_out.c", depth) as target:
        recording = run.sonde.record(target.pid, rate=499, seconds=run.seconds(10, 1.5), more=KERNEL)
    if not target.facts["out"]:
        raise Skip("the kernel lets none of its pages go")
    spinning = [stack for stack in recording.stacks if "bottom" in symbols(stack)]
    count = sum(stack.count for stack in spinning)
    whole = sum(stack.count for stack in spinning
                if is_whole(stack) and symbols(stack).count("down") == depth and "outermost" in symbols(stack))
    yield enough("samples", count, 100)
    yield at_most("not whole, till they were brought in", count - whole, 100)


@row("kernel-sum", "sum of weights within 0.5 % of the CPU time, a sleeper weighs 0", language="native")
def cpu_sum(run):
    for threads, rate in ((1, 99), (2, 4_999), (8, 99), (8, 4_999)) if run.full else ((1, 99), (4, 4_999)):
        with start(run.interpreter, "cpu.c", threads) as target:
            series = CpuSeries({"all": lambda pid=target.pid: process_cpu_ns(pid)})
            recording = run.sonde.record(target.pid, rate=rate, seconds=run.seconds(60, 1.2), weights=True, more=KERNEL)
            series.stop()
        truth = series.between("all", *window(recording))
        ours = folded.total(recording.stacks)
        # both ends of the series are 4 ms wide, and the kernel adds up at its ticks
        grain = 100 * 4_000_000 * (2 + threads) / truth
        what = f"{threads} threads, {rate} Hz"
        yield at_most(f"{what}, {truth / 1e9:.2f} CPU-s: off by", 100 * abs(ours - truth) / truth, 0.5, " %",
                      0.5 + (0 if run.full else grain))
        asleep = sum(stack.count for stack in recording.stacks if "sleeps" in symbols(stack))
        # it wakes ten times a second
        yield at_most(f"{what}: the sleeper's share", 100 * asleep / ours, 0.1, " %", 0.1 if run.full else 1)
        asked = rate * truth / 1e9
        seen = recording.quality["samples"] + sum(recording.quality["lost"].values())
        # the rate is drawn 25 times a second from 50 to 150 %
        drawn = 400 * 0.289 / (25 * run.seconds(60, 1.2)) ** 0.5
        yield at_most(f"{what}: rate off by", 100 * abs(seen - asked) / asked, 3, " %", 3 + drawn + 400 / asked ** 0.5)


@row("kernel-periodic", "50 % of an exact period of 1, 4, 10 ms at 99 and 100 Hz: 48-52 %", language="native", alone=True)
def periodic(run):
    yield from against_periods(run, "periodic.c", [], (99, 100) if run.full else (100,), more=KERNEL)


@row("kernel-children", "200 children of 20 ms, forked and exec'd: >= 99 % have samples, with names", language="native")
def children(run):
    count = 200 if run.full else 50
    for how in ("fork", "exec"):
        command = run.interpreter.command("children.c", how, count, 20)
        recording = run.sonde.record(command=command, rate=1_000, seconds=None, threads=True, more=KERNEL)
        seen = {stack.tid for stack in recording.stacks if "child_works" in symbols(stack)}
        yield at_least(f"{how}: children seen", 100 * len(seen) / count, 99 if run.full else 96, " %")
        named = Counter()
        for stack in recording.stacks:
            named[symbols(stack)[-1:] != ["[unknown]"]] += stack.count
        yield at_least(f"{how}: samples whose leaf has a name", 100 * named[True] / named.total(), 99, " %")
        yield holds(f"{how}: truncated", True, recording.quality["truncated"], "printed")


def is_whole(stack):
    names = symbols(stack)
    return names[0] in FIRST or (MUSL in names[:2] and stack.frames[0].label != folded.TRUNCATED)


def managed(stacks):
    """The frames of the VM alone."""
    return [stack._replace(frames=tuple(frame for frame in stack.frames if not frame.is_native)) for stack in stacks]


def stitched(run, what, program, args, grammar_of, leftovers=0):
    """Every stack of a program that does nothing but call: by its own grammar, from the first native function on.
    `leftovers`: so many of a million may be impossible."""
    samples = run.count(200_000, 3_000)
    with start(run.interpreter, program, *args) as target:
        grammar = grammar_of(target.facts)
        recording = run.sonde.record(target.pid, rate=4_999, seconds=samples / 4_999, threads=True, more=KERNEL)
    stacks = [stack for stack in recording.stacks if not is_beside(stack, target.pid) and stack.tid == target.pid]
    verdict = Verdict(grammar, managed(stacks))
    for kind in (IMPOSSIBLE, CALLER_LINE, UNNAMED):
        yield impossible(what, verdict, kind) if not leftovers else at_most(
            f"{what}: {kind} of {verdict.total} ({verdict.example(kind)[-200:]})", verdict.counts[kind],
            3 + round(leftovers * verdict.total / 1e6))
    # while one fiber takes over from another the VM's frames are of the one, and the native ones of the other
    least = 99 if grammar.apart else 99.5
    yield at_least(f"{what}: complete", verdict.share(COMPLETE),
                   99.9 if run.full and not leftovers and not grammar.apart else least, " %")
    whole = sum(stack.count for stack in stacks
                if is_whole(stack) or (grammar.apart and stack.frames[0].label != folded.TRUNCATED))
    yield at_least(f"{what}: from the first function on", 100 * whole / verdict.total, least, " %",
                   stats.least_bar(least, verdict.total))
    yield holds(f"{what}: frames without a place", True, f"{recording.quality['leftover']} of {verdict.total}", "printed")


@row("kernel-ruby", "Ruby in tight loops: 0 impossible stacks, >= 99.5 % from the first native function on")
def ruby(run):
    yield from stitched(run, "tight", "torn.rb", ("tight",), tight_grammar)
    for program in ("called", "hooked") if run.full else ("called",):
        yield from stitched(run, program, f"{program}.rb", (), tight_grammar)
    joins = run.interpreter.version >= (3, 4)
    # 2.7 publishes a frame before it fills it, and what C calls is told from leftovers by little (DECISIONS 11)
    leftovers = 200 if run.interpreter.version < (3, 0) else 0
    for program in ("thrown", "switched"):
        yield from stitched(run, program, f"{program}.rb", (), lambda facts: tight_grammar(facts, joins), leftovers)


@row("kernel-python", "Python in tight loops: 0 impossible stacks, >= 99.5 % from the first native function on",
     language="python")
def python(run):
    for kind in kinds_of(run, SOME_KINDS):
        yield from stitched(run, kind, "torn.py", (kind,), lambda facts: Grammar(facts["root"], facts["legal"]))


def short_ones(run, program):
    """Processes that are started one after the other, and are gone before anybody could look at them at leisure."""
    count = 200 if run.full else 20
    one = shlex.join(run.interpreter.command(program, 60))
    recording = run.sonde.record(command=["sh", "-c", f"for i in $(seq {count}); do {one} || exit 1; done"],
                                 rate=1_000, seconds=None, patience=300, more=KERNEL)
    seen = {stack.pid for stack in recording.stacks
            if any(folded.method(frame.label) == "short_work" for frame in stack.frames)}
    bar = 99 if run.full else 90
    yield at_least("processes seen in their own function", 100 * len(seen) / count, bar, " %")
    nameless = sum(stack.count for stack in recording.stacks
                   if any(frame.label == "(unnamed)" for frame in stack.frames))
    yield holds("with a frame that has no name", True, f"{100 * nameless / recording.samples:.2f} %", "printed")


@row("kernel-short-ruby", "200 processes of 60 ms: >= 99 % have samples, with names")
def short_ruby(run):
    yield from short_ones(run, "short.rb")


@row("kernel-short-python", "200 processes of 60 ms: >= 99 % have samples, with names", language="python")
def short_python(run):
    yield from short_ones(run, "short.py")


@row("kernel-without", "--no-native and --no-kernel: the same stacks, without these frames", once=True)
def without(run):
    with start(run.interpreter, "calls.rb") as target:
        kinds = {}
        for option in ("--no-native", "--no-kernel"):
            recording = run.sonde.record(target.pid, rate=999, seconds=1, more=(*KERNEL, option))
            labels = [frame.label for stack in recording.stacks for frame in stack.frames]
            kinds[option] = {suffix: sum(label.endswith(suffix) for label in labels) for suffix in (" [native]", " [kernel]")}
            own = sum(stack.count for stack in recording.stacks
                      if any(folded.method(frame.label) in "xa" for frame in stack.frames))
            yield at_least(f"{option}: samples in the program's methods", 100 * own / recording.samples, 90, " %")
            yield exactly(f"{option}: frames without a place", recording.quality["leftover"] * (option == "--no-native"), 0)
    yield exactly("--no-native: native frames", kinds["--no-native"][" [native]"], 0)
    yield at_least("--no-native: kernel frames", kinds["--no-native"][" [kernel]"], 1)
    yield exactly("--no-kernel: kernel frames", kinds["--no-kernel"][" [kernel]"], 0)
    yield at_least("--no-kernel: native frames", kinds["--no-kernel"][" [native]"], 1)


@row("kernel-threads", "two threads that make system calls: each sample has its own thread's methods, on their lines")
def two_threads(run):
    with start(run.interpreter, "calls.rb") as target:
        facts = target.facts
        recording = run.sonde.record(target.pid, rate=999, seconds=run.seconds(60, 2), threads=True, more=KERNEL)
    own = {facts["first"]: set("xyz"), facts["second"]: set("abc")}
    mixed, wrong_line, seen, in_kernel = Counter(), Counter(), Counter(), Counter()
    for stack in recording.stacks:
        plain = [(folded.method(frame.label), frame.line) for frame in stack.frames if frame.path]
        names = {name for name, _ in plain} & set("xyzabc")
        if names - own.get(stack.tid, set()):
            mixed[";".join(sorted(names))] += stack.count
        for name, line in plain:
            if name in names and line is not None and line not in facts["lines"][name]:
                wrong_line[f"{name}:{line}"] += stack.count
        seen[stack.tid] += stack.count * bool(names)
        in_kernel[stack.tid] += stack.count * stack.frames[-1].label.endswith(" [kernel]")
    yield Figure(f"another thread's methods {mixed.most_common(1) or ''}", mixed.total(), "= 0", not mixed)
    yield Figure(f"wrong lines {wrong_line.most_common(1) or ''}", wrong_line.total(), "= 0", not wrong_line)
    for name, tid in (("first", facts["first"]), ("second", facts["second"])):
        yield at_least(f"samples of the {name}", seen[tid], 0.2 * recording.samples)
        yield at_least(f"of these in the kernel, the {name}", in_kernel[tid], 20)
    yield at_least("samples from the first function on",
                   100 * sum(stack.count for stack in recording.stacks if is_whole(stack)) / recording.samples, 99.5, " %")
