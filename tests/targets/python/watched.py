# SPDX-License-Identifier: Apache-2.0
"""watched.py - functions under a tracer, a profiler and, from 3.12 on, monitoring, each of them a function that calls another.

A turn of torn.py; it reads in Python 2, too.
"""
import sys

import truth

ONE = [1]


def noted():
    return ONE


def spy(*what):
    noted()
    return spy


def leaf():
    return ONE


def caller():
    leaf()
    return leaf()


def numbers(count):
    for number in range(count):
        yield leaf()


class Made(object):
    def __init__(self):
        self.one = leaf()

    def told(self):
        return leaf()


def fails():
    raise KeyError


def seen():
    caller()
    for _ in numbers(2):
        leaf()
    made = Made()
    made.told()
    list(map(lambda one: leaf(), ONE))
    sorted(ONE, key=lambda one: leaf())
    try:
        fails()
    except KeyError:
        leaf()
    list(numbers(1))


TOOL = 3  # nobody else's

if hasattr(sys, "monitoring"):
    _events = sys.monitoring.events
    TOLD = (_events.PY_START, _events.PY_RESUME, _events.PY_YIELD, _events.PY_RETURN, _events.LINE, _events.CALL,
            _events.RAISE)
    sys.monitoring.use_tool_id(TOOL, "watched")
    for event in TOLD:
        sys.monitoring.register_callback(TOOL, event, spy)


def monitored():
    sys.monitoring.set_events(TOOL, sum(TOLD))
    seen()
    sys.monitoring.set_events(TOOL, 0)


def watched():
    sys.settrace(spy)
    seen()
    sys.settrace(None)
    sys.setprofile(spy)
    seen()
    sys.setprofile(None)
    if hasattr(sys, "monitoring"):
        monitored()


def _frames(function, *lines):
    """(label, line) at each of these lines, counted from its first."""
    return [(truth.label_of(function.__code__), function.__code__.co_firstlineno + line) for line in lines]


def legal():
    """Every stack of watched(): who traces cannot be traced, so that is put together of what seen() calls, and the spies."""
    def plain():
        seen()

    inside = [tuple(map(tuple, stack[1:])) for stack in truth.legal_in_child(plain, truth.label_of(plain.__code__))]
    calls = [(frame,) for frame in _frames(watched, 2, 5)]
    calls += [(outer, frame) for outer in _frames(watched, 8) for frame in _frames(monitored, 2)]
    alone = [(frame,) for frame in _frames(watched, *range(9))]
    alone += [(outer, frame) for outer in _frames(watched, 8) for frame in _frames(monitored, *range(4))]
    stacks = alone + [call + stack for call in calls for stack in inside]
    spies = [(frame,) for frame in _frames(spy, 0, 1, 2)]
    spies += [(frame, last) for frame in _frames(spy, 1) for last in _frames(noted, 0, 1)]
    return stacks + [stack + on_top for stack in stacks for on_top in spies]
