# SPDX-License-Identifier: Apache-2.0
"""rows_python_cost.py - what a sample of a Python costs us, and what being sampled costs the program."""
import os
import re
import subprocess

import folded
import stats
from compiled import awake, sleep_us
from rows import Skip, at_least, at_most, exactly, holds, row
from rows_cost import above_sleep, back_to_back, lost_figure, slowdowns
from target import Progress, start


@row("py-cost", "own CPU of a sample at 10 kHz, 2 and 30 frames: <= 6 us above a bare sleep loop",
     language="python", once=True, alone=True)
def cost(run):
    # many short rounds: the machine changes under us within ten seconds, and one bad one is not to weigh
    seconds, rounds = run.seconds(2.5, 0.4), run.count(20, 3)
    for depth in (3, 30):
        inside, outside = run.interpreter.scratch("progress")
        with start(run.interpreter, "frames.py", depth, inside) as target:
            Progress(outside).wait_for_more(0)
            if run.full:
                yield from back_to_back(run, target.pid, depth, 6, run.count(5, 3))
                above, bare = above_sleep(run, target.pid, 10_000, seconds, 3)
                yield holds(f"{depth} frames at 10 kHz where CPUs go to sleep, above {bare:.1f} us of that", True,
                            f"{above['never']:.1f} us, its one read {above['read']:.1f} us", "printed")
            with awake():
                above, bare = above_sleep(run, target.pid, 10_000, seconds, rounds)
        what = f"{depth} frames at 10 kHz, above {bare:.1f} us of sleep"
        yield (at_most(what, above["never"], 6, " us") if run.full else
               holds(what, True, f"{above['never']:.1f} us", "printed (6 us)"))
        yield holds(f"{depth} frames, auto", True, f"{above['auto']:.1f} us", "printed")


@row("py-idle", "50 and 500 threads, 1 busy, at 1 kHz: own CPU <= 5 / 30 % of a core above sleep, target < 1 % slower",
     language="python", once=True, alone=True)
def idle(run):
    rounds, seconds = run.count(60, 3), 3 if run.full else 1
    for threads, most in (50, 5), (500, 30):
        inside, outside = run.interpreter.scratch("progress")
        with start(run.interpreter, "idle.py", threads, inside) as target:
            progress = Progress(outside)
            progress.wait_for_more(0)
            wall, cpu, qualities = slowdowns(run, target, progress, seconds, rounds, 1_000)
            bare = 100 * sleep_us(1_000, seconds) / 1_000
        own = [100 * quality["own_cpu_ns"] / (quality["end_ns"] - quality["begin_ns"]) for quality in qualities]
        what = f"{threads} threads: own CPU above {bare:.1f} % of sleep"
        figure = stats.median(own) - bare
        yield at_most(what, figure, most, " %") if run.full else holds(what, True, f"{figure:.1f} %",
                                                                      f"printed ({most} %)")
        if run.full:
            yield lost_figure(f"{threads} threads: throughput lost", wall, 1)
            yield lost_figure(f"{threads} threads: work for a CPU-second lost", cpu, 1)


PINNED = ("taskset", "-c", "1")  # the program is on CPU 0


def tachyon(run, pid, seconds):
    """(samples, CPU seconds) of CPython 3.15's own profiler, as fast as it can."""
    inside, outside = run.interpreter.scratch("tachyon.collapsed")
    argv = [*PINNED, "chroot", str(run.interpreter.root), run.interpreter.argv[0], "-m", "profiling.sampling", "attach",
            "-r", "1000khz", "-d", str(seconds), "--collapsed", "-o", inside, str(pid)]
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise AssertionError(f"profiling.sampling: exit {process.returncode}")
    counts = re.findall(r" (\d+)$", outside.read_text(), re.M)
    return sum(map(int, counts)), usage.ru_utime + usage.ru_stime


@row("py-tachyon", "beside profiling.sampling of 3.15, 25 frames: >= 3 times its rate, <= a third of its CPU a sample, 0 wrong",
     language="python", alone=True)
def beside_tachyon(run):
    if run.interpreter.version < (3, 15) or not run.interpreter.root or os.cpu_count() < 2:
        raise Skip("profiling.sampling comes with 3.15")
    depth, seconds, rounds = 25, 10 if run.full else 1, run.count(5, 1)
    rates, costs, wrong, samples = [], [], 0, 0
    inside, outside = run.interpreter.scratch("progress")
    with start(run.interpreter, "frames.py", depth, inside) as target:
        Progress(outside).wait_for_more(0)
        os.sched_setaffinity(target.pid, {0})
        for _ in range(rounds):
            theirs, cpu = tachyon(run, target.pid, seconds)
            recording = run.sonde.record(target.pid, rate=1_000_000, seconds=seconds, wrap=PINNED)
            rates.append(recording.samples / theirs)
            costs.append(recording.own_us_per_sample / (1e6 * cpu / theirs))
            samples += recording.samples
            wrong += sum(stack.count for stack in recording.stacks
                         if not re.match(r"<module>(;level){%d};work\b" % (depth - 2), ";".join(
                             frame.label for frame in stack.frames)) and stack.frames[-1].label != folded.MOVING)
    yield exactly(f"wrong of {samples}", wrong, 0)
    rate, cost = stats.median(rates), stats.median(costs)
    if run.full:
        yield at_least("its rate times", rate, 3)
        yield at_most("its CPU time of a sample times", cost, 1 / 3, "")
    else:
        yield holds("its rate, and its CPU time of a sample, times", True, f"{rate:.2f}, {cost:.2f}", "printed (3, 0.33)")
