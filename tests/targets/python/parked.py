# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0
"""parked.py [busy] - threads that stand still in every kind of frame, and say where; or one that turns round in all of them.

Facts: threads: [{tid, frames: [[path, line, name, end line, column, end column]]}], root first; the last three are
null where Python does not know them. The main thread is not in it.
"""
from __future__ import print_function

import contextlib
import functools
import os
import sys
import threading
import time

import truth

BUSY = "busy" in sys.argv
gate = threading.Lock()
gate.acquire()


def wait():
    while BUSY: pass
    gate.acquire()
    gate.release()


# ---- shapes: each calls `inner` in its own way ----

def plain(inner):
    inner()


def multi_line(inner):
    return max(
        1,
        (inner
         )() or 2,
        3)


def nested(inner):
    def first():
        def second():
            return (lambda: inner())()
        return second()
    return first()


class Shapes(object):
    def method(self, inner):
        return [inner() for _ in range(1)]

    @classmethod
    def of_class(cls, inner):
        return cls().method(inner)

    @staticmethod
    def of_nobody(inner):
        return {1: inner()}

    @property
    def asked(self):
        return self.inner()

    def __call__(self, inner):
        self.inner = inner
        return self.asked

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()


def generator(inner):
    def numbers():
        yield 1
        inner()
        yield 2

    def squares(source):
        for number in source:
            yield number * number
    return list(squares(numbers()))


def by_c(inner):
    return sorted([2, 1], key=lambda _: inner() or 0)


def by_reduce(inner):
    return functools.reduce(lambda a, b: inner(), [1, 2])


def with_statement(inner):
    with Shapes() as shapes:
        shapes.leave = lambda: None
        inner()


def leaves(inner):
    with Shapes() as shapes:
        shapes.leave = inner


@contextlib.contextmanager
def managed(inner):
    try:
        yield
    finally:
        inner()


def manages(inner):
    with managed(inner):
        pass


def handles(inner):
    try:
        raise ValueError(1)
    except (KeyError,
            ValueError):
        inner()


def at_last(inner):
    try:
        pass
    finally:
        inner()


def class_body(inner):
    class Body(object):
        value = inner()
    return Body


def recursive(inner, depth=40):
    if depth:
        recursive(inner, depth - 1)
    else:
        inner()


def decorated(function):
    @functools.wraps(function)
    def around(*args):
        return function(*args)
    return around


@decorated
def wrapped(inner):
    inner()


def far(inner):
    namespace = {"inner": inner}
    exec(compile("def down():\n" + "\n" * 700 + "    inner()\ndown()\n", "far.py", "exec"), namespace)


def named(inner):
    namespace = {"inner": inner}
    source = u"def %s():\n    inner()\n%s()\n" % ((u"n" * 5000,) * 2)
    exec(compile(source, "long.py", "exec"), namespace)


def foreign(inner):
    namespace = {"inner": inner}
    for name in (u"\u00e9t\u00e9", u"\u65e5\u672c", u"\U00010400x"):
        source = u"def %s(): return inner()\n%s()\n" % (name, name)
        function = u"/tmp/%s.py" % name
        exec(compile(source, function, "exec"), namespace)
        namespace["inner"] = None
        break


def foreign_wide(inner):
    source = u"def \u65e5\u672c(): \n  return \u00e9t\u00e9, inner()\n\u00e9t\u00e9 = 1\n\u65e5\u672c()\n"
    exec(compile(source, u"/tmp/\u65e5\u672c.py", "exec"), {"inner": inner})


def foreign_astral(inner):
    source = u"def \U00010400x(): return inner()\n\U00010400x()\n"
    exec(compile(source, u"/tmp/\U0001f600.py", "exec"), {"inner": inner})


SHAPES = [plain, multi_line, nested, Shapes().method, Shapes.of_class, Shapes.of_nobody, Shapes(), generator, by_c,
          by_reduce, with_statement, leaves, manages, handles, at_last, class_body, recursive, wrapped, far]
if sys.version_info >= (3,):
    SHAPES += [named, foreign, foreign_wide, foreign_astral]


def everything(inner):
    for shape in SHAPES:
        inner = functools.partial(shape, inner)
    inner()


def positions(frame):
    """(end line, column, end column); columns from 1, in bytes of UTF-8."""
    if not hasattr(frame.f_code, "co_positions"):
        return [None, None, None]
    _, end, column, end_column = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    return [end, None if column is None else column + 1, None if end_column is None else end_column + 1]


def text(name):
    return name if sys.version_info >= (3,) else name.decode("utf-8")


def stack_of(frame):
    stack = []
    while frame:
        code = frame.f_code
        stack.append([text(code.co_filename), frame.f_lineno, text(truth.label_of(code))] + positions(frame))
        frame = frame.f_back
    return stack[::-1]


def main():
    tids = {}

    def run(shape):
        tids[threading.current_thread().ident] = truth.native_id()
        shape(wait)

    shapes = [everything] if BUSY else SHAPES + [everything]
    threads = [threading.Thread(target=run, args=(shape,)) for shape in shapes]
    for thread in threads:
        thread.daemon = True
        thread.start()

    def are_parked():
        frames = sys._current_frames()
        return len(tids) == len(threads) and all(
            frames[ident].f_code is wait.__code__ and frames[ident].f_lineno == wait.__code__.co_firstlineno + 2 - BUSY
            for ident in tids)

    while not are_parked():
        time.sleep(0.001)
    frames = sys._current_frames()
    truth.ready({"threads": [{"tid": tids[ident], "frames": stack_of(frames[ident])} for ident in tids]})
    truth.park()
    os._exit(0)


if __name__ == "__main__":
    main()
