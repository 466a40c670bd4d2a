# SPDX-License-Identifier: Apache-2.0
"""kept.py - frames and tracebacks that somebody keeps, and objects that end with the frame that held them: from lines that call one thing
each.

A turn of torn.py; it reads in Python 2, too.
"""
import sys

from truth import TELLS_ENDS

ONE = [1]


def leaf():
    return ONE


def looks():
    return sys._getframe()


def looks_up():
    leaf()
    return sys._getframe(1)


def keeps():
    frame = looks()
    leaf()
    frame = None
    leaf()


def keeps_caller():
    frame = looks_up()
    leaf()
    return frame


KEPT = []


def keeps_longer():
    KEPT.append(looks())
    leaf()
    if len(KEPT) > 3:
        KEPT.pop(0)
    leaf()


def chain(depth):
    if depth:
        return chain(depth - 1)
    return sys._getframe()


def walks():
    frame = chain(5)
    while frame:
        frame.f_lineno
        frame = frame.f_back
    leaf()


def numbers(count):
    while count:
        count -= 1
        yield leaf()


def looks_at_generator():
    source = numbers(2)
    source.gi_frame
    next(source)
    frame = source.gi_frame
    leaf()
    next(source)
    frame.f_locals
    source.close()
    leaf()
    return frame


def keeps_generator():
    source = numbers(3)
    next(source)
    KEPT.append(source.gi_frame)
    KEPT.pop(0)
    leaf()
    for one in source:
        leaf()


def raises():
    leaf()
    raise KeyError


def keeps_traceback():
    try:
        raises()
    except KeyError:
        KEPT.append(sys.exc_info()[2])
        KEPT.pop(0)
    leaf()


def yields_itself():
    yield sys._getframe()
    leaf()
    yield sys._getframe()


def itself():
    for frame in yields_itself():
        leaf()
        frame.f_back


def has_locals():
    one = 1
    locals()
    leaf()
    return one


def closes_over(one):
    def within():
        locals()
        return leaf() and one
    return within


class Ending(object):
    if TELLS_ENDS:
        def __del__(self):
            leaf()


def ends():
    one = Ending()
    return ONE


def ends_by_error():
    one = Ending()
    raise KeyError


def catches_end():
    try:
        ends_by_error()
    except KeyError:
        leaf()


def ends_in_generator():
    one = Ending()
    yield one
    leaf()


def takes_end():
    for one in ends_in_generator():
        leaf()
    one = None
    leaf()


def passes_end(one):
    return ONE


def recursion_ends(depth):
    one = Ending()
    if depth:
        recursion_ends(depth - 1)


def kept():
    keeps()
    keeps_caller()
    keeps_longer()
    walks()
    looks_at_generator()
    keeps_generator()
    keeps_traceback()
    itself()
    has_locals()
    closes_over(1)()
    if TELLS_ENDS: ends()
    if TELLS_ENDS: catches_end()
    if TELLS_ENDS: takes_end()
    if TELLS_ENDS: passes_end(Ending())
    if TELLS_ENDS: recursion_ends(4)
    leaf()
