# SPDX-License-Identifier: Apache-2.0
"""interpreters.py - a program that runs code in another interpreter, on its own native thread.

In each of the two a function of C calls what comes next: sub_spin does the work.
Facts: order: [label, ...], root first. From Python 3.8 on.
"""
import truth

try:
    import _interpreters
    run = _interpreters.exec
except ImportError:
    import _xxsubinterpreters as _interpreters
    run = _interpreters.run_string

CODE = """
import time
def sub_spin(end):
    while time.perf_counter() < end:
        for _ in range(1000):
            pass
def sub_work():
    max((time.perf_counter() + 0.5,), key=sub_spin)
sub_work()
"""

other = _interpreters.create()


def call_other(code):
    run(other, code)


def work():
    while not truth.stop[0]:
        max((CODE,), key=call_other)


truth.ready({"order": ["<module>", "work", "call_other", "<module>", "sub_work", "sub_spin"]})
work()
truth.finish()
