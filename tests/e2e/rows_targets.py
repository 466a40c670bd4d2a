# SPDX-License-Identifier: Apache-2.0
"""rows_targets.py - do the target programs run, and state a truth that agrees with the kernel's?

No profiler takes part: a target that is wrong would make every other row worthless.
"""
import subprocess
import sys
import time
from pathlib import Path

import folded
from judge import Grammar
from rows import Figure, at_least, at_most, exactly, holds, row
from target import CpuSeries, Progress, process_cpu_ns, start, thread_cpu_ns


@row("judges", "the judge finds what is wrong in hand-made profiles", once=True)
def judges(_run):
    done = subprocess.run([sys.executable, str(Path(__file__).with_name("selftest.py"))],
                          capture_output=True, text=True, check=False)
    yield exactly("self-test", done.stderr.strip().splitlines()[-1], "OK")


@row("targets", "every target program runs and states its truth")
def targets(run):
    interpreter = run.interpreter
    inside, outside = interpreter.scratch("progress")
    deep = {"RUBY_THREAD_VM_STACK_SIZE": str(32 << 20)}
    programs = [("torn.rb", ("tight",), {}), ("torn.rb", ("twin", 20), {}), ("lines.rb", (), {}),
                ("shares.rb", (), {}), ("idle.rb", (100, inside), {}), ("frames.rb", (8, inside), {}),
                ("deep.rb", (10_000, "parked"), deep), ("deep.rb", (10_000, "busy"), deep),
                ("periodic.rb", (1, "cpu"), {}), ("gc.rb", (1,), {}), ("fibers.rb", (8,), {}),
                ("names.rb", (), {}), ("script-name.rb", (), {}), ("states.rb", (), {}),
                ("threads.rb", (50,), {}), ("sleeper.rb", (), {}), ("reuse.rb", (), {}), ("ractors.rb", (3,), {}),
                ("parked.rb", (3,), {})]
    bad = []
    for program, args, environment in programs:
        try:
            with start(interpreter, program, *args, env=environment) as target:
                if target.facts.get("ractors") != 0:
                    target.finish()
                if target.wait() != 0:
                    bad.append(f"{program}: exit {target.process.returncode}")
                said = target.process.stderr.read().decode(errors="replace")
                if said:
                    bad.append(f"{program}: says {said[:200]}")
        except Exception as error:
            bad.append(f"{program}: {error}")
    yield Figure(f"programs that fail, of {len(programs)}", len(bad), f"= 0 {bad or ''}", not bad)


@row("targets-truth", "what the targets say of themselves is what the kernel says of them")
def targets_truth(run):
    with start(run.interpreter, "torn.rb", "tight") as target:
        grammar = Grammar(target.facts["root"], target.facts["legal"])
    leaves = {folded.method(name) for _, name in grammar.callers}
    yield exactly("methods of the tight loop", " ".join(sorted(leaves)),
                  "<main> bar baz bob foo map pred run")

    with start(run.interpreter, "torn.rb", "twin", 20) as target:
        begin = process_cpu_ns(target.pid)
        time.sleep(0.5)
        used = process_cpu_ns(target.pid) - begin
        spent = sum(target.finish()["spent_ns"].values())
    yield at_least("twin: CPU it accounts for, of what the kernel saw", spent / used, 0.97)

    with start(run.interpreter, "shares.rb") as target:
        tids = {thread["tid"]: thread["name"] for thread in target.facts["threads"]}
        series = CpuSeries({tid: lambda tid=tid: thread_cpu_ns(target.pid, tid) for tid in tids})
        time.sleep(1.5)
        said = {thread["tid"]: thread["cpu_ns"] for thread in target.finish()["threads"]}
        series.stop()
    worked = {tids[tid]: said[tid] for tid in tids if tids[tid] != "deflates"}
    whole = sum(worked.values())
    for name, share in (("half", 50), ("third", 30), ("fifth", 20)):
        yield at_most(f"{name}: off its share by", abs(100 * worked[name] / whole - share), 4, " points",
                      8)  # of 1.5 s; a turn of the token takes 20 to 40 ms, and the last is cut
    seen = {tid: series.between(tid, series.points[0][0], series.points[-1][0]) for tid in tids}
    off = max(abs(said[tid] - seen[tid]) / said[tid] for tid in tids)
    yield at_most("thread clocks, said and seen", 100 * off, 15, " %")

    inside, outside = run.interpreter.scratch("progress")
    with start(run.interpreter, "frames.rb", 8, inside) as target:
        progress = Progress(outside)
        yield holds("the work counter advances", progress.wait_for_more(progress.read()[0] + 2))


@row("targets-life", "children, exec, short lives: the programs do what their rows count on")
def targets_life(run):
    with start(run.interpreter, "forks.rb", 4, 50, 2) as target:
        target.close_input()
        pids = target.read_line()["pids"]
        yield exactly("children", len(set(pids)), 4)
    with start(run.interpreter, "exec.rb", "before", 20,
               *run.interpreter.argv, "--disable-gems",
               f"{run.interpreter.programs}/exec.rb", "after", 20) as target:
        target.close_input()
        yield exactly("pid after exec", target.read_line()["pid"], target.pid)
        yield exactly("exit code", target.wait(), 0)
    with start(run.interpreter, "starting.rb", 50, ready=False) as target:
        yield exactly("starting.rb", target.wait(), 0)
    with start(run.interpreter, "ractors.rb", 3) as target:
        if target.facts["ractors"]:
            begin = process_cpu_ns(target.pid)
            time.sleep(0.2)
            yield at_least("ractors.rb spends in 200 ms, ms", (process_cpu_ns(target.pid) - begin) / 1e6, 50)
    with start(run.interpreter, "cpu.rb", 2, 0.2) as target:
        facts = target.read_line()
        yield at_least("cpu.rb spends, ms", facts["process_cpu_ns"] / 1e6, 200)
