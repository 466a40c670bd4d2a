# SPDX-License-Identifier: Apache-2.0
"""rows_truth.py - is what the profile says true: stacks that were, shares as they were."""
import re
from collections import Counter

import folded
import stats
from judge import CALLER_LINE, COMPLETE, HELD, IMPOSSIBLE, UNNAMED, Grammar, Verdict, numbered
from rows import Figure, at_least, at_most, enough, exactly, holds, row
from target import start

TIGHT_HZ = 10_000
MEASURED = {"clock_gettime", "pred"}  # C functions on top of a state of the twin


def is_early(stack):
    """The program still tells us that it is ready."""
    return any(folded.method(frame.label) == "ready" for frame in stack.frames)


def is_beside(stack, pid):
    """What is early; and Ruby's own timer thread, which no VM stack belongs to."""
    timer = stack.tid != pid and [frame.label for frame in stack.frames] == ["[native]"]
    return timer or is_early(stack)


def tight_grammar(facts, joins=False):
    grammar = Grammar(facts["root"], facts["legal"], joins, facts.get("apart", ()))
    grammar.allow_leaf(tuple((folded.method(label), line) for label, line in facts["root"]), "stop?")
    return grammar


def tight(run, pause, samples, rate=TIGHT_HZ):
    """A recording of the tight loop in samples, and its judge's verdict."""
    with start(run.interpreter, "torn.rb", "tight") as target:
        grammar = tight_grammar(target.facts)
        recording = run.sonde.record(target.pid, rate=rate, seconds=samples / rate, pause=pause, threads=True)
    judged = [stack for stack in recording.stacks if not is_beside(stack, target.pid)]
    return recording, Verdict(grammar, judged)


def state_of(stack):
    """The state of the twin that a sample is charged to, or None for [moving] and (starting)."""
    names = [folded.method(frame.label) for frame in folded.strip_marks(stack.frames)]
    prefixes = [folded.split_label(frame.label)[0] for frame in folded.strip_marks(stack.frames)]
    while names and names[-1] in MEASURED:
        names.pop()
        prefixes.pop()
    if not names or names[-1] in (folded.MOVING, folded.STARTING):
        return None
    if names[-1] in ("run", "stop?"):
        return "foo"
    if names[-1] == "map":
        return "baz"
    return "block" if names[-1] == "baz" and prefixes[-1].startswith("block") else names[-1]


def twin(run, pause, slice_us, samples, rate):
    with start(run.interpreter, "torn.rb", "twin", slice_us) as target:
        recording = run.sonde.record(target.pid, rate=rate, seconds=samples / rate, pause=pause,
                                     weights=True)
        spent = target.finish()["spent_ns"]
    total = sum(spent.values())
    return recording, {state: spent[state] / total for state in spent}


def total_shares(truth):
    return {"bar": 1 - truth["foo"], "baz": truth["baz"] + truth["block"]}


def share_figure(what, ours, truth, samples):
    """The worst share of all, against 2 points."""
    errors = {name: (100 * (ours.get(name, 0) - truth[name]), stats.share_bar(2, truth[name], samples))
              for name in truth}
    name, (error, bar) = stats.worst(errors)
    return at_most(f"{what} ({name})", abs(error), 2, " points", bar)


def self_shares(stacks):
    ours, base = {}, 0
    for stack in stacks:
        state = state_of(stack)
        if state:
            ours[state] = ours.get(state, 0) + stack.count
            base += stack.count
    return {state: count / max(base, 1) for state, count in ours.items()}


def impossible_figure(verdict):
    what = f"impossible of {verdict.total}"
    if verdict.counts[IMPOSSIBLE]:
        what += f" ({verdict.example(IMPOSSIBLE)})"
    return Figure(what, f"{verdict.counts[IMPOSSIBLE]} = {verdict.ppm(IMPOSSIBLE):.0f} ppm", "= 0",
                  verdict.counts[IMPOSSIBLE] == 0)


