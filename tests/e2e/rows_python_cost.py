# SPDX-License-Identifier: Apache-2.0
"""rows_python_cost.py - what a sample of a Python costs us, and what being sampled costs the program."""
import stats
from compiled import sleep_us
from rows import at_most, holds, row
from rows_cost import back_to_back, lost_figure, sample_us, slowdowns
from target import Progress, start


@row("py-cost", "own CPU of a sample at 10 kHz, 2 and 30 frames: <= 6 us above a bare sleep loop",
     language="python")
def cost(run):
    seconds, rounds = run.seconds(10, 0.4), run.count(5, 3)
    for depth in (3, 30):
        inside, outside = run.interpreter.scratch("progress")
        with start(run.interpreter, "frames.py", depth, inside) as target:
            Progress(outside).wait_for_more(0)
            if run.full:
                yield from back_to_back(run, target.pid, depth, 6, rounds)
            found = {"never": [], "auto": [], "sleep": []}
            for _ in range(rounds):
                found["sleep"].append(sleep_us(10_000, seconds / 2))
                for pause in ("never", "auto"):
                    found[pause].append(sample_us(run, target.pid, 10_000, seconds, pause))
        bare = stats.median(found["sleep"])
        above = {pause: stats.median(found[pause]) - bare for pause in ("never", "auto")}
        what = f"{depth} frames at 10 kHz, above {bare:.1f} us of sleep"
        yield (at_most(what, above["never"], 6, " us") if run.full else
               holds(what, True, f"{above['never']:.1f} us", "printed (6 us)"))
        yield holds(f"{depth} frames, auto", True, f"{above['auto']:.1f} us", "printed")


@row("py-idle", "50 and 500 threads, 1 busy, at 1 kHz: own CPU <= 5 / 30 % of a core above sleep, target < 1 % slower",
     language="python")
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
