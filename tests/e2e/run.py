#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - the acceptance rows: programs that know their own answer judge sonde.

    run.py [--scale X] [--row NAME]... [--on NAME]... [--at COMMAND]... [--list] [--engine NAME]
           [--sonde PATH] [--log FILE]

Each row prints its figure beside its bar, for every interpreter: those of the matrix, or with --at
any Ruby or Python, such as "/opt/ruby/bin/ruby --yjit", or "/srv/root:/usr/bin/ruby" in a root
directory. Scale 1 is the table in full, 0.01 its rehearsal. With --log the figures are added to FILE,
and the terminal has a line a row and what does not hold. The last line is
`N passed, N failed, N skipped`; the exit code is 1 when any failed.
"""
import argparse
import importlib
import signal
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import interpreters
from rows import REGISTRY, Figure, Run, Skip
from sonde import Sonde
from tally import Tally

TREE = Path(__file__).resolve().parents[2]
MODULES = (
    "rows_targets", "rows_truth", "rows_threads", "rows_cost", "rows_life", "rows_names", "rows_world",
    "rows_several", "rows_recording", "rows_top", "rows_formats", "rows_diff", "rows_python", "rows_python_tasks",
    "rows_python_cost", "rows_exact", "rows_both", "rows_native", "rows_kernel", "rows_symbols", "rows_go",
    "rows_default", "rows_hostile", "rows_lives", "rows_perf", "rows_word", "rows_trace", "rows_offcpu", "rows_stitched",
    "rows_large",
)
USUAL = ("3.1", "py3.11", "gcc")  # the host's own


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scale", type=float, default=0.01)
    parser.add_argument("--row", action="append", metavar="NAME")
    parser.add_argument("--on", action="append", metavar="NAME")
    parser.add_argument("--at", action="append", default=[], metavar="COMMAND")
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


def measure(row, run):
    try:
        figures = row.function(run)
        figures = [figures] if isinstance(figures, Figure) else list(figures)
        if not figures:
            raise AssertionError("the row judged nothing")
        return figures
    except Skip:
        raise
    except Exception as error:  # a row that breaks is a row that fails, and the next one runs
        where = traceback.extract_tb(error.__traceback__)[-1]
        return [Figure(type(error).__name__, f"{error} ({Path(where.filename).name}:{where.lineno})",
                       row.bar, False)]


def seen_again(row, run, missed, tally):
    """An exact figure that misses in a rehearsal fails if it misses in one of two more runs; what is
    seen once in three is printed, and is for `./dev prove` to find."""
    for figure in missed:
        tally.again(row.name, run.interpreter.name, figure, "MISSED ONCE: two more runs")
    for _ in range(2):
        again = measure(row, run)
        if not all(figure.ok for figure in again):
            return again
        figures = again
    return figures


def run_one(row, run, tally):
    name = run.interpreter.name
    begin = time.monotonic()
    try:
        figures = measure(row, run)
        missed = [figure for figure in figures if not figure.ok]
        if missed and not run.full and all(figure.chance for figure in missed):
            for figure in missed:
                tally.again(row.name, name, figure, "missed: once more, 4 times the samples")
            figures = measure(row, replace(run, scale=min(1, 4 * run.scale), stretch=4))
        elif missed and not run.full:
            figures = seen_again(row, run, missed, tally)
    except Skip as why:
        tally.skip(row.name, name, why)
        return
    tally.figures(row.name, name, figures, time.monotonic() - begin)


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


def run_rows(given, there, tally):
    sonde = Sonde(given.sonde.resolve(), given.engine)
    build = given.sonde.resolve().parent
    for row in REGISTRY.values():
        if given.row and row.name not in given.row:
            continue
        if row.full_only and given.scale < 1:
            tally.skip(row.name, "any", "only at --scale 1")
            continue
        speak = [one for one in there if one.language.name == row.language]
        once = row.once and given.scale < 1 and not given.on and not given.at
        usual = [one for one in speak if one.name in USUAL] or speak
        for interpreter in usual[:1] if once else speak:
            run_one(row, Run(interpreter, given.scale, sonde, build), tally)
        tally.row_ends(row.name)


if __name__ == "__main__":
    sys.exit(main())