def degraded_figures(run, verdict):
    """What is less than everything. Documented exception: code of YJIT 3.1 stores the caller's pc only
    after the callee's frame is there, so that for some ns, stopped or not, the caller is on an old line."""
    what = "caller on a line that does not call"
    if verdict.counts[CALLER_LINE]:
        what += f" ({verdict.example(CALLER_LINE)})"
    yield Figure(what, f"{verdict.counts[CALLER_LINE]} = {verdict.ppm(CALLER_LINE):.0f} ppm",
                 "printed" if run.interpreter.jit else "= 0",
                 not verdict.counts[CALLER_LINE] or run.interpreter.jit)
    yield Figure("with a frame without a name", verdict.counts[UNNAMED], "= 0", not verdict.counts[UNNAMED])
    yield holds("leaf without a line", True, f"{1e6 * verdict.no_line / max(verdict.total, 1):.0f} ppm",
                "printed")


@row("torn-never", "never: 0 impossible, every attempt a sample, totals within 2 points")
def torn_never(run):
    samples = run.count(1_000_000, 5_000)
    recording, verdict = tight(run, "never", samples)
    quality = recording.quality
    yield impossible_figure(verdict)
    yield from degraded_figures(run, verdict)
    yield at_least("attempts that were due", quality["expected"], samples * 0.9)
    # An attempt that finds no thread on a CPU has none to sample.
    yielded = quality["samples"] + quality["idle"]
    yield holds("every attempt taken yields a sample", yielded >= quality["taken"] > 0,
                f"{quality['samples']} and {quality['idle']} idle of {quality['taken']}")
    yield holds("moving, tight", True, f"{verdict.share(HELD):.2f} %", "printed")

    count = run.count(100_000, 2_000)
    recording, truth = twin(run, "never", 20, count, 2_000)
    ours = {name: folded.share_of(recording.stacks, name) for name in total_shares(truth)}
    yield share_figure("total shares", ours, total_shares(truth), recording.independent)

    # The shortest of the five takes a ms, the longest three.
    recording, truth = twin(run, "never", 2_000, run.count(20_000, 1_000), 1_000)
    # As long as a read takes, of each ms: where other work takes the CPU in the middle of one, it takes longer. So
    # a rehearsal, which shares its machine, looks for what is several times too many.
    most = 1 if run.full else 3
    yield at_most("moving, methods of a ms", 100 * recording.quality["moving"] / max(recording.samples, 1), most, " %",
                  stats.poisson_bar(10_000 * most, max(recording.samples, 1)) / 10_000)


@row("torn-auto", "auto: >= 99 % complete, self shares within 2 points")
def torn_auto(run):
    samples = run.count(1_000_000, 5_000)
    recording, verdict = tight(run, "auto", samples, 5_000)
    yield impossible_figure(verdict)
    yield from degraded_figures(run, verdict)
    yield at_least("complete", verdict.share(COMPLETE) + verdict.share(CALLER_LINE), 99, " %")
    _, stopped = tight(run, "always", run.count(200_000, 5_000), 5_000)
    yield Figure("always: impossible", stopped.counts[IMPOSSIBLE], "= 0", not stopped.counts[IMPOSSIBLE])
    yield holds("always: caller on another line", True, f"{stopped.ppm(CALLER_LINE):.0f} ppm", "printed")

    count = run.count(100_000, 2_000)
    recording, truth = twin(run, "auto", 20, count, 2_000)
    yield share_figure("self shares, twin", self_shares(recording.stacks), truth, recording.independent)


def leaf_counts(stacks):
    """{method of the leaf: samples}, of the samples that have one."""
    counts = Counter()
    for stack in stacks:
        frames = folded.strip_marks(stack.frames)
        if frames and not frames[-1].is_mark:
            counts[folded.method(frames[-1].label)] += stack.count
    return counts


