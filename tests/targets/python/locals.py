# SPDX-License-Identifier: Apache-2.0
"""locals.py - a program that stands in a function whose variables are known, and what repr() says of them."""
import sys

import truth


def stand():
    truth.park()


class Thing(object):
    def __init__(self):
        self.first, self.second = 1, "two"


def variables(wide, argument=3, *rest, **named):
    nothing = None
    yes, no = True, False
    number, negative, zero, million = 42, -7, 0, 10 ** 6
    large, larger = 2 ** 100, -(10 ** 60)
    ratio, whole, tiny = 0.1, 2.0, 1e-300
    high, higher, low, lower, between = 1e15, -1e16, 0.0001, 1e-05, 1234567.875
    text, quoted, empty = "plain", "a'b\n\\", ""
    unicode_text, controls = u"caf\u00e9 '\u20ac'\t\U0001f600", u"a\x85b\xa0\u2028"
    raw = b"\x00ab\xff"
    pair, nested, none = (1, "x"), [1, [2, (3,)], None], ()
    captured = 5
    table, attributes, hollow = {"a": 1, 2: (3,), None: {"b": []}}, Thing().__dict__, {}
    group, fixed, bare, frozen = {7}, frozenset((8,)), set(), frozenset()
    changed = {1, 2, 3}
    changed.discard(2)

    def inner():
        return captured

    said = {name: repr(value) for name, value in locals().items()
            if name not in ("inner", "said", "late")}
    facts = {"tid": truth.native_id(), "function": truth.label_of(sys._getframe().f_code), "locals": said}
    truth.ready(facts)
    stand()
    late = inner


variables(u"\u00e9\u20ac\U0001f600" if sys.version_info >= (3,) else "narrow", 4, 8, 9, key=1)
