# SPDX-License-Identifier: Apache-2.0
"""raising.py - a program that handles exceptions for a known part of its time, beside a thread that never does.

A generator is suspended in the middle of a handler: nobody handles anything then.
"""
import os
import sys
import threading
import time

import truth

# Python 2 forgets what a generator handled when it yields.
RESUMED = "handles" if sys.version_info >= (3,) else "plain"

spent = {"plain": 0, "handles": 0}


def plain(seconds):
    until = time.time() + seconds
    while time.time() < until: pass


def in_handler(seconds):
    until = time.time() + seconds
    while time.time() < until: pass


def handles(seconds):
    try:
        {}["nothing"]
    except KeyError:
        in_handler(seconds)


def generator(seconds):
    try:
        raise ValueError
    except ValueError:
        in_handler(seconds)
        yield 1
        in_handler(seconds)
    yield 2


def nested(depth, seconds):
    if depth:
        for each in nested(depth - 1, seconds):
            yield each
    else:
        in_handler(seconds)
        yield 1


def handles_above(seconds):
    try:
        raise ValueError
    except ValueError:
        for _ in nested(40, seconds): pass


def timed(name, function, *args):
    begin = truth.now_ns()
    function(*args)
    spent[name] += truth.now_ns() - begin


def turn():
    timed("plain", plain, 0.006)
    timed("handles", handles, 0.002)
    timed("handles", handles_above, 0.003)
    suspended = generator(0.001)
    timed("handles", next, suspended)
    timed("plain", plain, 0.003)
    timed(RESUMED, next, suspended)


def sleeper():
    while True:
        time.sleep(1)


def main():
    thread = threading.Thread(target=sleeper)
    thread.daemon = True
    thread.start()
    turn()
    for name in spent:
        spent[name] = 0
    truth.ready()
    while not truth.stop[0]:
        turn()
    truth.finish({"spent_ns": spent})
    os._exit(0)


if __name__ == "__main__":
    main()
