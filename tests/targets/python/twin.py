# SPDX-License-Identifier: Apache-2.0
"""twin.py SLICE_US - a program that reads its thread's CPU clock at every change of function, and so knows its shares.

    run -> foo -> bar -> { baz -> numbers (a generator),  bob -> down, 20 deep }

Each function works for about SLICE_US.  A function's frame stands while it calls the clock, too: so each change
of function is read on both sides, by the caller and by the callee, and what lies between the two is halved.
"""
from __future__ import division

import sys

import truth

WEIGHT = {"foo": 0.10, "bar": 0.15, "baz": 0.20, "numbers": 0.25, "bob": 0.10, "down": 0.20}
WORKS = {"foo": 2, "bar": 2, "baz": 2, "numbers": 2, "bob": 1, "down": 1}  # times in a round
DEPTH = 20

spent = dict.fromkeys(WEIGHT, 0)
last = [0]
count = {}

# Texts and not functions: a call would be one more frame.
CROSSES = ("now = clock(); half = (now - last[0]) // 2; spent['{0}'] += half; spent['{1}'] += half; "
           "last[0] = now")
LEAVES = "now = clock(); spent['{0}'] += now - last[0]; last[0] = now"
WORK = "while i: i -= 1"

SOURCE = """
def numbers():
    {baz_numbers}
    i = count['numbers']
    {work}
    {numbers}
    yield 1
    {baz_numbers}
    i = count['numbers']
    {work}
    {numbers}

def baz():
    {bar_baz}
    i = count['baz']
    {work}
    {baz}
    for _ in numbers():
        {numbers_baz}
        i = count['baz']
        {work}
        {baz}
    {numbers_baz}
    {baz}

def down(depth):
    if depth == DEPTH:
        {bob_down}
    if depth:
        down(depth - 1)
    else:
        i = count['down']
        {work}
    {down}

def bob():
    {bar_bob}
    i = count['bob']
    {work}
    {bob}
    down(DEPTH)
    {down_bob}
    {bob}

def bar():
    {foo_bar}
    i = count['bar']
    {work}
    {bar}
    baz()
    {baz_bar}
    i = count['bar']
    {work}
    {bar}
    bob()
    {bob_bar}
    {bar}

def foo():
    i = count['foo']
    {work}
    {foo}
    bar()
    {bar_foo}
    i = count['foo']
    {work}
    {foo}
"""


def make():
    texts = {"work": WORK}
    for name in WEIGHT:
        texts[name] = LEAVES.format(name)
        for other in WEIGHT:
            texts[name + "_" + other] = CROSSES.format(name, other)
    space = {"clock": truth.thread_cpu_ns, "last": last, "spent": spent, "count": count, "DEPTH": DEPTH}
    exec(compile(SOURCE.format(**texts), "twin", "exec"), space)
    return space["foo"]


def spin(i):
    while i: i -= 1


def calibrate(slice_us):
    """Turns of the loop in each function, per time that it works."""
    spin(100000)
    before = truth.thread_cpu_ns()
    spin(300000)
    per_us = 300000000.0 / (truth.thread_cpu_ns() - before)
    for name, weight in WEIGHT.items():
        count[name] = int(per_us * slice_us * len(WEIGHT) * weight / WORKS[name]) + 1


def run(foo):
    stop = truth.stop
    last[0] = truth.thread_cpu_ns()
    while not stop[0]: foo()


def main():
    foo = make()
    calibrate(float(sys.argv[1]))
    last[0] = truth.thread_cpu_ns()
    for _ in range(50):
        foo()
    for name in spent:
        spent[name] = 0
    truth.ready()
    run(foo)
    truth.finish({"spent_ns": spent})


if __name__ == "__main__":
    main()
