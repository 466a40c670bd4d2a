# SPDX-License-Identifier: Apache-2.0
"""tally.py - what a run prints: each figure beside its bar, or a line a row; and the closing counts."""
from collections import Counter

WIDTHS = (16, 9, 34, 26)
LONGEST = 30  # rows of which the end says how long they took


def line_of(row, interpreter, figure, bar, verdict):
    cells = (row, interpreter, figure, bar)
    return " ".join(str(cell).ljust(width) for cell, width in zip(cells, WIDTHS)) + f" {verdict}"


class Tally:
    """With `log`, an open file, every figure goes there, and the terminal has a line for each row that
    holds; what does not hold is in both."""

    def __init__(self, log=None):
        self.log = log
        self.passed = self.failed = self.skipped = 0
        self.missed = []  # (row, interpreter, figure): what the end says again
        self.seconds = Counter()  # by row, on all interpreters
        self.row = None  # that runs
        self.held = []  # interpreters on which the row that runs held
        self.figures_held = 0
        self.write(line_of("row", "on", "figure", "bar", ""))

    def write(self, line, matters=False):
        """A line of the full account; one that matters is never in the log alone."""
        if self.log:
            print(line, file=self.log, flush=True)
        if matters or not self.log:
            print(line, flush=True)

    def skip(self, row, interpreter, why):
        self.skipped += 1
        self.write(line_of(row, interpreter, "-", "-", f"skip: {why}"), matters=True)

    def again(self, row, interpreter, figure, what):
        """A figure that missed once, and what is done about it."""
        self.write(line_of(row, interpreter, f"{figure.what}: {figure.value}", figure.bar, what), matters=True)

    def add(self, outcome):
        """What a row found on one interpreter."""
        if outcome.row != self.row:
            self.row_ends()
        self.row = outcome.row
        for figure, what in outcome.again:
            self.again(outcome.row, outcome.on, figure, what)
        if outcome.skipped:
            self.skip(outcome.row, outcome.on, outcome.skipped)
        else:
            self.figures(outcome.row, outcome.on, outcome.figures, outcome.seconds)

    def figures(self, row, interpreter, figures, seconds):
        for figure in figures:
            self.write(line_of(row, interpreter, f"{figure.what}: {figure.value}", figure.bar,
                               "ok" if figure.ok else "FAIL"), matters=not figure.ok)
        if self.log:
            self.write(f"{row} on {interpreter}: {seconds:.1f} s")
        missed = [(row, interpreter, figure) for figure in figures if not figure.ok]
        self.missed += missed
        self.passed += not missed
        self.failed += bool(missed)
        self.seconds[row] += seconds
        if not missed:
            self.held.append(interpreter)
            self.figures_held += len(figures)

    def row_ends(self):
        if self.log and self.held:
            print(f"{self.row.ljust(WIDTHS[0])} {' '.join(self.held)}: {self.figures_held} figures ok", flush=True)
        self.held, self.figures_held = [], 0

    def close(self):
        """What failed, again, where a log that was cut still has it; then the counts."""
        for row, interpreter, figure in self.missed:
            print(f"FAILED {row} on {interpreter}: {figure.what}: {figure.value}, the bar: {figure.bar}")
        longest = ", ".join(f"{row} {seconds:.0f}" for row, seconds in self.seconds.most_common(LONGEST))
        print(f"of {self.seconds.total():.0f} seconds: {longest}")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
