# SPDX-License-Identifier: Apache-2.0
"""torn.py flat | nested | leaf | generators | resumed | recursion | called | thrown | hooked | watched | kept |
awaiting - call graphs that tear in the hands of a careless reader.

They do nothing but call.  Before it begins, a forked child runs the same turn under a tracer and writes down
every stack that exists, with lines: `legal`.
"""
import sys

import truth
from called import called
from thrown import thrown
from hooked import hooked
from kept import kept
from watched import legal as legal_of_watched
from watched import watched

try:
    from awaiting import awaiting
except SyntaxError:
    awaiting = None

ONE = [1]


# ---- flat: three frames, two leaves ----

def foo():
    return ONE


def bar():
    return ONE


def flat():
    foo()
    bar()


# ---- nested: the same function under two callers ----

def inner():
    return ONE


def left():
    return inner()


def right():
    return inner()


def nested():
    left()
    right()


# ---- leaf: paths of different depth to one leaf ----

def deep_3():
    return inner()


def deep_2():
    return deep_3()


def deep_1():
    return deep_2()


def leaf():
    deep_1()
    inner()


# ---- generators: frames that live in objects ----

def numbers(count):
    for number in range(count):
        yield number


def squares(source):
    for number in source:
        yield inner_of(number)


def inner_of(number):
    return number * number


def ping(source):
    total = 0
    for number in source:
        total += pong(number)
    return total


def pong(number):
    return number + 1


def generators():
    ping(squares(numbers(3)))
    ping(numbers(2))


# ---- resumed: generators that the interpreter, C and each other go on with, some of them from turn to turn ----

def first_kept():
    while True:
        yield ONE


def second_kept():
    while True:
        yield ONE


def third_kept():
    while True:
        yield ONE


KEPT = (first_kept(), second_kept(), third_kept())


def by_turns(first, second):
    for _ in range(3):
        next(first)
        next(second)


def take(source):
    for _ in source:
        break


def sums(count):
    for number in numbers(count):
        yield sum_of(number)


def sum_of(number):
    total = 0
    for one in numbers(number):
        total += one
    return total


def resumed():
    by_turns(KEPT[0], KEPT[1])
    list(map(take, KEPT[2:] * 3))
    for _ in sums(3):
        pass
    sum(numbers(3))
    list(squares(numbers(2)))
    newer()


# What Python 2 cannot read.
NEWER = """
def delegates(count):
    yield from delegated(count)


def delegated(count):
    for number in range(count):
        yield number


async def awaits(count):
    for number in range(count):
        await awaited(number)


async def awaited(number):
    return number


def drive(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass


def newer():
    for _ in delegates(2):
        pass
    list(delegates(2))
    drive(awaits(3))
"""


def newer():
    pass


if str is not bytes:
    exec(NEWER)


# ---- recursion: 300 deep, by two functions that take turns ----

DEPTH = 300


def even(depth):
    if depth:
        return odd(depth - 1)
    return bottom()


def odd(depth):
    if depth:
        return even(depth - 1)
    return bottom()


def bottom():
    return ONE


def recursion():
    even(DEPTH)
    odd(DEPTH // 2)


TURNS = {"flat": flat, "nested": nested, "leaf": leaf, "generators": generators, "resumed": resumed,
         "recursion": recursion, "called": called, "thrown": thrown, "hooked": hooked, "watched": watched,
         "kept": kept, "awaiting": awaiting}


def run(turn):
    legal = legal_of_watched() if turn is watched else truth.legal_in_child(turn, truth.label_of(turn.__code__))
    root = truth.stack_of(sys._getframe(), "<module>")
    root[-1][1] = run.__code__.co_firstlineno + 6
    stop, told = truth.stop, []
    # On one line, where it always is, also when it has just said that it is ready.
    while not stop[0]: told or told.append(truth.ready({"legal": legal, "root": root})); turn()
    truth.finish()


def main():
    turn = TURNS[sys.argv[1]]
    for _ in range(3):
        turn()
    run(turn)


if __name__ == "__main__":
    main()
