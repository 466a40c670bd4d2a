# SPDX-License-Identifier: Apache-2.0
"""hooked.py - functions that C calls because of what they are: of classes, codecs, keys, callbacks and the ends of objects, from
lines that call one thing each.

A turn of torn.py; it reads in Python 2, too.
"""
import copy
import ctypes
import functools
import json
import operator
import re
import weakref

from truth import TELLS_ENDS

ONE = [1]


def leaf():
    return ONE


def of_match(found):
    leaf()
    return "b"


def of_object(read):
    leaf()
    return read


def of_other(other):
    leaf()
    return 1


def of_end(reference):
    leaf()


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def compare(one, two):
    leaf()
    return one[0] - two[0]


qsort = ctypes.CDLL(None).qsort
qsort.restype = None
NUMBERS = ctypes.c_int * 4


class Kept(object):
    def __deepcopy__(self, memo):
        leaf()
        return self

    def __copy__(self):
        leaf()
        return self


class Number(object):
    def __init__(self, number):
        self.number = number

    def __index__(self):
        leaf()
        return self.number

    def __radd__(self, other):
        leaf()
        return self

    def __iadd__(self, other):
        leaf()
        return self

    def __lt__(self, other):
        leaf()
        return self.number < other.number

    def __neg__(self):
        return self.mirrored()

    def mirrored(self):
        leaf()
        return self

    def __format__(self, how):
        leaf()
        return "n"

    def __reversed__(self):
        leaf()
        return iter(ONE)


class Missing(dict):
    def __missing__(self, key):
        leaf()
        return key

    def __setitem__(self, key, value):
        leaf()
        dict.__setitem__(self, key, value)

    def __delitem__(self, key):
        leaf()
        dict.__delitem__(self, key)


class Like(object):
    def keys(self):
        leaf()
        return ("a", "b")

    def __getitem__(self, key):
        leaf()
        return key


class Guard(object):
    def __getattribute__(self, name):
        leaf()
        return object.__getattribute__(self, name)

    def __setattr__(self, name, value):
        leaf()
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        leaf()
        object.__delattr__(self, name)

    def method(self):
        return leaf()


class Asked(type):
    def __instancecheck__(cls, one):
        leaf()
        return True

    def __subclasscheck__(cls, one):
        leaf()
        return True

    def __getattr__(cls, name):
        leaf()
        return name


Asking = Asked("Asking", (object,), {})


def words(count):
    while count:
        count -= 1
        yield "w"
        leaf()


def pairs(count):
    while count:
        count -= 1
        yield count, count


def takes(one, *more):
    leaf()
    return more


def hooked():
    re.sub("a", of_match, "aXa")
    json.loads("{}", object_hook=of_object)
    copy.deepcopy(Kept())
    copy.copy(Kept())
    numbers = NUMBERS(3, 1, 2, 4)
    qsort(numbers, 4, 4, compare)
    held = Number(1)
    reference = weakref.ref(held, of_end) if TELLS_ENDS else None
    ONE[held:]
    held += 1
    held = None
    held = Number(1)
    sum((held,), 1)
    max(held, Number(2))
    format(held)
    reversed(held)
    -held
    operator.neg(held)
    missing = Missing()
    missing[1]
    missing[1] = 2
    del missing[1]
    dict(Like())
    guard = Guard()
    guard.one = 1
    guard.one
    guard.method()
    del guard.one
    isinstance(ONE, Asking)
    issubclass(int, Asking)
    Asking.thing
    "".join(words(2))
    dict(pairs(2))
    tuple(words(1))
    takes(*words(2))
    operator.methodcaller("mirrored")(held)
    iter(leaf, ONE).__iter__()
    min((1, 2), key=of_other)
    one, two = words(2)
    "w" in words(2)
    functools.reduce(takes, (1, 2, 3))
