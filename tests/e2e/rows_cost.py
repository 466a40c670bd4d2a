# SPDX-License-Identifier: Apache-2.0
"""rows_cost.py - what a sample costs us, and what being sampled costs the program."""
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path

import stats
from compiled import awake, sleep_us, words_of
from rows import Figure, Skip, at_least, at_most, holds, row
from sonde import Running
from target import CpuSeries, Progress, process_cpu_ns, start


def sample_us(run, pid, rate, seconds, pause):
    """CPU microseconds of one sample; what attaching took is counted apart."""
    quality = run.sonde.record(pid, rate=rate, seconds=seconds, pause=pause).quality
    return quality["own_cpu_ns"] / 1000 / max(quality["samples"], 1)


def paced_us(run, pid, rate, seconds, *how):
    """CPU microseconds of one paced look, or of one paced read of what a look reads (-m)."""
    found = looks(run, pid, round(rate * seconds), how=("-r", str(rate), *how))
    return found["cpu_ns"] / 1000 / found["samples"]


def above_sleep(run, pid, rate, seconds, rounds):
    """Medians of what a sample, a look alone and its one read alone cost above the bare wake-ups right before and behind, and of
    these: the clock of a shared machine changes under us, by more than the bar in a minute."""
    ways = {"never": lambda: sample_us(run, pid, rate, seconds, "never"),
            "auto": lambda: sample_us(run, pid, rate, seconds, "auto"),
            "look": lambda: paced_us(run, pid, rate, seconds / 3),
            "read": lambda: paced_us(run, pid, rate, seconds / 3, "-m")}
    above = {what: [] for what in ways}
    sleeps = [sleep_us(rate, seconds / 6)]
    for _ in range(rounds):
        for what, cost in ways.items():
            found = cost()
            sleeps.append(sleep_us(rate, seconds / 6))
            above[what].append(found - (sleeps[-2] + sleeps[-1]) / 2)
    return {what: stats.median(costs) for what, costs in above.items()}, stats.median(sleeps)


def strace_counts(text):
    """{system call: count} of `strace -c`."""
    counts = {}
    for line in text.splitlines():
        found = re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)\s*$", line)
        if found and found[2] != "total":
            counts[found[2]] = int(found[1])
    return counts


def looks(run, pid, count, wrap=(), how=()):
    """The figures of bench/backtoback."""
    looker = run.build / "bench" / "backtoback"
    if not looker.exists():
        raise Skip("bench/backtoback is not built (./dev test)")
    done = subprocess.run([*wrap, str(looker), *how, str(pid), str(count)], check=True, capture_output=True, text=True)
    return words_of(done.stdout)


def calls_per_look(run, pid, count):
    """{system call: number for each look}, as strace counts them, attaching included."""
    with tempfile.NamedTemporaryFile(mode="r") as trace:
        looks(run, pid, count, ("strace", "-f", "-c", "-o", trace.name))
        counts = strace_counts(trace.read())
    return {name: made / count for name, made in counts.items() if made / count > 0.01}


def back_to_back(run, pid, depth, bar, rounds):
    found = [looks(run, pid, run.count(300_000, 10_000)) for _ in range(rounds)]
    cost = min(one["cpu_ns"] / 1000 / one["samples"] for one in found)
    yield at_most(f"{found[0]['frames']} frames back to back", cost, bar, " us", bar if run.full else 1.5 * bar)
    calls = calls_per_look(run, pid, 10_000)
    said = ", ".join(f"{name} {made:.3f}" for name, made in sorted(calls.items()))
    yield Figure(f"{depth} frames: system calls of a sample", said, "1 (+ 5 % to attach and learn)",
                 0.95 <= sum(calls.values()) <= 1.05)


@row("cost", "own CPU of a sample: <= 10 / 16 us above a bare sleep loop, one system call", once=True, alone=True)
def cost(run):
    seconds, rounds = run.seconds(5, 0.6), run.count(10, 3)
    for depth, dense, paced in ((8, 6, 10), (50, 12, 16)):
        inside, outside = run.interpreter.scratch("progress")
        with start(run.interpreter, "frames.rb", depth, inside) as target:
            Progress(outside).wait_for_more(0)
            yield from back_to_back(run, target.pid, depth, dense, rounds)
            if run.full:
                above, bare = above_sleep(run, target.pid, 1_000, seconds, 3)
                yield holds(f"{depth} frames at 1 kHz where CPUs go to sleep, above {bare:.1f} us of that", True,
                            f"{above['never']:.1f} us, its one read {above['read']:.1f} us", "printed")
            with awake():
                above, bare = above_sleep(run, target.pid, 1_000, seconds, rounds)
            what = f"{depth} frames at 1 kHz, above {bare:.1f} us of sleep"
            # Cold caches and neighbours: only a long run on a quiet machine says anything.
            yield (at_most(what, above["never"], paced, " us") if run.full else
                   holds(what, True, f"{above['never']:.1f} us", f"printed ({paced} us)"))
            yield holds(f"{depth} frames: of it the look, and its one read", True,
                        f"{above['look']:.1f} us, {above['read']:.1f} us", "printed")
            yield holds(f"{depth} frames, auto", True, f"{above['auto']:.1f} us", "printed")


