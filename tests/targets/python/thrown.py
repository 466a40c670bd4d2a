# SPDX-License-Identifier: Apache-2.0
"""thrown.py - functions and generators that are left at once, by exceptions, close(), throw() and the end of what they hold, and
code that runs once: from lines that call one thing each.

A turn of torn.py; it reads in Python 2, too.
"""
from truth import TELLS_ENDS

ONE = [1]


def leaf():
    return ONE


def raises(error):
    raise error


def passes(error):
    try:
        raises(error)
    finally:
        leaf()


def catches(error):
    try:
        passes(error)
    except KeyError:
        leaf()
    except Exception:
        ONE.count(1)
    else:
        leaf()
    return ONE


def again(error):
    try:
        passes(error)
    except ValueError:
        leaf()
        raise


def nested():
    try:
        again(ValueError())
    except ValueError:
        try:
            raises(KeyError())
        except KeyError:
            leaf()
    leaf()


def deep(depth):
    if depth:
        deep(depth - 1)
    else:
        raises(KeyError())


def far():
    try:
        deep(5)
    except KeyError:
        leaf()


def endless():
    try:
        while True:
            leaf()
            yield ONE
    finally:
        leaf()


def throws_in():
    source = endless()
    next(source)
    try:
        source.throw(KeyError())
    except KeyError:
        leaf()


def closes():
    source = endless()
    next(source)
    source.close()
    leaf()


def forgets():
    source = endless()
    next(source)
    del source
    leaf()


def breaks():
    for one in endless():
        leaf()
        break
    else:
        leaf()
    return ONE


def fails(one):
    return one + None


def in_c():
    try:
        list(map(fails, ONE))
    except TypeError:
        leaf()


class Counted(object):
    def __init__(self):
        self.one = leaf()

    if TELLS_ENDS:
        def __del__(self):
            leaf()

    def __getitem__(self, key):
        raise IndexError

    def __len__(self):
        return len(ONE)

    def __call__(self):
        return self.one

    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration

    next = __next__

    def __contains__(self, key):
        return leaf() is key

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return leaf() is other

    @staticmethod
    def still():
        return leaf()

    @classmethod
    def of_class(cls):
        return leaf()


class Described(object):
    def __get__(self, instance, owner):
        return leaf()

    def __set__(self, instance, value):
        leaf()


class Meta(type):
    def __call__(cls, *args):
        leaf()
        return type.__call__(cls, *args)


Made = Meta("Made", (object,), {"described": Described()})


def cells(one):
    two = leaf()

    def within(three):
        return leaf() and one and two and three

    def further(four):
        return within(four)
    return further


def defines():
    class Local(object):
        leaf()

        def method(self):
            return leaf()
    return Local


def defaults(one=leaf(), *rest, **named):
    return leaf()


def thrown():
    catches(KeyError())
    catches(ValueError())
    nested()
    far()
    throws_in()
    closes()
    if TELLS_ENDS: forgets()
    if TELLS_ENDS: breaks()
    in_c()
    counted = Counted()
    list(counted)
    len(counted)
    counted()
    1 in counted
    {counted: 1}
    bool(counted)
    counted.still()
    counted.of_class()
    if TELLS_ENDS: del counted
    made = Made()
    made.described
    made.described = 1
    cells(1)(2)
    defines()().method()
    defaults()
    defaults(1, 2, named=3)
    defaults(*ONE)
    sorted((2, 1), key=cells(1))
    any(leaf() for _ in ONE)
    [one for one in filter(cells(2), ONE)]
    dict((one, leaf()) for one in ONE)
