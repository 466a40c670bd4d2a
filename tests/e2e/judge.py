# SPDX-License-Identifier: Apache-2.0
"""judge.py - legal, legal under [moving], or impossible: the judge of programs with a grammar.

A grammar is the set of stacks that the program itself wrote down: root first, each frame
a (label, line), line None for a C function. Callers must stand on the very line that calls; the
leaf may stand on any line that its method was seen on, or on none when that is not known yet.
"""
import re
from collections import Counter

import folded

SECTION = re.compile(r"\A(?:rescue|ensure) in ")
UNTOLD = re.compile(r"(\A|\.)proc\Z")  # a C function that makes an enumerator's block; no tracer is told of it
COMPLETE, HELD, STARTING, IMPOSSIBLE = "complete", "moving", "starting", "impossible"
UNNAMED, CALLER_LINE = "unnamed", "caller line"


def line_of(frame):
    """What Ruby itself has in Ruby it tells like a C function (with_yjit's Array#map, from 3.4 on)."""
    return None if (frame.path or "").startswith("<internal:") else frame.line


def without_rescue(frames):
    """Documented exception: since 3.4 Ruby's backtraces leave out the frames of rescue and ensure, and
    their owner stands on the line of the innermost (Feature #20275). sonde shows what runs. Leaf first."""
    kept, line = [], None
    for frame in frames:
        if SECTION.match(frame.label):
            line = line or frame.line
        elif line:
            kept.append(frame._replace(line=line))
            line = None
        else:
            kept.append(frame)
    return kept


def joined(names):
    return "\0".join(("", *names, ""))


class Chains:
    """What begins alike is kept once: a sequence has a number, which those of what is in front of its last part and of
    that part itself lead to. 0: the empty one."""

    def __init__(self):
        self._numbers = {}

    def longer(self, number, part):
        """The number of the sequence with this part behind it."""
        return self._numbers.setdefault((number, part), len(self._numbers) + 1)

    def find(self, parts):
        """None: no such sequence."""
        number = 0
        for part in parts:
            number = self._numbers.get((number, part))
            if number is None:
                return None
        return number


class Grammar:
    """`joins`: what the program wrote down has no frames of rescue and ensure (without_rescue). `apart`: stacks that
    do not begin at the root, of fibers; one that begins or ends may have no frame yet, or none any more."""

    def __init__(self, root, legal, joins=False, apart=()):
        self.joins, self.apart = joins, apart
        self.stacks = Chains()  # of methods on their lines
        self.names = Chains()   # the same without lines
        self.callers = set()    # every (number of the callers, method of the leaf)
        self.wholes = set()     # the names of each stack, for what was cut off from one
        self.lines = {}         # method: the lines that it was seen on
        root = [tuple(frame) for frame in root]
        for stack in (root, *(root + [tuple(frame) for frame in stack] for stack in legal), *apart):
            self._add([(folded.method(label), line) for label, line in stack])
        for lines in self.lines.values() if joins else ():
            lines.add(min(lines) - 1)  # where a method's own rescue begins: the line of its def

    def _add(self, stack):
        """It, and what it is while it is made."""
        number = nameless = 0
        for name, line in stack:
            self.callers.add((number, name))
            number = self.stacks.longer(number, (name, line))
            nameless = self.names.longer(nameless, name)
            if line is not None:
                self.lines.setdefault(name, set()).add(line)
        self.wholes.add(joined(name for name, _ in stack))

    def allow_leaf(self, callers, name):
        """A C function that may stand on these callers without being in the trace."""
        self._add([*callers, (name, None)])

    def _judge(self, frames, right):
        """`right`, or what is wrong with the frames."""
        plain = [(folded.method(frame.label), line_of(frame)) for frame in frames]
        *callers, (name, line) = plain
        lines = self.lines.get(name)
        on_line = lines is None or line is None or min(lines) <= line <= max(lines)
        if (self.stacks.find(callers), name) in self.callers and on_line:
            return right
        known_lines = all(line in self.lines.get(name, {line}) for name, line in callers)
        same_names = self.names.find(name for name, _ in plain) is not None
        return CALLER_LINE if same_names and known_lines and on_line else IMPOSSIBLE

    def _is_inner_part(self, frames):
        """Of a stack that says that it is cut off: are these consecutive in a legal one?"""
        names = joined(folded.method(frame.label) for frame in frames)
        return any(names in whole for whole in self.wholes)

    def classify(self, stack):
        frames = folded.strip_marks(stack.frames)
        if self.joins:
            frames = without_rescue(frames[::-1])[::-1]
        if self.apart and (not frames or UNTOLD.search(frames[-1].label)):
            frames = frames[:-1]
            if not frames:
                return COMPLETE
        if not frames:
            return STARTING if stack.frames else IMPOSSIBLE
        labels = [frame.label for frame in frames]
        if labels == [folded.STARTING]:
            return STARTING
        if "(unnamed)" in labels:
            return UNNAMED
        is_cut = labels[0] == folded.TRUNCATED
        if is_cut or labels[-1] == folded.MOVING:
            known = frames[is_cut:len(frames) - (labels[-1] == folded.MOVING)]
            return HELD if not known or is_cut and self._is_inner_part(known) else self._judge(known, HELD)
        return self._judge(frames, COMPLETE)


class Verdict:
    """Counts of each class, and the impossible stacks themselves."""

    def __init__(self, grammar, stacks):
        self.counts = Counter()
        self.examples = {}
        for stack in stacks:
            kind = grammar.classify(stack)
            self.counts[kind] += stack.count
            if stack.count > self.examples.get(kind, (0,))[0]:
                self.examples[kind] = stack.count, ";".join(map(str, stack.frames))
        self.total = sum(self.counts.values())
        self.no_line = sum(stack.count for stack in stacks if stack.frames
                           and stack.frames[-1].path is not None and stack.frames[-1].line is None)

    def ppm(self, kind):
        return 1e6 * self.counts[kind] / max(self.total, 1)

    def share(self, kind):
        return 100 * self.counts[kind] / max(self.total, 1)

    def example(self, kind):
        return self.examples.get(kind, (0, ""))[1]


def numbered(stacks, pattern):
    """Stacks that name two different numbers, for programs that write one number in all names of a
    stack: (samples mixed, one example)."""
    mixed, example = 0, ""
    for stack in stacks:
        numbers = {found[1] for frame in stack.frames
                   for found in pattern.finditer(f"{frame.label} {frame.path or ''}")}
        if len(numbers) > 1:
            mixed += stack.count
            example = ";".join(map(str, stack.frames))
    return mixed, example
