#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - the acceptance rows: programs that know their own answer judge sonde.

    run.py [--scale X] [--row NAME]... [--on NAME]... [--at COMMAND]... [--list] [--engine NAME]
           [--sonde PATH] [--lanes N] [--log FILE]

Each row prints its figure beside its bar, for every interpreter: those of the matrix, or with --at
any Ruby or Python, such as "/opt/ruby/bin/ruby --yjit", or "/srv/root:/usr/bin/ruby" in a root
directory. Scale 1 is the table in full, 0.01 its rehearsal. With --lanes so many rows run at a time, and then,
one by one, those that measure what time costs or look at the whole machine. With --log the figures are added to FILE,
and the terminal has a line a row and what does not hold. The last line is
`N passed, N failed, N skipped`; the exit code is 1 when any failed.
"""
import argparse
import importlib
import signal
import sys
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import interpreters
import lanes
from outcome import outcome_of
from rows import REGISTRY, Run
from sonde import Sonde
from tally import Tally

TREE = Path(__file__).resolve().parents[2]
MODULES = (
    "rows_targets", "rows_truth", "rows_threads", "rows_cost", "rows_life", "rows_names", "rows_world",
    "rows_several", "rows_recording", "rows_top", "rows_formats", "rows_diff", "rows_python", "rows_python_tasks",
    "rows_python_cost", "rows_exact", "rows_both", "rows_native", "rows_kernel", "rows_symbols", "rows_go",
    "rows_javascript", "rows_default", "rows_hostile", "rows_lives", "rows_perf", "rows_word", "rows_trace", "rows_offcpu",
    "rows_stitched", "rows_large",
)
USUAL = ("3.1", "py3.11", "gcc")  # the host's own


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scale", type=float, default=0.01)
    parser.add_argument("--row", action="append", metavar="NAME")
    parser.add_argument("--on", action="append", metavar="NAME")
    parser.add_argument("--at", action="append", default=[], metavar="COMMAND")
    parser.add_argument("--lanes", type=int, default=1, metavar="N")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--engine", default="reader", help="for rows that say nothing of it")
    parser.add_argument("--sonde", type=Path, default=TREE / "build" / "sonde")
    parser.add_argument("--log", type=Path, metavar="FILE")
    given = parser.parse_args()
    for name in given.row or ():
        if name not in REGISTRY:
            parser.error(f"no row {name}; --list names them")
    known = [entry[1] for entry in interpreters.TABLE]
    for name in given.on or ():
        if name not in known:
            parser.error(f"no interpreter {name}; there are {', '.join(known)}")
    return given


def end_targets_first(number, _frame):
    """Whoever ends this ends the programs that it has started: the rows' `with` blocks see to it."""
    sys.exit(128 + number)


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_targets_first)
    for module in MODULES:
        importlib.import_module(module)
    given = options()
    if given.list:
        for row in REGISTRY.values():
            print(f"{row.name:16} {row.bar}")
        return 0
    tally = Tally(given.log and given.log.open("a"))
    there, missing = ([], {}) if given.at and not given.on else interpreters.find(given.on)
    there += map(interpreters.at, given.at)
    for name, why in missing.items():
        tally.skip("(all rows)", name, why)
    if not given.sonde.exists():
        print(f"there is no {given.sonde}: ./dev build")
        tally.failed += 1
    else:
        run_rows(given, there, tally)
    tally.close()
    return 1 if tally.failed else 0


def jobs_of(given, there, tally):
    """(row, interpreter) of all that is to be judged."""
    for row in REGISTRY.values():
        if given.row and row.name not in given.row:
            continue
        if row.full_only and given.scale < 1:
            tally.skip(row.name, "any", "only at --scale 1")
            continue
        speak = [one for one in there if one.language.name == row.language]
        once = row.once and given.scale < 1 and not given.on and not given.at
        usual = [one for one in speak if one.name in USUAL] or speak
        yield from ((row, one) for one in (usual[:1] if once else speak))


def run_rows(given, there, tally):
    sonde = Sonde(given.sonde.resolve(), given.engine)
    build = given.sonde.resolve().parent
    jobs = list(jobs_of(given, there, tally))

    def judge_job(job):
        row, interpreter = job
        return outcome_of(row, Run(interpreter, given.scale, sonde, build))
    beside = [job for job in jobs if given.lanes > 1 and not job[0].alone]
    alone = [job for job in jobs if given.lanes < 2 or job[0].alone]
    for outcome in chain(lanes.outcomes(given.lanes, beside, judge_job), map(judge_job, alone)):
        tally.add(outcome)
    tally.row_ends()


if __name__ == "__main__":
    sys.exit(main())