@row("torn-shares", "tight loop, auto beside always: self shares within 2 points", full_only=True)
def torn_shares(run):
    rounds, samples = 3, run.count(200_000, 1_500)
    counts = {pause: Counter() for pause in ("auto", "always", "never")}
    independent = Counter()
    with start(run.interpreter, "torn.rb", "tight") as target:
        for number in range(rounds * len(counts)):  # in turn: the program's own shares drift
            pause = list(counts)[number % len(counts)]
            recording = run.sonde.record(target.pid, rate=1_000, seconds=samples / rounds / 1_000, pause=pause)
            counts[pause] += leaf_counts(recording.stacks)
            independent[pause] += recording.independent
    shares = {pause: {name: count / found.total() for name, count in found.items()}
              for pause, found in counts.items()}
    both = 1 / (1 / independent["auto"] + 1 / independent["always"])
    errors = {name: (100 * (shares["auto"].get(name, 0) - share), stats.share_bar(2, share, both))
              for name, share in shares["always"].items()}
    name, (error, bar) = stats.worst(errors)
    yield at_most(f"self shares, auto to always ({name})", abs(error), 2, " points", bar)
    distance = 100 * stats.variation(shares["never"], shares["always"])
    yield holds("never: leaves, distance to always", True, f"{distance:.1f} points", "printed")


@row("deep", "10,000-deep recursion: complete")
def deep(run):
    environment = {"RUBY_THREAD_VM_STACK_SIZE": str(32 << 20)}
    depth = 10_000
    with start(run.interpreter, "deep.rb", depth, "busy", env=environment) as target:
        recording = run.sonde.record(target.pid, rate=99, seconds=run.seconds(10, 0.5))
    sampled = [stack for stack in recording.stacks if stack.frames[-1].label != folded.MOVING]
    right = sum(stack.count for stack in sampled
                if [folded.method(frame.label) for frame in folded.strip_marks(stack.frames)]
                == ["<main>", *["down"] * depth, "bottom"])
    yield exactly("samples with all 10,002 frames", right, recording.samples)
    yield enough("samples", recording.samples, 20)
    yield exactly("truncated", recording.quality["truncated"], 0)


def periodic_error(recording, truth):
    """(points from the truth, bar)"""
    even = folded.share_of(recording.stacks, "even_half")
    odd = folded.share_of(recording.stacks, "odd_half")
    ours = even / max(even + odd, 1e-9)
    return 100 * (ours - truth), stats.share_bar(2, truth, recording.independent)


def against_periods(run, program, args, rates, **options):
    """A function that is half of a program with an exact period, recorded at each rate."""
    errors = {}
    for period in (1, 4, 10):
        for rate in rates:
            with start(run.interpreter, program, period, *args) as target:
                recording = run.sonde.record(target.pid, rate=rate, seconds=run.seconds(100, 0.7), **options)
                spent = target.finish()["spent_ns"]
            truth = spent["even_half"] / sum(spent.values())
            errors[f"{period} ms, {rate} Hz"] = periodic_error(recording, truth)
    for name, (error, bar) in errors.items() if run.full else ():
        yield at_most(f"off at {name}", abs(error), 2, " points", bar)
    name, (error, bar) = stats.worst(errors)
    yield at_most(f"worst ({name})", abs(error), 2, " points", bar)


@row("periodic", "50 % of an exact period of 1, 4, 10 ms at 99 and 100 Hz: 48-52 %", once=True, alone=True)
def periodic(run):
    yield from against_periods(run, "periodic.rb", ["wall"], (99, 100))


GENERATION = re.compile(r"(?:work_|inner_|gen-)(\d+)")


def wrong_lines(stacks, suffix=".rb"):
    """Samples of gc.rb or reuse.py whose line cannot belong to the generation that the frame names."""
    wrong, example = 0, ""
    for stack in stacks:
        for frame in stack.frames:
            found = re.match(r"(work|inner)_(\d+)\Z", folded.method(frame.label))
            if not found:
                continue
            base = 10 * (int(found[2]) % 90) + 1
            lines = range(base, base + 3) if found[1] == "work" else range(base + 4, base + 9)
            unknown = frame.line is None
            if frame.path != f"/made/up/gen-{found[2]}{suffix}" or not (unknown or frame.line in lines):
                wrong, example = wrong + stack.count, f"{frame} in {frame.path}"
    return wrong, example


