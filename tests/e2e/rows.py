# SPDX-License-Identifier: Apache-2.0
"""rows.py - what a row of the acceptance table is.

    @row("deep", "10,000-deep recursion: complete")
    def deep(run):
        ...
        return Figure("frames", 10001, "= 10001", ok)

A row is called once for each interpreter of its language, with a Run that knows the scale, the interpreter and sonde.
It returns one Figure or a list, or raises Skip(why). once=True: what does not depend on the
version is tried on one interpreter when the scale is small, on all at full scale. alone=True: nothing else
runs meanwhile, for it measures what sonde or its target costs, or looks at the whole machine.

A figure of chance that misses its bar in a rehearsal is measured once more with four times the samples,
and that counts: noise gets smaller then, a bias does not. An exact figure has no second chance.
"""
from dataclasses import dataclass
from typing import NamedTuple

REGISTRY = {}


class Skip(Exception):
    pass


class Figure(NamedTuple):
    what: str
    value: object
    bar: str
    ok: bool
    chance: bool = False  # it has a statistical error, and its bar is widened by it


@dataclass(frozen=True)
class Row:
    name: str
    bar: str
    function: object
    once: bool
    full_only: bool
    language: str
    alone: bool


@dataclass(frozen=True)
class Run:
    interpreter: object
    scale: float
    sonde: object
    build: object  # the build directory
    stretch: int = 1  # the least counts are multiplied by it

    @property
    def full(self):
        return self.scale >= 1

    def count(self, full, least):
        """A count of the table, scaled, never below what makes the row mean something."""
        return min(full, max(least * self.stretch, round(full * self.scale)))

    def seconds(self, full, least):
        return min(full, max(least * self.stretch, full * self.scale))


def row(name, bar, once=False, full_only=False, language="ruby", alone=False):
    def register(function):
        REGISTRY[name] = Row(name, bar, function, once, full_only, language, alone)
        return function
    return register


def at_most(what, value, bar, unit="", widened=None):
    """value <= bar; `widened` is the bar for this count, when it is not the full one."""
    limit = bar if widened is None else widened
    said = f"<= {bar:g}{unit}"
    if widened is not None and widened > bar * 1.0005:
        said += f" (here {limit:.3g})"
    return Figure(what, f"{value:.4g}{unit}", said, value <= limit, widened is not None)


def at_least(what, value, bar, unit="", widened=None):
    """value >= bar; `widened` as above."""
    limit = bar if widened is None else widened
    said = f">= {bar:g}{unit}"
    if widened is not None and widened < bar * 0.9995:
        said += f" (here {limit:.4g})"
    return Figure(what, f"{value:.6g}{unit}", said, value >= limit, widened is not None)


def enough(what, count, least):
    """A count that grows with the time measured: too few on a busy machine is no verdict yet."""
    return at_least(what, count, least, widened=least)


def exactly(what, value, wanted):
    return Figure(what, value, f"= {wanted}", value == wanted)


def holds(what, condition, value="", bar="yes"):
    return Figure(what, value if value != "" else ("yes" if condition else "no"), bar, bool(condition))