def throughput(progress, seconds):
    """Work for each second of (wall, CPU time), between two ticks of the program."""
    first = progress.read()
    time.sleep(seconds)
    last = progress.read()
    done = 1e9 * (last[0] - first[0])
    return done / (last[2] - first[2]), done / (last[1] - first[1])


def slowdowns(run, target, progress, seconds, rounds, rate):
    """Percent of throughput lost in each round, by wall and by CPU time, and the qualities."""
    wall, cpu, qualities = [], [], []
    for number in range(rounds):
        both = {}
        for profiled in (False, True) if number % 2 else (True, False):
            with tempfile.TemporaryDirectory() as where:
                directory = Path(where)
                running = None
                if profiled:
                    words = run.sonde.words(directory, pid=target.pid, rate=rate, seconds=seconds + 0.6)
                    running = Running(words, directory)
                    time.sleep(0.3)  # it attaches; what counts is the steady state
                both[profiled] = throughput(progress, seconds)
                if running:
                    running.finish(30)
                    qualities.append(json.loads(running.quality.read_text()))
        for lost, clock in ((wall, 0), (cpu, 1)):
            lost.append(100 * (1 - both[True][clock] / both[False][clock]))
    return wall, cpu, qualities


def lost_figure(what, lost, bar):
    error = stats.SIGMAS * stats.median_error(lost)
    return at_most(f"{what}, median of {len(lost)}", stats.median(lost), bar, " %", bar + error)


@row("idle-threads", "1,000 idle threads and 1 busy: throughput < 1 % lower, own CPU < 10 %", once=True, alone=True)
def idle_threads(run):
    inside, outside = run.interpreter.scratch("progress")
    rounds, seconds = run.count(60, 3), 3  # attaching to 1,000 threads takes 40 ms
    with start(run.interpreter, "idle.rb", 1_000, inside) as target:
        progress = Progress(outside)
        progress.wait_for_more(0)
        series = CpuSeries({"all": lambda: process_cpu_ns(target.pid)})
        wall, cpu, qualities = slowdowns(run, target, progress, seconds, rounds, 99)
        series.stop()
    yield lost_figure("throughput lost", wall, 1)
    yield lost_figure("work for a CPU-second lost", cpu, 1)
    own = [100 * quality["own_cpu_ns"] / (quality["end_ns"] - quality["begin_ns"]) for quality in qualities]
    yield at_most("own CPU of a core", stats.median(own), 10, " %", None if run.full else 15)  # on a busy machine
    # The machine may be busy with something else, too: what the program got of it is what counts.
    seen = [quality["samples"] / (99e-9 * series.between("all", quality["begin_ns"], quality["end_ns"]))
            for quality in qualities]
    yield at_least("samples for each 1/99 s of the busy thread's CPU time", stats.median(seen), 0.8)


@row("slowdown", "a busy program at 99 Hz and 1 kHz: how much slower", once=True, alone=True)
def slowdown(run):
    rounds, seconds = run.count(10, 3), run.seconds(3, 0.5)
    for depth in (8, 50):
        inside, outside = run.interpreter.scratch("progress")
        with start(run.interpreter, "frames.rb", depth, inside) as target:
            progress = Progress(outside)
            progress.wait_for_more(0)
            for rate in (99, 1_000) if run.full else (1_000,):
                for name, lost in zip(("wall", "CPU"), slowdowns(run, target, progress, seconds, rounds, rate)):
                    yield holds(f"{depth} frames at {rate} Hz, {name}", True,
                                f"{stats.median(lost):.2f} +- {stats.median_error(lost):.2f} %", "printed")


@row("attach", "attach to first sample <= 100 ms; peak RSS at 1 kHz, 60 s, 50 threads <= 30 MB", alone=True)
def attach(run):
    with start(run.interpreter, "threads.rb", 50) as target:
        times = []
        for _ in range(run.count(30, 5)):
            begin = time.monotonic()
            threads = run.sonde.dump(target.pid)
            times.append(1000 * (time.monotonic() - begin))
        # From exec to exit with every thread read and printed: more than attach to first sample.
        yield at_most("a whole dump, median", stats.median(times), 100, " ms")
        yield at_least("threads in it", len(threads), 50)
        recording = run.sonde.record(target.pid, rate=1_000, seconds=run.seconds(60, 1.5), mode="wall")
        yield at_most(f"peak RSS, {recording.samples} samples", recording.peak_rss_kb / 1024, 30, " MB")
