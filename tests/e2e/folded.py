# SPDX-License-Identifier: Apache-2.0
"""folded.py - the folded format as sonde writes it (src/export/folded.c), read strictly.

    main (app.rb:3);block (2 levels) in run (lib/a.rb:17);Array#map;[moving] 42

Root first; `label (path:line)` for Ruby, a bare label for its C functions, `symbol [native]`, marks;
a space; a number. In front there may be `process NAME (PID)` and `thread NAME (TID)`. What does
not parse raises: a broken line is a failure, never skipped.
"""
import functools
import re
from typing import NamedTuple

MOVING, STARTING, GC, TRUNCATED = "[moving]", "(starting)", "(garbage collection)", "[truncated]"
MARKS = {MOVING, STARTING, GC, TRUNCATED, "[native]", "[unreadable]"}
PREFIX = r"(?:(?:block (?:\(\d+ levels\) )?in |rescue in |ensure in )*)"
FRAME = re.compile(rf"\A({PREFIX}(?:<top \(required\)>|.*?)) \((.*?)(?::(\d+))?\)\Z", re.S)
PROCESS = re.compile(r"\Aprocess (.*) \((\d+)\)\Z", re.S)
THREAD = re.compile(r"\Athread (.*) \((\d+)\)\Z", re.S)
SPLIT_LABEL = re.compile(rf"\A({PREFIX})(.*)\Z", re.S)


class FoldedError(Exception):
    pass


class Frame(NamedTuple):
    label: str
    path: str | None = None
    line: int | None = None

    @property
    def is_mark(self):
        return self.path is None and self.label in MARKS

    @property
    def is_native(self):
        return self.path is None and self.label.endswith((" [native]", " [inlined]", " [kernel]"))

    def __str__(self):
        return f"{self.label}:{self.line}" if self.line is not None else self.label


class Stack(NamedTuple):
    frames: tuple  # root first, without the process and the thread
    count: int
    pid: int | None = None
    tid: int | None = None
    thread: str | None = None


def unescape(text):
    r"""Back to the bytes of the program: \n and \xNN are escapes, other backslashes are not."""
    if "\\" not in text:
        return text

    def one(match):
        return b"\n" if match[0] == rb"\n" else bytes([int(match[1], 16)])
    return re.sub(rb"\\(?:n|x([0-9a-f]{2}))", one, text.encode()).decode(errors="surrogateescape")


@functools.lru_cache(1 << 16)
def parse_frame(text):
    match = FRAME.match(text)
    if not match or text in MARKS:
        return Frame(unescape(text))
    return Frame(unescape(match[1]), unescape(match[2]), int(match[3]) if match[3] else None)


def parse_line(line):
    text, space, count = line.rpartition(" ")
    if not space or not count.isdigit():
        raise FoldedError(f"no count at the end: {line[:200]!r}")
    frames = text.split(";") if text else []
    if "" in frames:
        raise FoldedError(f"an empty frame: {line[:200]!r}")
    process = PROCESS.match(frames[0]) if frames else None
    if process:
        frames = frames[1:]
    thread = THREAD.match(frames[0]) if frames else None
    if thread:
        frames = frames[1:]
    return Stack(tuple(parse_frame(frame) for frame in frames), int(count),
                 int(process[2]) if process else None, int(thread[2]) if thread else None,
                 unescape(thread[1]) if thread else None)


def parse(data):
    text = data.decode("utf-8")
    if text and not text.endswith("\n"):
        raise FoldedError("the last line is not ended")
    return [parse_line(line) for line in text.split("\n")[:-1]]


def total(stacks):
    return sum(stack.count for stack in stacks)


def split_label(label):
    """("block in ", "Foo#bar")"""
    match = SPLIT_LABEL.match(label)
    return match[1], match[2]


@functools.lru_cache(1 << 16)
def method(label):
    """The method's bare name: "bar" of "block in Foo::Baz#bar", "read" of "read [native]"."""
    name = split_label(label)[1].removesuffix(" [native]").removesuffix(" [inlined]")
    match = re.match(r"\A(?:#<.*?>|[A-Z][\w:]*)[#.](.+)\Z", name, re.S)
    return match[1] if match else name


def bare(label):
    """The last part of a qualified name: "read" of "Reader.read", "read" of "Reader#read"."""
    return method(label).split("#")[-1].split(".")[-1]


def same_label(ours, theirs):
    """Equal, but for the class in front of the method, which Ruby's backtraces have only since 3.4."""
    if ours == theirs:
        return True
    (prefix, name), (their_prefix, their_name) = split_label(ours), split_label(theirs)
    if prefix != their_prefix:
        return False
    longer, shorter = (name, their_name) if len(name) > len(their_name) else (their_name, name)
    return longer.endswith(("#" + shorter, "." + shorter))


def strip_marks(frames):
    """Without marks of garbage collection, which may lie on top of any stack."""
    return tuple(frame for frame in frames if frame.label != GC or not frame.is_mark)


def share_of(stacks, wanted, counted=lambda stack: True):
    """The share of samples with a frame of the bare method name `wanted` anywhere."""
    base = [stack for stack in stacks if counted(stack)]
    hits = sum(stack.count for stack in base
               if any(method(frame.label) == wanted for frame in stack.frames))
    return hits / max(total(base), 1)
