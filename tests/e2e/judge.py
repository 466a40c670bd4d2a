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


class Grammar:
    """`joins`: what the program wrote down has no frames of rescue and ensure (without_rescue). `apart`: stacks that
    do not begin at the root, of fibers; one that begins or ends may have no frame yet, or none any more."""

    def __init__(self, root, legal, joins=False, apart=()):
        self.joins, self.apart = joins, apart
        root = [tuple(frame) for frame in root]
        stacks = [root + [tuple(frame) for frame in stack] for stack in legal]
        stacks += [root[:depth] for depth in range(1, len(root) + 1)]
        stacks += [[tuple(frame) for frame in stack] for stack in apart]
        self.callers = set()  # every (stack of callers on their lines, method of the leaf)
        self.names = set()    # the same without lines
        self.lines = {}       # method: the lines that it was seen on
        for stack in stacks:
            plain = [(folded.method(label), line) for label, line in stack]
            for depth in range(len(plain)):
                self.callers.add((tuple(plain[:depth]), plain[depth][0]))
                self.names.add(tuple(name for name, _ in plain[:depth + 1]))
                name, line = plain[depth]
                if line is not None:
                    self.lines.setdefault(name, set()).add(line)
        for lines in self.lines.values() if joins else ():
            lines.add(min(lines) - 1)  # where a method's own rescue begins: the line of its def

    def allow_leaf(self, callers, name):
        """A C function that may stand on these callers without being in the trace."""
        self.callers.add((callers, name))
        self.names.add((*(caller for caller, _ in callers), name))

    def _judge(self, frames, right):
        """`right`, or what is wrong with the frames."""
        plain = [(folded.method(frame.label), line_of(frame)) for frame in frames]
        *callers, (name, line) = plain
        lines = self.lines.get(name)
        on_line = lines is None or line is None or min(lines) <= line <= max(lines)
        if (tuple(callers), name) in self.callers and on_line:
            return right
        known_lines = all(line in self.lines.get(name, {line}) for name, line in callers)
        same_names = tuple(name for name, _ in plain) in self.names
        return CALLER_LINE if same_names and known_lines and on_line else IMPOSSIBLE

    def _is_inner_part(self, frames):
        """Of a stack that says that it is cut off: are these the innermost of a legal one?"""
        names = tuple(folded.method(frame.label) for frame in frames)
        return any(one[-len(names):] == names for one in self.names)

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