def without_line(stacks):
    return sum(stack.count for stack in stacks
               if any(frame.path is not None and frame.line is None for frame in stack.frames))


@row("gc", "methods collected and redefined: no name of another generation")
def gc_churn(run):
    with start(run.interpreter, "gc.rb", 3) as target:
        recording = run.sonde.record(target.pid, rate=2_000, seconds=run.seconds(60, 1.5))
        generations = target.finish()["generations"]
    mixed, example = numbered(recording.stacks, GENERATION)
    yield Figure(f"stacks of two generations {example}", mixed, "= 0", mixed == 0)
    wrong, example = wrong_lines(recording.stacks)
    yield Figure(f"wrong path or line {example}", wrong, "= 0", wrong == 0)
    yield at_most("with a line that is not known", 100 * without_line(recording.stacks) / recording.samples, 1, " %",
                  stats.poisson_bar(10_000, recording.samples) / 10_000)
    seen = {found[1] for stack in recording.stacks for frame in stack.frames
            for found in [re.match(r"inner_(\d+)", folded.method(frame.label))] if found}
    yield at_least(f"generations seen of {generations}", len(seen), min(20, generations * 0.1))
    in_gc = sum(stack.count for stack in recording.stacks if stack.frames[-1].label == folded.GC)
    alone = sum(stack.count for stack in recording.stacks
                if [frame.label for frame in stack.frames] == [folded.GC])
    yield at_least("samples in garbage collection", in_gc, 1)
    yield exactly("garbage collection instead of a stack", alone, 0)


@row("fibers", "a stack belongs to one fiber")
def fibers(run):
    with start(run.interpreter, "fibers.rb", 8) as target:
        recording = run.sonde.record(target.pid, rate=2_000, seconds=run.seconds(60, 1), weights=True)
    mixed, example = numbered(recording.stacks, re.compile(r"(?:fiber_|deep_)(\d)"))
    yield Figure(f"stacks of two fibers {example}", mixed, "= 0", mixed == 0)
    shares = {str(n): folded.share_of(recording.stacks, f"fiber_{n}") for n in range(8)}
    total = sum(shares.values())
    errors = {n: (100 * (share / max(total, 1e-9) - 1 / 8),
                  stats.share_bar(2, 1 / 8, recording.independent)) for n, share in shares.items()}
    name, (error, bar) = stats.worst(errors)
    yield at_most(f"shares of 8 fibers (fiber {name})", abs(error), 2, " points", bar)


@row("starting", "a program of 100 ms, from exec on; no stack yet is (starting)")
def starting(run):
    command = run.interpreter.command("starting.rb", 100)
    seen = 0
    # A VM can be up in 5 ms: as many starts as it takes to meet one without a stack.
    for _ in range(60):
        recording = run.sonde.record(command=command, rate=4_000, seconds=None, rc=0)
        seen += recording.quality["starting"]
        if seen:
            break
    yield holds("(starting) is a sample", seen > 0, str(seen))
    recordings = [run.sonde.record(command=command, rate=1_000, seconds=None, rc=0) for _ in range(3)]

    def counted(wanted):
        """The middle one: beside a busy machine one of them can lose half its ticks."""
        return stats.median([sum(stack.count for stack in recording.stacks if wanted(stack))
                             for recording in recordings])

    work = counted(lambda stack: any(folded.method(frame.label) == "brief_work" for frame in stack.frames))
    yield at_least("samples of 100 ms of brief_work (median of 3)", work, 60)
    unreadable = counted(lambda stack: stack.frames and stack.frames[-1].label == "[unreadable]")
    if run.interpreter.jit:  # its end takes 0.3 s: the kernel takes 256 MB of code back
        yield holds("samples without memory to read", True, str(unreadable), "printed")
    else:  # the last ms of a process have no memory
        yield at_most("samples without memory to read", unreadable, 12)
