# SPDX-License-Identifier: Apache-2.0
"""called.py - calls of every kind: what Python calls, and what C calls of Python's own, from lines that call one thing each.

A turn of torn.py; it reads in Python 2, too.
"""
import functools
from contextlib import contextmanager

ONE = [1]


class Base(object):
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return hash(self.number)

    def __lt__(self, other):
        return self.number < other.number

    def name(self):
        return ONE

    def __getattr__(self, name):
        return name

    @property
    def size(self):
        return len(ONE)


class Derived(Base):
    def __init__(self, number):
        super(Derived, self).__init__(number)

    def __new__(cls, number):
        return object.__new__(cls)

    def name(self):
        return super(Derived, self).name()

    def __call__(self, *args, **more):
        return args

    def __add__(self, other):
        return self.name()

    def __getitem__(self, key):
        if key > 1:
            raise IndexError
        return key

    def __enter__(self):
        return self

    def __exit__(self, *why):
        return True

    def __str__(self):
        return "one"


def plain():
    return ONE


def early(leaves):
    if leaves:
        return plain()
    return ONE


def raises():
    raise ValueError


def passes():
    raises()


def catches():
    try:
        passes()
    except ValueError:
        plain()
    finally:
        plain()


def closure(one):
    def within(two):
        return plain() and one and two
    return within


@contextmanager
def managed():
    plain()
    yield ONE
    plain()


def decorated(function):
    @functools.wraps(function)
    def around(*args):
        return function(*args)
    return around


@decorated
def wrapped(one):
    return one


def add(one, two):
    return one + two


def key_of(one):
    return -one


def any_of(one):
    return one.name()


def called():
    """The same lines for objects of several classes: what they call is cached in places."""
    one = Derived(1)
    two = Base(2)
    any_of(one)
    any_of(two)
    one.size
    one.missing
    one + two
    one(1, k=2)
    one == two
    [two, one].sort()
    {one: 1}
    list(one)
    with one:
        plain()
    with managed():
        plain()
    str(one)
    early(True)
    early(False)
    catches()
    closure(1)(2)
    wrapped(1)
    functools.reduce(add, (1, 2, 3))
    sorted((1, 2), key=key_of)
    [plain() for _ in ONE]
    set(map(key_of, ONE))
    (lambda: plain())()
    functools.partial(add, 1)(2)
    getattr(one, "other")
