# SPDX-License-Identifier: Apache-2.0
"""greenlets.py - three greenlets of one thread, 3, 40 and 400 calls deep, that take turns and time themselves.

Every function carries the number of its greenlet in its name: a stack that has two numbers is of two
greenlets. The second has a generator between, the third enough frames for several pieces of the stack.
What spins is called by a function of C.
Facts: stacks: [[label, ...]], root first, of each greenlet in its spin. The last line says what each used: spent_ns.
"""
import greenlet

import truth

DEPTHS = (3, 40, 400)
TURNS = (5000, 15000, 10000)

BODY = """
def spin_{n}(turns):
    began = truth.thread_cpu_ns()
    while turns:
        turns -= 1
    spent["{n}"] += truth.thread_cpu_ns() - began

def items_{n}():
    while not truth.stop[0]:
        max((TURNS[{n}],), key=spin_{n})
        yield

def down_{n}(depth):
    if depth:
        return down_{n}(depth - 1)
    for _ in items_{n}():
        greenlets[({n} + 1) % len(DEPTHS)].switch()

def start_{n}():
    down_{n}(DEPTHS[{n}])
    hub.switch()
"""

spent = {}
greenlets = []
hub = greenlet.getcurrent()


def stack(number, depth):
    names = ["start"] + ["down"] * (depth + 1) + ["items", "spin"]
    return ["%s_%d" % (name, number) for name in names]


for number in range(len(DEPTHS)):
    spent[str(number)] = 0
    exec(BODY.format(n=number))
    greenlets.append(greenlet.greenlet(globals()["start_%d" % number]))

truth.ready({"stacks": [stack(number, depth) for number, depth in enumerate(DEPTHS)]})
greenlets[0].switch()
truth.finish({"spent_ns": spent})
