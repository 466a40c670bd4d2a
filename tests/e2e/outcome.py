# SPDX-License-Identifier: Apache-2.0
"""outcome.py - one row on one interpreter: what it found, and whether it is measured again."""
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rows import Figure, Skip


class Outcome(NamedTuple):
    row: str
    on: str
    seconds: float
    figures: tuple = ()
    again: tuple = ()  # (figure that missed, what was done about it)
    skipped: str | None = None


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


def seen_again(row, run, figures):
    """An exact figure that misses in a rehearsal fails if it misses in one of two more runs; what is
    seen once in three is printed, and is for `./dev prove` to find."""
    for _ in range(2):
        figures = measure(row, run)
        if not all(figure.ok for figure in figures):
            break
    return figures


def outcome_of(row, run):
    begin = time.monotonic()
    again = []
    try:
        figures = measure(row, run)
        missed = [figure for figure in figures if not figure.ok]
        if missed and not run.full and all(figure.chance for figure in missed):
            again = [(figure, "missed: once more, 4 times the samples") for figure in missed]
            figures = measure(row, replace(run, scale=min(1, 4 * run.scale), stretch=4))
        elif missed and not run.full:
            again = [(figure, "MISSED ONCE: two more runs") for figure in missed]
            figures = seen_again(row, run, figures)
    except Skip as why:
        return Outcome(row.name, run.interpreter.name, 0, skipped=str(why))
    return Outcome(row.name, run.interpreter.name, time.monotonic() - begin, tuple(figures), tuple(again))
