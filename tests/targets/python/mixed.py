# SPDX-License-Identifier: Apache-2.0
"""mixed.py - a little of everything that programs do: functions called by C, exceptions, generators, threads, collections, files, sleep."""
from __future__ import division

import ctypes
import functools
import gc
import json
import re
import threading
import time
import zlib

import truth

WORDS = ["word%d" % (i * 7919 % 211) for i in range(200)]
TEXT = " ".join(WORDS * 20)


@functools.total_ordering
class Pair(object):
    def __init__(self, left):
        self.left = left

    def __lt__(self, other):
        return self.left < other.left

    def __eq__(self, other):
        return self.left == other.left

    def __hash__(self):
        return hash(self.left)


PAIRS = [Pair(i * 37 % 61) for i in range(60)]


def sorts():
    sorted(WORDS, key=lambda word: word[::-1])
    sorted(PAIRS)
    return dict((pair, 1) for pair in PAIRS)


def substitutes():
    return re.sub(r"word(\d+)", lambda found: found.group(1) + "!", TEXT)


def packs():
    return zlib.decompress(zlib.compress(TEXT.encode()))


def serializes():
    return json.loads(json.dumps(dict((word, i) for i, word in enumerate(WORDS)), default=str))


def fails(depth):
    try:
        if not depth:
            raise ValueError("the bottom")
        fails(depth - 1)
    finally:
        depth += 1


def recovers():
    for i in range(20):
        try:
            fails(i)
        except ValueError as error:
            str(error)


def numbers(count):
    for i in range(count):
        yield i * i


def generates():
    return functools.reduce(lambda total, i: total + i, (i + 1 for i in numbers(300))) + sum(map(lambda i: i % 7, numbers(300)))


COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc = ctypes.CDLL(None)


def calls_back():
    values = (ctypes.c_int * 40)(*(i * 37 % 41 for i in range(40)))
    libc.qsort(values, 40, ctypes.sizeof(ctypes.c_int), COMPARE(lambda a, b: a[0] - b[0]))


def reads():
    with open(__file__) as lines:
        sum(1 for _ in lines)
    with open("/dev/null", "w") as out:
        for word in WORDS:
            out.write(word)


def collects():
    for _ in range(200):
        ring = []
        ring.append(ring)
    gc.collect(0)


def starts_threads():
    threads = [threading.Thread(target=sorts) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def sleeps():
    time.sleep(0.001)


KINDS = (sorts, substitutes, packs, serializes, recovers, generates, calls_back, reads, collects, starts_threads, sleeps)

truth.ready()
turn = 0
while not truth.stop[0]:
    KINDS[turn % len(KINDS)]()
    turn += 1
truth.finish()
